#!/bin/sh
# run.sh BUILD_DIR - tests of the command, the example and the installation; a line per failure, then a summary
exec python3 -B "$(dirname "$0")/run.py" "$@"
