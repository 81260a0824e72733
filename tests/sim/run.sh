#!/bin/sh
# run.sh BUILD_DIR - tests of pawl sim; a line per failure, then a summary
exec python3 -B "$(dirname "$0")/../cli/run.py" "$1" "$(dirname "$0")"
