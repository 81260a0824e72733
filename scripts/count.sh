#!/bin/sh
# count.sh BUILD_DIR [--update] - instructions of an uncontended lock and unlock of every lock, by callgrind
#
# Compares them with the checked-in table of this architecture: exit 1, and a line for each, if one grew or
# is above its limit. With --update the table is written anew; the limits in its third column stay.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:---update}" != --update ]; then
    echo "usage: scripts/count.sh BUILD_DIR [--update]" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/count"
work=$(cd "$1/count" && pwd)
update=${2-}

arch=$(uname -m)
table=$root/tests/count/$arch-gcc.txt
if [ ! -f "$table" ] && [ -z "$update" ]; then
    echo "count: skipped: there is no table for $arch"
    exit 0
fi
gcc=$(gcc -dumpversion | cut -d. -f1)

# The library's sources too: a build folder may be a sanitizer's or another compiler's.
hardware=$root/src/hardware_$arch.c
[ -f "$hardware" ] || hardware=$root/src/hardware_other.c
sources=$(ls "$root"/src/*.c "$root"/src/park/*.c | grep -v /hardware_)
# shellcheck disable=SC2086 # one word each
gcc -std=gnu11 -O2 -D_GNU_SOURCE -I"$root/include" "$root/tests/count/count.c" $sources "$hardware" -pthread \
    -o "$work/count"

# Few enough pairs that no hapax block has to be refilled: the four locks with hapaxes share one of 65536.
few=1000
many=16000
for n in $few $many; do
    valgrind --quiet --tool=callgrind --callgrind-out-file="$work/out.$n" "$work/count" $n
    callgrind_annotate --inclusive=yes --threshold=100 "$work/out.$n" |
        sed -n 's/^ *\([0-9,]*\) .*:pairs_\([a-z0-9_]*\) \[.*/\2 \1/p' | tr -d , | sort >"$work/counts.$n"
done

# name instructions-per-pair, in the register's order
join "$work/counts.$few" "$work/counts.$many" |
    awk -v pairs=$((many - few)) '
        { cost[$1] = ($3 - $2) / pairs }
        END { for (name in cost) if (name != "nothing") printf "%s %.2f\n", name, cost[name] - cost["nothing"] }' |
    sed 's/\.00$//' >"$work/unordered"
"$root/scripts/names.sh" |
    awk 'FILENAME == ARGV[1] { count[$1] = $2; next }
         { name = $1; sub(/^pawl_/, "", name); print $1, (name in count ? count[name] : "missing") }' \
        "$work/unordered" - >"$work/now"
if grep ' missing$' "$work/now"; then
    echo "count: callgrind has no figure for these" >&2
    exit 1
fi

if [ -n "$update" ]; then
    touch "$table"
    {
        echo "# gcc $gcc"
        echo "# instructions of an uncontended lock and unlock, inlined, gcc -O2; and what they may be at most"
        awk 'FILENAME == ARGV[1] { limit[$1] = $3; next } { print $1, $2 (limit[$1] != "" ? " " limit[$1] : "") }' \
            "$table" "$work/now"
    } >"$work/table"
    cp "$work/table" "$table"
fi

compare=yes
if [ "$(sed -n 's/^# gcc //p' "$table")" != "$gcc" ]; then
    echo "count: the table is gcc $(sed -n 's/^# gcc //p' "$table")'s and this is gcc $gcc: only the limits are checked"
    compare=no
fi

# Two of the locks toss coins, so a tenth is noise. A limit is for the usual path; what lies above it is
# what an occasional path adds to the mean.
awk -v compare=$compare '
    /^#/ { next }
    FILENAME == ARGV[1] { was[$1] = $2; limit[$1] = $3; next }
    {
        locks++
        if ($1 in limit && limit[$1] != "" && int($2) > limit[$1]) {
            grown = grown "count: FAILED: " $1 ": " $2 " instructions, and " limit[$1] " is the limit\n"
        } else if (compare == "yes" && !($1 in was)) {
            grown = grown "count: FAILED: " $1 ": not in the table; add it with scripts/count.sh BUILD_DIR --update\n"
        } else if (compare == "yes" && $2 - was[$1] > 0.09) {
            grown = grown "count: FAILED: " $1 ": " $2 " instructions, and it was " was[$1] "\n"
        } else if (compare == "yes" && was[$1] - $2 > 0.09) {
            shrunk = shrunk "count: shrunk: " $1 ": " $2 " instructions, and it was " was[$1] "\n"
        }
        printf "%-24s %6s%s\n", $1, $2, (limit[$1] != "" ? "  (at most " limit[$1] ")" : "")
    }
    END {
        if (shrunk != "")
            printf "%scount: keep that with scripts/count.sh BUILD_DIR --update\n", shrunk
        failed = gsub(/\n/, "&", grown)
        printf "%s%d passed, %d failed\n", grown, locks - failed, failed
        exit failed != 0
    }' "$table" "$work/now"
