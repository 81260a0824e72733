#!/bin/sh
# run.sh BUILD_DIR [FILE] - tests of pawl profile, top and tune; a line per failure, then a summary
exec python3 -B "$(dirname "$0")/../cli/run.py" "$1" "$(dirname "$0")" ${2:+"$2"}
