# promise.sh - what shell tests have in common; they read it with `.`, and their folder names what they promise
#
# They have a folder for themselves, $work.

# shellcheck shell=sh
passed=0
failed=0
skipped=0
suite=$(basename "$(cd "$(dirname "$0")" && pwd)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count NAME WHETHER - also shows why not: what was said
count() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $suite/$1"
        tail -n 60 "$work/out" | sed 's/^/    /'
    fi
}

# promise NAME COMMAND... - counts the command, a function under set -e, and shows what it says if it fails
promise() {
    promised=$1
    shift
    (
        set -e
        "$@"
    ) >"$work/out" 2>&1 # not in a condition: there set -e would not count
    count "$promised" $?
}

# skip NAME - tests of which something is missing
skip() {
    echo "SKIP $suite/$1"
    skipped=$((skipped + 1))
}

# A command that set -e notices if it succeeds.
not() {
    ! "$@"
}

# The last command of a test.
finish() {
    printf '%d passed, %d failed' $passed $failed
    [ $skipped = 0 ] || printf ', %d skipped' $skipped
    echo
    [ $failed = 0 ]
    exit
}
