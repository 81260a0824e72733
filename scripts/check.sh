#!/bin/bash
# check.sh [soak] [SECTION...] - builds and tests everything; `make check` and CI run it
#
# A section is a function section_<name> below and its name in `sections` or `soak_sections`. Whatever it runs
# ends with a line `N passed, N failed`; those are added up. A section that passes prints nothing else.
# NAME:WHAT is the part of a section that concerns WHAT: a lock of deep_check and mutate, a test of native.
#
# A soak takes hours. What has passed is noted in build-check/soak, with the commit, and not run again: stop it whenever
# you like and start it again. `scripts/check.sh soak deep_check:mcs` is one piece of it.
set -eu -o pipefail
cd "$(dirname "$0")/.."

# The long ones first: then the last ones end together.
sections=(native check cli tsan clang debian preload asan mutants sim outside apps toy debug headers abi rust report
    profile aarch64 riscv64 musl musl_tools ppc64el s390x embed lab count)
soak_sections=(native apps tsan asan_all clang_all emulated packages deep_check mutate)
scale=1 # of the tests; every section takes a fraction of it
lanes=4 # sections run side by side: some wait more than they compute

# configure DIRECTORY OPTION... - unless it is configured like this; ninja notices changes of a meson.build
configure() {
    local directory=$1 again=()
    shift
    [ "$(cat "$directory/check-options" 2>/dev/null)" != "$*" ] || return 0
    [ ! -f "$directory/build.ninja" ] || again=(--reconfigure)
    meson setup "${again[@]}" "$directory" "$@"
    echo "$*" >"$directory/check-options"
}

# build [TARGET...] - in build-check; sections that run side by side take turns
build() {
    mkdir -p build-check
    (
        flock 9
        configure build-check -Dtests=true
        ninja -C build-check "$@"
    ) 9>build-check/lock
}

times() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'
}

# build_and_test DIRECTORY FRACTION TEST OPTION... - one test program at a time: each wants all CPUs
build_and_test() {
    local directory=$1 fraction=$2 only=$3 status=0
    shift 3
    if [ "$directory" = build-check ]; then
        build
    else
        configure "$directory" -Dtests=true "$@"
        ninja -C "$directory"
    fi
    PAWL_TEST_SCALE=$(times "$scale" "$fraction") \
        meson test -C "$directory" --no-rebuild --num-processes 1 --suite native ${only:+"$only"} || status=$?
    grep -E '^(FAIL|SKIP) |^[0-9]+ passed, [0-9]+ failed|Sanitizer|runtime error' "$directory/meson-logs/testlog.txt" || status=1
    return $status
}

section_native() {
    build_and_test build-check 0.15 "$1"
}

section_headers() {
    tests/walks.py
    tests/headers.sh include
}

# libpawl in plugins and interpreters, which load and unload it.
section_embed() {
    build
    tests/embed/run.sh build-check
}

# Projects outside this tree, which find Pawl installed, as a subproject, or vendored.
section_outside() {
    build
    tests/outside/run.sh build-check
}

# The Rust crate, with the cargos and crates that are here.
section_rust() {
    build
    tests/rust/run.sh build-check
}

# The binary interface: exported symbols, types, inline text.
section_abi() {
    build
    tests/abi/run.py build-check
}

# A new lock with state in each thread.
section_toy() {
    tests/toy/run.sh build-check
}

# The debug mode: its reports, and part of the native tests watched by it.
section_debug() {
    local status=0
    build debug_tests
    PAWL_TEST_SCALE=$(times "$scale" 0.02) \
        meson test -C build-check --no-rebuild --num-processes 1 --suite debug --logbase debuglog || status=$?
    grep -E '^(FAIL|SKIP) |^[0-9]+ passed, [0-9]+ failed' build-check/meson-logs/debuglog.txt || status=1
    return $status
}

section_cli() {
    build
    tests/cli/run.sh build-check
}

# Programs that we did not write, natively and with locks under them.
section_apps() {
    build
    python3 -B tests/apps/run.py build-check --scale "$scale"
}

# pawl report and pawl compare, the page in a browser, too.
section_report() {
    build
    tests/report/run.sh build-check
}

# pawl profile, top and tune, and the page in a browser.
section_profile() {
    build
    tests/profile/run.sh build-check
}

# pawl sim: the papers' findings, machine files, and its own promises.
section_sim() {
    build
    tests/sim/run.sh build-check
}

# What a program may expect of pthread mutexes, under every lock that can replace them.
section_preload() {
    build
    tests/preload/walk.py
    tests/preload/run.sh build-check
}

section_count() {
    scripts/count.sh build-check
}

# The checker's own tests: litmus tests, random programs against the axioms, deliberately broken locks.
section_lab() {
    build
    build-check/lab/lab_test
}

