#!/bin/sh
# vendor.sh [--freestanding] LOCK DIR - writes what one lock needs into DIR, to be compiled into another program
#
# DIR/include has the headers, DIR/src what must be compiled and linked with them; DIR/README says how. With
# --freestanding, waiters only spin, and some locks are headers alone. Needs a C compiler, which tells what is needed.
set -eu

fail() {
    echo "vendor.sh: $*" >&2
    exit 2
}

freestanding=
[ "${1-}" != --freestanding ] || { freestanding=-DPAWL_FREESTANDING && shift; }
[ $# = 2 ] || fail "usage: vendor.sh [--freestanding] LOCK DIR"
root=$(cd "$(dirname "$0")/.." && pwd)
lock=${1#pawl_}
into=$2
cc=${CC:-cc}
grep -q "^PAWL_LOCK($lock," "$root/include/pawl/locks.def" || fail "'$1': no such lock; 'pawl list' shows them"
[ ! -e "$into" ] || [ -z "$(ls -A "$into")" ] || fail "$into: not empty"
case $lock in
mutex | fairmutex) [ -z "$freestanding" ] || fail "$1 always sleeps: it is not to be had with --freestanding" ;;
esac
mkdir -p "$(dirname "$into")"
work=$(mktemp -d "$into.XXXXXX") || fail "$into: cannot be written"
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/objects" "$work/out"
cp -R "$root/include" "$root/src" "$work/tree"

# The register with one row, so that only this lock has state in each thread; and queue nodes, because a child of fork
# has to forget its parent's.
awk -v "row=PAWL_LOCK($lock," '
    /^#include/ { header = $0 }
    index($0, row) == 1 { print header; inside = 1 }
    inside && (NF == 0 || /^#include/) { inside = 0 }
    inside' "$root/include/pawl/locks.def" >"$work/row"
header=$(sed -n 's/^#include "\(.*\)"/\1/p' "$work/row")
cat "$work/row" >"$work/tree/include/pawl/locks.def"
[ -n "$freestanding" ] || sed -i '1i #include "detail/nodes.h"' "$work/tree/include/pawl/locks.def"

# What a linker takes from an archive of everything is what the lock needs.
cat >"$work/use.c" <<END
#include <pawl/$header>
#include <pawl/locks.h>
#define PAWL_LOCK(name, form, ...)                                             \\
    void use_lock(pawl_##name *l, PAWL_CTX_OF(name, form) *c);                 \\
    void use_lock(pawl_##name *l, PAWL_CTX_OF(name, form) *c)                  \\
    {                                                                          \\
        PAWL_CALL(name, form, lock, l, c);                                     \\
        PAWL_IF(form, TRYLOCK, PAWL_CALL(name, form, trylock, l, c), (void)0); \\
        PAWL_IF(form, DEADLINE, pawl_##name##_timedlock(l, NULL), (void)0);    \\
        PAWL_CALL(name, form, unlock, l, c);                                   \\
    }
#include <pawl/locks.def>
int main(void) { return 0; }
END
options="-O1 -D_GNU_SOURCE -DPAWL_NO_HOOKS -I$work/tree/include"
cd "$work/tree"
# shellcheck disable=SC2086 # one word each
for source in src/*.c src/park/*.c; do
    $cc $options -c "$source" -o "$work/objects/$(echo "${source%.c}" | tr / :).o"
done
ar rcs "$work/objects/all.a" "$work"/objects/*.o
# shellcheck disable=SC2086
$cc $options $freestanding "$work/use.c" "$work/objects/all.a" -pthread -Wl,--trace,--trace -o "$work/use" >"$work/trace"
sources=$(sed -n 's/.*[)(]\(src:[^()]*\)\.o[)]*$/\1.c/p' "$work/trace" | tr : / | sort -u)
case $sources in
*hardware_*) sources="$(echo "$sources" | grep -v hardware_) $(echo src/hardware_*.c)" ;; # each is for its processor
esac

# Their headers, as the compiler finds them.
# shellcheck disable=SC2086
{
    for file in $sources; do
        $cc $options -MM "$file"
    done
    $cc $options $freestanding -MM "$work/use.c"
} | tr ' \\' '\n\n' | sed "s|^$work/tree/||" | sort -u >"$work/needed"
grep -e '^src/' -e '^include/' "$work/needed" | while read -r file; do
    mkdir -p "$work/out/$(dirname "$file")"
    cp "$file" "$work/out/$file"
done
cp "$root/LICENSE" "$work/out"
{
    echo "Pawl's lock $1, version $(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build"), written by scripts/vendor.sh."
    echo
    echo "    #include <pawl/$header>"
    echo
    flags="$freestanding -Iinclude"
    if [ -n "$sources" ]; then
        echo "Compile everything in src/ with -D_GNU_SOURCE -DPAWL_NO_HOOKS -Iinclude -pthread"
        echo "and the program with ${flags# }"
    else
        echo "Compile the program with ${flags# }; there is nothing to link."
    fi
} >"$work/out/README"
mkdir -p "$into"
cp -R "$work/out/." "$into"
find "$into" -type f ! -name LICENSE | sort
