#!/bin/bash
# check.sh [soak] [SECTION...] - builds and tests everything; `make check` and CI run it
#
# A section is a function section_<name> below and its name in `sections` or `soak_sections`. Whatever it runs
# closes with a line `N passed, N failed`; those are added up. A section that passes says no more than that.
set -eu
cd "$(dirname "$0")/.."

# Those that are joined by a + keep one CPU busy each, and run side by side.
sections=(native headers embed debug cli preload apps report count lab+mutants check clang tsan asan aarch64+riscv64)
soak_sections=(native apps tsan asan deep_check mutate)
scale=1 # of the tests; every section takes a fraction of it

# configure DIRECTORY OPTION... - a fresh configuration, or the same again
configure() {
    local directory=$1
    shift
    local again=()
    [ ! -f "$directory/build.ninja" ] || again=(--reconfigure)
    meson setup "${again[@]}" "$directory" "$@"
}

times() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'
}

# build_and_test DIRECTORY FRACTION OPTION... - one test program at a time: each wants all CPUs
build_and_test() {
    local directory=$1 fraction=$2 status=0
    shift 2
    configure "$directory" -Dtests=true "$@"
    ninja -C "$directory"
    PAWL_TEST_SCALE=$(times "$scale" "$fraction") \
        meson test -C "$directory" --no-rebuild --num-processes 1 --suite native || status=$?
    grep -E '^(FAIL|SKIP) |^[0-9]+ passed, [0-9]+ failed|Sanitizer|runtime error' "$directory/meson-logs/testlog.txt" || status=1
    return $status
}

section_native() {
    build_and_test build-check 0.5
}

section_headers() {
    tests/headers.sh include
}

# libpawl in plugins and interpreters, which load and unload it.
section_embed() {
    configure build-check -Dtests=true
    ninja -C build-check
    tests/embed/run.sh build-check
}

# The debug mode: its reports, and part of the native tests watched by it.
section_debug() {
    local status=0
    configure build-check -Dtests=true
    ninja -C build-check debug_tests
    PAWL_TEST_SCALE=$(times "$scale" 0.02) \
        meson test -C build-check --no-rebuild --num-processes 1 --suite debug || status=$?
    grep -E '^(FAIL|SKIP) |^[0-9]+ passed, [0-9]+ failed' build-check/meson-logs/testlog.txt || status=1
    return $status
}

section_cli() {
    configure build-check -Dtests=true
    ninja -C build-check
    tests/cli/run.sh build-check
}

# Programs that we did not write, natively and with locks under them.
section_apps() {
    configure build-check -Dtests=true
    ninja -C build-check
    python3 -B tests/apps/run.py build-check --scale "$scale"
}

# pawl report and pawl compare, the page in a browser, too.
section_report() {
    configure build-check -Dtests=true
    ninja -C build-check
    tests/report/run.sh build-check
}

# What a program may expect of pthread mutexes, of every lock that can stand in for one.
section_preload() {
    configure build-check -Dtests=true
    ninja -C build-check
    tests/preload/run.sh build-check
}

section_count() {
    scripts/count.sh build-check
}

# The checker's own tests: litmus tests, random programs against the axioms, deliberately broken locks.
section_lab() {
    build-check/lab/lab_test
}

# Locks that are wrong on purpose.
section_mutants() {
    build-check/tests/mutants/mutants
}

# check_locks OPTION... - every lock against the memory model; a lock that is "ok" has passed
check_locks() {
    local report=build-check/check.txt status=0
    build-check/pawl check "$@" -o "$report" || status=$?
    cat "$report"
    awk 'NR > 1 && /^[a-z_0-9]+ .*ok$/ { ok++ } / in scenario / { bad++ } END { printf "%d passed, %d failed\n", ok, bad }' \
        "$report"
    return $status
}

section_check() {
    check_locks --quick
}

section_deep_check() {
    check_locks --deep
}

# Every memory order in the locks is needed, or check/survivors.c says why it stays.
section_mutate() {
    local report=build-check/mutate.txt status=0
    build-check/pawl check --mutate -o "$report" || status=$?
    cat "$report"
    awk '/ in / && / -> / { ok++ } /as expected/ { ok++ } /SURVIVED/ && !/as expected/ { bad++ }
         END { printf "%d passed, %d failed\n", ok, bad }' "$report"
    return $status
}

section_clang() {
    CC=clang CXX=clang++ build_and_test build-clang 0.03
}

section_tsan() {
    build_and_test build-tsan 0.04 -Dtools=false -Db_sanitize=thread -Db_lundef=false
}

section_asan() {
    build_and_test build-asan 0.04 -Dtools=false -Db_sanitize=address,undefined -Db_lundef=false
}

section_aarch64() {
    build_and_test build-aarch64 0.01 -Dtools=false --cross-file cross/aarch64.ini
}

section_riscv64() {
    build_and_test build-riscv64 0.01 -Dtools=false --cross-file cross/riscv64.ini
}

all_passed=0
all_failed=0
summary=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run SECTION - leaves its output, its exit status and its time
run() {
    local name=$1 start=$SECONDS status
    set +e # around, not in a condition: there the section's own set -e would not count
    (
        set -e
        "section_$name"
    ) >"$logs/$name" 2>&1
    status=$?
    set -e
    echo "$status $((SECONDS - start))" >"$logs/$name.end"
}

# tell SECTION - shows its outcome, and on failure why
tell() {
    local name=$1 log=$logs/$1 status seconds passed failed skipped line
    read -r status seconds <"$log.end"
    read -r passed failed skipped < <(awk '/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; s += $5 }
                                           END { print p + 0, f + 0, s + 0 }' "$log")
    if [ "$status" != 0 ]; then
        [ "$failed" != 0 ] || failed=1 # what failed did not get as far as counting
        grep -E '^FAIL |error|Sanitizer' "$log" | sort -u | head -n 40 || true
        echo "-- the end of its output:"
        tail -n 25 "$log"
    fi
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + failed))
    line=$(printf '%-12s %6d passed %4d failed %4d skipped %5d s' "$name" "$passed" "$failed" "$skipped" "$seconds")
    summary+=("$line")
    echo "   $line"
}

if [ "${1-}" = soak ]; then
    shift
    scale=40
    sections=("${soak_sections[@]}")
fi
[ $# = 0 ] || sections=("$@")
for group in "${sections[@]}"; do
    for name in ${group//+/ }; do
        if ! declare -F "section_$name" >/dev/null; then
            echo "check.sh: no such section: $name" >&2
            exit 2
        fi
    done
done
for group in "${sections[@]}"; do
    echo "== $group"
    for name in ${group//+/ }; do
        if [ "$name" = "${group##*+}" ]; then
            run "$name" # in the foreground: what runs in the background ignores SIGINT, which some tests send
        else
            run "$name" &
        fi
    done
    wait
    for name in ${group//+/ }; do
        tell "$name"
    done
done

echo
printf '%s\n' "${summary[@]}"
echo "$all_passed passed, $all_failed failed"
[ $all_failed = 0 ]
