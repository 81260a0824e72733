#!/bin/sh
# readme.sh BUILD_DIR - puts the table of the locks into README.md, between its markers
set -eu
cd "$(dirname "$0")/.."
if ! grep -q '^<!-- locks -->$' README.md || ! grep -q '^<!-- /locks -->$' README.md; then
    echo "readme: README.md has no <!-- locks --> and <!-- /locks -->" >&2
    exit 1
fi
"$1/pawl" list --markdown -o "$1/locks.md"
sed -i -e '/^<!-- locks -->$/,/^<!-- \/locks -->$/ { /^<!--/!d }' -e "/^<!-- locks -->\$/r $1/locks.md" README.md
