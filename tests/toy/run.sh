#!/bin/sh
# run.sh BUILD - a lock with per-thread state of its own is one header and one row of the register: with toy.h, a copy of
# this tree builds, and its native tests, the interposer's and the checker pass for it
set -eu

row='PAWL_LOCK(toy, PAWL_FORM_LOCK, PAWL_PLAIN,
    .title = "Toy", .source = "tests/toy",
    .order = PAWL_LIFO, .each = PAWL_UNBOUNDED, .total = PAWL_UNBOUNDED,
    .prompt = true, .oblivious = true, .minds_exit = true,
    .thread_bytes = sizeof(pawl_toy_waiter) + sizeof(pawl_toy_count),
    .waiting = PAWL_LOCAL)'
tests='admission bypass churn destruction exclusion idle parking plural register slices thread_exit trylock'

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1/toy"
work=$(cd "$1/toy" && pwd)
tree=$work/tree
build=$work/build

# Files keep their times, so that another run builds what has changed.
rm -rf "$tree"
mkdir "$tree"
tar -C "$root" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$tree" -xf -
cp -p "$here/toy.h" "$tree/include/pawl/toy.h"
register=$tree/include/pawl/locks.def
printf '#include "toy.h"\n%s\n' "$row" >>"$register"
touch -r "$root/include/pawl/locks.def" "$register"
[ ! "$here/run.sh" -nt "$register" ] || touch -r "$here/run.sh" "$register"

[ -f "$build/build.ninja" ] || meson setup "$build" "$tree" -Dtests=true -Dpeers=disabled -Doptimization=1 -Ddebug=false
# shellcheck disable=SC2046 # one word each
ninja -C "$build" $(printf 'tests/test_%s ' $tests) src/libpawl.a preload/libpawl-toy.so tests/preload/conform \
    tests/preload/locking_malloc check/pawl-check

status=0
for test in $tests; do
    PAWL_TEST_SCALE=0.02 "$build/tests/test_$test" toy slices || status=1
done
${CC:-cc} -D_GNU_SOURCE -I "$tree/include" "$here/rules.c" "$build/src/libpawl.a" -pthread -o "$work/rules"
"$work/rules" || status=1
"$tree/tests/preload/run.sh" "$build" toy || status=1
"$build/check/pawl-check" --quick --lock toy && echo "1 passed, 0 failed" || status=1
exit $status