# Locks that are wrong on purpose.
section_mutants() {
    build
    build-check/tests/mutants/mutants
}

# check_locks OPTION... - every lock against the memory model; a lock that is "ok" has passed
check_locks() {
    local report=$logs/report.$BASHPID status=0
    build pawl check/pawl-check
    build-check/pawl check "$@" -o "$report" || status=$?
    cat "$report"
    awk 'NR > 1 && /^[a-z_0-9]+ .*ok$/ { ok++ } / in scenario / { bad++ } END { printf "%d passed, %d failed\n", ok, bad }' \
        "$report"
    return $status
}

section_check() {
    check_locks --quick --budget 100s
}

# Without a budget, --deep would take nine hours for all locks.
section_deep_check() {
    check_locks --deep --budget 200s --lock "$1"
}

# Every memory order in the locks is needed, or check/survivors.c says why it stays.
section_mutate() {
    local report=$logs/report.$BASHPID status=0
    build pawl check/pawl-check
    build-check/pawl check --mutate --lock "$1" -o "$report" || status=$?
    cat "$report"
    awk '/ in / && / -> / { ok++ } /as expected/ { ok++ } /SURVIVED/ && !/as expected/ { bad++ }
         /: explains nothing;/ { bad++ }
         END { printf "%d passed, %d failed\n", ok, bad }' "$report"
    return $status
}

# With line numbers, and no more: variables would take a third of the compiler's time.
sanitized=(-Dtools=false -Doptimization=1 -Ddebug=false -Dc_args=-g1 -Dcpp_args=-g1 -Db_lundef=false)

section_tsan() {
    build_and_test build-tsan 0.04 "$1" "${sanitized[@]}" -Db_sanitize=thread
}

# All of them; `make check` tries some (below).
section_asan_all() {
    build_and_test build-asan 0.04 "$1" "${sanitized[@]}" -Db_sanitize=address,undefined
}

# All of them, emulated; `make check` tries some (below).
section_emulated() {
    build_and_test build-emulated 0.01 "$1" -Dtools=false -Doptimization=1 -Ddebug=false --cross-file cross/aarch64.ini
}

# Those of the native tests that tell most of another machine, compiler or C library.
telling='test_exclusion test_destruction test_handover test_hapax test_parking test_semaphore test_trylock
    mutex/test_mutex_mutex mutex/test_mutex_fairmutex mutex/test_mutex_cond
    region/test_region_locks region/test_region_ends region/test_region_masks region/test_region_deaths test_platforms'

# build_some DIRECTORY OPTION... - builds them; building all would take long
build_some() {
    local directory=$1
    shift
    configure "$directory" -Dtests=true -Dtools=false -Doptimization=1 -Ddebug=false "$@"
    # shellcheck disable=SC2046,SC2086 # one word each
    ninja -C "$directory" $(printf 'tests/%s ' $telling)
}

# try DIRECTORY FRACTION WRAPPER... - runs them
try() {
    local directory=$1 fraction=$2 status=0
    shift 2
    for test in $telling; do
        PAWL_TEST_SCALE=$(times "$scale" "$fraction") "$@" "$directory/tests/$test" || status=1
    done
    return $status
}

section_asan() {
    build_some build-asan "${sanitized[@]}" -Db_sanitize=address,undefined
    try build-asan 0.04
}

# Another compiler. What ships, it builds for the Debian packages (below).
section_clang() {
    export CC=clang CXX=clang++
    build_some build-clang
    try build-clang 0.03
}

# With the peers.
section_clang_all() {
    export CC=clang CXX=clang++
    configure build-clang-tools -Dtests=false -Doptimization=0 -Ddebug=false
    ninja -C build-clang-tools
    echo '1 passed, 0 failed'
}

# build_and_try MACHINE FRACTION - with cross/MACHINE.ini
build_and_try() {
    local directory=build-$1 fraction=$2 file=cross/$1.ini wrapper
    build_some "$directory" --cross-file "$file"
    read -ra wrapper < <(sed -n "s/^exe_wrapper = //p" "$file" | tr -d "[]',") || true # it may have none
    try "$directory" "$fraction" "${wrapper[@]}"
}

section_aarch64() {
    local telling="$telling test_hardware_wfe" # which no other machine has
    build_and_try aarch64 0.01
}

section_riscv64() {
    build_and_try riscv64 0.003
}

section_ppc64el() {
    build_and_try ppc64el 0.003
}

section_s390x() {
    build_and_try s390x 0.003
}

# Another C library.
section_musl() {
    build_and_try musl 0.01
}

