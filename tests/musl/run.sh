#!/bin/bash
# run.sh BUILD MUSL - the pawl command where the C library is musl (MUSL/pawl), beside the one of glibc (BUILD/pawl)
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

build=$(cd "$1" && pwd)
musl=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$work" || exit

# refuses PATTERN COMMAND... - exit status 2, and one line that says so
refuses() {
    local pattern=$1 status=0
    shift
    "$@" >"$work/wrote" 2>"$work/said" || status=$?
    cat "$work/said"
    test "$status/$(wc -l <"$work/said")/$(wc -c <"$work/wrote")" = 2/1/0
    grep -q "^pawl: .*$pattern" "$work/said"
}

is_of_musl() {
    readelf -lW "$musl/pawl" >"$work/segments"
    readelf -dW "$musl/pawl" >"$work/needs"
    grep -q 'ld-musl' "$work/segments"
    ! grep -E 'NEEDED.*(libc\.so\.6|ld-linux)' "$work/needs"
}

# What does not depend on the machine is the same to the last byte.
says_what_glibcs_says() {
    for arguments in '--version' '--help' 'list' 'list --json' 'list hapax_vw' 'bench --help' 'bench mutexbench --help' 'compare --help' 'report --usage'; do
        # shellcheck disable=SC2086 # one word each
        "$build/pawl" $arguments >"$work/glibc"
        # shellcheck disable=SC2086
        "$musl/pawl" $arguments | diff "$work/glibc" -
    done
    for arguments in '--no-such-option' 'list --jso=x' 'bench mutexbench -d' 'bench mutexbench -qx' 'lst' 'bench' 'list no_such_lock' 'list a b' 'report' 'bench mutexbench --threads 0'; do
        # shellcheck disable=SC2086
        "$build/pawl" $arguments 2>"$work/glibc" || echo "status $?" >>"$work/glibc"
        # shellcheck disable=SC2086
        "$musl/pawl" $arguments 2>"$work/musl" || echo "status $?" >>"$work/musl"
        grep 'status [1-9]' "$work/musl"
        diff "$work/glibc" "$work/musl"
    done
}

# bench FILE WORKLOAD OPTION... - as JSON
bench() {
    local file=$1
    shift
    "$musl/pawl" bench "$@" -d 3ms -r 2 --json -o "$file"
}

benches() {
    bench one.json mutexbench --lock pawl_mutex,pthread,pthread_spin,mcs,hapax_vw --threads 1,3 --wait park
    bench two.json mutexbench --lock pawl_mutex,pthread,pthread_spin,mcs,hapax_vw --threads 1,3 --wait park
    bench tail.json tail --lock pawl_mutex,pthread --oversubscription 2
    bench queue.json condvar --lock pawl_mutex,pthread
    bench ring.json ring --threads 2
    /usr/bin/python3 - "$root/bench/result.schema.json" one.json two.json tail.json queue.json ring.json <<'PYTHON'
import json, jsonschema, os, sys
schema, *files = [json.load(open(f)) for f in sys.argv[1:]]
for f in files:
    jsonschema.validate(f, schema)
    m = f["machine"]
    assert m["libc"] == "musl" and m["cpus"] == len(os.sched_getaffinity(0)), m
    assert m["sockets"] is None and m["topology"] == f"{m['cpus']} CPU{'s' if m['cpus'] > 1 else ''}", m
    assert f["points"], f
PYTHON
}

