#!/bin/sh
# vendor.sh [--freestanding] LOCK DIR - writes what one lock needs into DIR, to be compiled into another program
#
# DIR/include has the headers, DIR/src what must be compiled and linked with them; DIR/README says how. With
# --freestanding, waiters only spin, and some locks are headers alone. Needs a C compiler, which tells what is needed.
# OBJECTS names a folder where calls in a row keep what they compile for every lock alike.
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
case $lock in
*[!a-z0-9_]*) known= ;;
*) known=$(grep "^PAWL_LOCK($lock," "$root/include/pawl/locks.def") || true ;;
esac
[ -n "$known" ] || fail "'$1': no such lock; 'pawl list' shows them"
[ ! -e "$into" ] || { [ -d "$into" ] && [ -z "$(ls -A "$into")" ]; } || fail "$into: not an empty folder"
command -v "${cc%% *}" >/dev/null || fail "${cc%% *}: no such compiler; CC names another"
case $lock in
mutex | fairmutex) [ -z "$freestanding" ] || fail "$1 always sleeps: it is not to be had with --freestanding" ;;
esac
case $into in
/*) ;;
*) into=$PWD/$into ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$work/tree" "$work/own" "$work/out"
objects=${OBJECTS:-$work/objects}
mkdir -p "$objects"
objects=$(cd "$objects" && pwd)
cp -R "$root/include" "$root/src" "$work/tree"

# The register with one row, so that only this lock has state in each thread.
awk -v "row=PAWL_LOCK($lock," '
    /^#include/ { header = $0 }
    index($0, row) == 1 { print header; inside = 1 }
    inside && (NF == 0 || /^#include/) { inside = 0 }
    inside' "$root/include/pawl/locks.def" >"$work/row"
header=$(sed -n 's/^#include "\(.*\)"/\1/p' "$work/row")
cat "$work/row" >"$work/tree/include/pawl/locks.def"

# What a linker takes from an archive of everything is what the lock needs. Without optimisation, calls would
# stay that are never made.
cat >"$work/tree/use.c" <<END
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
options="-O1 -D_GNU_SOURCE -DPAWL_NO_HOOKS -Iinclude"
cd "$work/tree"

# compile SOURCE INTO - and beside the object, the names of its headers
compile() {
    object=$2/$(echo "${1%.c}" | tr / :)
    # shellcheck disable=SC2086 # one word each
    $cc $options -MD -MT needs -c "$1" -o "$object.o"
}

if [ ! -f "$objects/common.a" ]; then
    for source in src/*.c src/park/*.c; do
        compile "$source" "$objects"
    done
    # What reads the register is another for each lock.
    (cd "$objects" && grep -l 'pawl/locks\.def' src:*.d | sed 's/\.d$//' >own && sed 's/$/.o/' own | xargs rm -f && ar rcs common.a src:*.o)
fi

link() {
    while read -r name; do
        compile "$(echo "$name" | tr : /).c" "$work/own"
    done <"$objects/own"
    ar rcs "$work/own/own.a" "$work"/own/*.o
    # shellcheck disable=SC2086
    $cc $options $freestanding -MD -MT needs -MF "$work/own/use.d" use.c -pthread -Wl,--trace,--trace \
        -Wl,--start-group "$work/own/own.a" "$objects/common.a" -Wl,--end-group -o "$work/use" >"$work/trace"
}

# A child of fork has to forget its parent's queue nodes, so threads with state bring them along: most locks do.
with_nodes() {
    sed -i '1i #include "detail/nodes.h"' include/pawl/locks.def
    link
}
if [ -n "$freestanding" ]; then
    link 2>"$work/failed" || with_nodes
else
    with_nodes
fi
sources=$(sed -n 's/.*[)(]\(src:[^()]*\)\.o[)]*$/\1/p' "$work/trace" | sort -u)
case $sources in
*hardware_*) sources="$(echo "$sources" | grep -v hardware_) $(cd "$objects" && echo src:hardware_*.o | sed 's/\.o\>//g')" ;; # each is for its processor
esac

# Their headers, as the compiler found them.
{
    for name in $sources; do
        echo "$name.c" | tr : /
        cat "$work/own/$name.d" 2>/dev/null || cat "$objects/$name.d"
    done
    cat "$work/own/use.d"
} | tr ' \\' '\n\n' | sed 's|[^/]*/\.\./||' | grep -e '^src/' -e '^include/' | sort -u >"$work/needed"
tar -cf - -T "$work/needed" | tar -C "$work/out" -xf -
cp "$root/LICENSE" "$work/out"
{
    echo "Pawl's lock $1, version $(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build"), written by scripts/vendor.sh."
    echo
    echo "    #include <pawl/$header>"
    echo
    flags="-O1 or more, ${freestanding:+$freestanding }-Iinclude"
    if [ -n "$sources" ]; then
        echo "Compile everything in src/ with -O1 or more, -D_GNU_SOURCE -DPAWL_NO_HOOKS -Iinclude -pthread"
        echo "and the program with $flags"
    else
        echo "Compile the program with $flags; there is nothing to link."
    fi
} >"$work/out/README"
{ mkdir -p "$into" && cp -R "$work/out/." "$into"; } 2>/dev/null || fail "$into: cannot be written"
find "$into" -type f ! -name LICENSE | sort
