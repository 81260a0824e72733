#!/bin/sh
# run.sh BUILD_DIR - tests of pawl report and pawl compare, in a browser, too; a line per failure, then a summary
exec python3 -B "$(dirname "$0")/../cli/run.py" "$1" "$(dirname "$0")"