# Those that hwloc would find, and those that the kernel numbers.
pins() {
    local cpus
    cpus=$(nproc)
    for policy in scatter numa node=0; do
        refuses "--pin '$policy': takes hwloc" "$musl/pawl" bench mutexbench --pin $policy
    done
    refuses "no such CPU" "$musl/pawl" bench pingpong --cpus 0,60000
    [ "$cpus" -gt 1 ] || return 0
    "$musl/pawl" bench pingpong -d 2ms -r 1 --json >pingpong.json
    /usr/bin/python3 -c "import json, sys; assert len(json.load(open('pingpong.json'))['points']) == min(64, $cpus - 1)"
    # And no other than it may use.
    local last
    last=$(/usr/bin/python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
    refuses 'takes two CPUs' taskset -c "$last" "$musl/pawl" bench pingpong
    bench pinned.json mutexbench --lock ticket --threads 3 --pin compact
    taskset -c "$last" "$musl/pawl" bench mutexbench --lock ticket --threads 2 --pin compact -d 2ms -r 1 --csv
}

# The same questions; the answers are the machine's, but for those that the C library has a part in.
doctor() {
    for pawl in "$build/pawl" "$musl/pawl"; do
        "$pawl" doctor --json >doctor.json || test $? = 1
        /usr/bin/python3 -c 'import json; print([(f["name"], f["offered"]) for f in json.load(open("doctor.json"))["findings"] if f["name"] not in ["rseq", "timeslice"]])' >"$work/$(basename "$(dirname "$pawl")").doctor"
    done
    diff "$work/$(basename "$build").doctor" "$work/$(basename "$musl").doctor"
}

# They are C's, and read what either wrote.
reports_and_compares() {
    # The same, with numbers that leave no doubt: pawl_mutex is a thousand times slower.
    /usr/bin/python3 -c '
import json
d = json.load(open("one.json"))
for p in d["points"]:
    p["runs"] = [p["runs"][0] | {"value": 1e6 + i} for i in range(9)]
json.dump(d, open("before.json", "w"))
for p in d["points"]:
    for r in p["runs"]:
        r["value"] /= 1000 if p["lock"] == "pawl_mutex" else 1
json.dump(d, open("after.json", "w"))'
    for pawl in "$build/pawl" "$musl/pawl"; do
        "$pawl" compare before.json after.json >"$work/$(basename "$(dirname "$pawl")").compared" && return 1
    done
    diff "$work/$(basename "$build").compared" "$work/$(basename "$musl").compared"
    grep '^2 slower, 0 faster, 8 without' "$work/$(basename "$musl").compared"
    # Those that are equally fast stand in the order of the file.
    /usr/bin/python3 -c '
import json
d = json.load(open("before.json"))
for i, p in enumerate(d["points"]):
    for r in p["runs"]:
        r["value"] = 1e6 * (1 + i % 2)
json.dump(d, open("tied.json", "w"))'
    "$musl/pawl" report one.json two.json tied.json -o musl.html
    "$build/pawl" report one.json two.json tied.json -o glibc.html
    # The last digits of what is computed with logarithms are each C library's own.
    /usr/bin/python3 -c '
import math, pathlib, re, sys
musl, glibc = (re.split(r"(-?\d+\.\d+(?:e[-+]?\d+)?)", pathlib.Path(f"{c}.html").read_text()) for c in ("musl", "glibc"))
for i, (a, b) in enumerate(zip(musl, glibc)):
    if not (math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12) if i % 2 else a == b):
        sys.exit(f"{musl[max(0, i - 4):i]}: {a[:200]} and {b[:200]}")
sys.exit(len(musl) != len(glibc))'
    grep -q 'pthread_spin' musl.html
}

says_what_is_glibcs() {
    for command in run profile tune; do
        refuses 'keeps locks inside the objects of glibc.*this is another C library' "$musl/pawl" $command -- true
    done
    "$musl/pawl" run --list >listed
    test "$(grep -c ' no: ' listed)" = "$(($(wc -l <listed) - 1))"
    refuses 'check: cannot start .* with glibc and libdw' "$musl/pawl" check
    refuses 'sim: cannot start .* with glibc and libdw and hwloc' "$musl/pawl" sim mutexbench
    refuses 'libdw, libbpf' "$musl/pawl" profile -p $$
    refuses 'libbpf' "$musl/pawl" hint start
    refuses 'no such.*atomic-struct\|no pawl-bench-atomic-struct' "$musl/pawl" bench atomic-struct
}

# The other way round: nothing of glibc's is loaded into it.
is_not_preloaded_into() {
    for command in run profile; do
        refuses 'it is linked with musl' "$build/pawl" $command -- "$musl/pawl" --version
    done
    # Where somebody else starts it, docs/preload.md says what happens.
    local status=0
    # shellcheck disable=SC2016
    "$build/pawl" run -- sh -c '"$0" --version; exit $?' "$musl/pawl" || status=$?
    test $status = 127
}

promise is_of_musl is_of_musl
promise says_what_glibcs_says says_what_glibcs_says
promise benches benches
promise pins pins
promise doctor doctor
promise reports_and_compares reports_and_compares
promise says_what_is_glibcs says_what_is_glibcs
promise is_not_preloaded_into is_not_preloaded_into

finish
