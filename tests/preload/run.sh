#!/bin/sh
# run.sh BUILD_DIR [LOCK...] - the conformance cases natively, which validates them, and then under every library
#
# Under libpawl-native.so, while it measures waits, a program behaves as it does natively.
#
# Most of their time they sleep, so several libraries are tried at once.
set -eu

if [ $# -lt 1 ]; then
    echo "usage: tests/preload/run.sh BUILD_DIR [LOCK...]" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
shift
out=$build/preload-results
rm -rf "$out"
mkdir -p "$out"
[ $# -gt 0 ] || set -- glibc $(ls "$build"/preload/libpawl-*.so | sed 's|.*/libpawl-||; s|\.so$||')

# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "$@" | xargs -P "${PAWL_TEST_JOBS:-5}" -I{} sh -c '
    build=$1 out=$2 name=$3
    if [ "$name" = glibc ]; then
        set -- "$build/tests/preload/conform"
    elif [ "$name" = native ]; then
        head -c 8 /dev/zero >"$out/worst"
        set -- env LD_PRELOAD="$build/preload/libpawl-native.so" PAWL_WORST="$out/worst" "$build/tests/preload/conform"
    else
        set -- "$build/tests/preload/conform" --library "$build/preload/libpawl-$name.so"
    fi
    status=0
    "$@" >"$out/$name" 2>&1 || status=1
    [ "$name" = glibc ] || export LD_PRELOAD="$build/preload/libpawl-$name.so"
    timeout 300 "$build/tests/preload/locking_malloc" >>"$out/$name" 2>&1 || {
        status=1
        echo "FAIL locking_malloc: exit status $?" >>"$out/$name"
    }
    unset LD_PRELOAD
    sed "s/^\(FAIL\|SKIP\) /\1 $name\//" "$out/$name"
    exit $status
' sh "$build" "$out" {}