# The command with it; what it needs is compiled along.
section_musl_tools() {
    if [ ! -d build-check/sources/jansson ] || [ ! -d /usr/share/gnulib ]; then
        echo 'SKIP musl_tools: takes the sources of jansson and gnulib'
        echo '0 passed, 0 failed, 1 skipped'
        return
    fi
    tests/musl/libraries.sh build-check/musl build-check/sources/jansson
    configure build-musl-tools -Dtests=false -Dpeers=disabled -Doptimization=0 -Ddebug=false \
        --cross-file cross/musl.ini --cross-file build-check/musl/cross.ini
    ninja -C build-musl-tools pawl
    build pawl
    tests/musl/run.sh build-check build-musl-tools
}

# The Debian packages, in a root of their own; by another compiler, and without optimisation, which takes less long:
# both shall work, too.
section_debian() {
    CC=clang CXX=clang++ tests/debian/run.sh build-check noopt
}

# As they are shipped.
section_packages() {
    tests/debian/run.sh build-check
}

# run SECTION - keeps its output, its exit status, and how long it took: on the clock, and of CPU time
run() {
    local name=$1 status TIMEFORMAT='%0R %0U %0S'
    set +e # around, not in a condition: there the section's own set -e would not count
    {
        time {
            (
                set -e
                what=${name#"${name%%:*}"}
                "section_${name%%:*}" "${what#:}"
            ) >"$logs/$name" 2>&1
        }
        status=$?
    } 2>"$logs/$name.time"
    set -e
    echo "$status $(cat "$logs/$name.time")" >"$logs/$name.end"
}

# tell SECTION - shows its outcome, and on failure why
tell() {
    local name=$1 log=$logs/$1 status seconds user system passed failed skipped
    read -r status seconds user system <"$log.end"
    read -r passed failed skipped < <(awk '/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; s += $5 }
                                           END { print p + 0, f + 0, s + 0 }' "$log")
    if [ "$status" != 0 ]; then
        [ "$failed" != 0 ] || failed=1 # what failed did not get as far as counting
        echo "== $name"
        grep -E '^FAIL |error|Sanitizer' "$log" | sort -u | head -n 40 || true
        echo "-- the end of its output:"
        tail -n 25 "$log"
    fi
    printf '%-30s %6d passed %4d failed %4d skipped %5d s, %5d s of CPU\n' \
        "$name" "$passed" "$failed" "$skipped" "$seconds" $((user + system)) | tee "$log.line"
}

# note SECTION - that it has passed, and when, and at which commit
note() {
    [[ $commit != *-dirty && $(cat "$logs/$1.end") == "0 "* ]] || return 0
    mkdir -p build-check/soak
    echo "$commit $(date -u +%Y-%m-%dT%H:%M) $(cat "$logs/$1.line")" >"build-check/soak/$1"
}

# is_done SECTION - in a soak, and at this commit
is_done() {
    [ -n "$commit" ] && [ -f "build-check/soak/$1" ] && grep "^$commit " "build-check/soak/$1"
}

# by_lock SECTION - its pieces
by_lock() {
    {
        scripts/names.sh
        printf '%s\n' semaphore seqlock mutex_shared hapax_shared
    } | sed "s/^/$1:/"
}

# One section of those below, in a lane.
if [ "${1-}" = --lane ]; then
    logs=$2 scale=$3 commit=$4
    run "$5"
    tell "$5"
    [ -z "$commit" ] || note "$5"
    exit 0
fi

commit= # of a soak
if [ "${1-}" = soak ]; then
    shift
    scale=8
    lanes=$(nproc)
    commit=$(git describe --always --dirty --abbrev=12)
    sections=("${soak_sections[@]}")
fi
[ $# = 0 ] || sections=("$@")
pieces=()
for name in "${sections[@]}"; do
    if ! declare -F "section_${name%%:*}" >/dev/null; then
        echo "check.sh: no such section: $name" >&2
        exit 2
    fi
    case $name in
    deep_check | mutate) mapfile -t -O ${#pieces[@]} pieces < <(by_lock "$name") ;;
    *) pieces+=("$name") ;;
    esac
done

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
if ! build >"$logs/build" 2>&1; then # most sections need it
    tail -n 40 "$logs/build"
    echo "check.sh: it does not build" >&2
    exit 1
fi
left=()
for name in "${pieces[@]}"; do
    is_done "$name" || left+=("$name")
done
[ ${#left[@]} != 0 ] || exit 0
printf '%s\0' "${left[@]}" | xargs -0 -n 1 -P "$lanes" scripts/check.sh --lane "$logs" "$scale" "$commit"

echo
for name in "${left[@]}"; do
    cat "$logs/$name.line"
done | awk '{ print; passed += $2; failed += $4; cpu += $(NF - 3) }
            END { printf "%d s, %d s of CPU\n%d passed, %d failed\n", seconds, cpu, passed, failed; exit failed > 0 }' \
    seconds="$SECONDS"
