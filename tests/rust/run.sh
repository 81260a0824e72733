#!/bin/bash
# run.sh BUILD - the Rust crate: its tests with every cargo here, without std, and beside parking_lot
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
crate=$root/bindings/rust
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 # once is enough, and nobody debugs it

# work_of CARGO - its folder in the build folder
work_of() {
    "$1" --version | tr -c 'a-z0-9.\n' - | sed 's/^/rust-/'
}

# with CARGO COMMAND... - that cargo, with its own rustc and rustdoc
with() {
    local cargo=$1
    shift
    CARGO=$cargo WORK=$(work_of "$cargo") PATH=$(dirname "$cargo"):$PATH "$crate/run.sh" "$build" "$@"
}

# Counted by cargo, so that a test that is not there is missed.
tests_pass() {
    with "$1" test | tee "$work/tested"
    test "$(awk '/^test result: ok/ { n += $4 } END { print n }' "$work/tested")" -ge 33
}

example_runs() {
    test "$(with "$1" run --quiet --example first)" = 2000000
}

# Every lock of the register that needs no context, and may be freed by the next owner, with its size, order and owner.
has_every_lock() {
    "$build/pawl" list --json | python3 -c '
import json, re, sys
text = open(sys.argv[1]).read()
fair = re.findall(r"fair!\((.*?)\);", text, re.S)
fair = " ".join(fair).split()
rows = re.findall(r"(\w+),\s+(\w+)Guard,\s+Raw(\w+),\s+(\d+),\s+(\w+),\s+pawl_rust_(\w+)_lock", text)
crate = {row[5]: (int(row[3]), "Raw" + row[2] in fair, row[4]) for row in rows}
wanted = {l["name"].removeprefix("pawl_"): (l["words"], l["order"] == "FIFO", "GuardSend" if l["thread_oblivious"] else "GuardNoSend")
          for l in json.load(sys.stdin)["locks"] if not l["context"] and l["prompt_destruction"]}
assert len(wanted) > 15 and crate == wanted, sorted(set(crate.items()) ^ set(wanted.items()))' "$crate/src/raw.rs"
}

compares() {
    with "$1" bench --profile dev -- 2 3 | tee "$work/compared"
    # Estimates with their intervals, and beside std's, in three tables; a machine that is busy may make them NaN.
    test "$(grep -cE '^  [a-z_:A-Z]+ +[^ ]+ \[[^ ]+ [^ ]+\] (ns|M/s); +[^ ]+ \[[^ ]+ [^ ]+\] x std' "$work/compared")" = 15
    test "$(grep -c 'parking_lot::FairMutex\|pawl::FairMutex' "$work/compared")" = 6
}

# The library's fair unlock, and no other, is what a guard's unlock_fair and bump come to: a test that has one in its
# place ends at once.
fair_unlock_is_called() {
    local symbol
    symbol=$(nm -D --defined-only "$build/src/libpawl.so" | sed -n 's/.* \(pawl_mutex_unlock_fair_contended[a-z0-9_]*\).*/\1/p')
    printf '#include <unistd.h>\nvoid called(void) __asm__("%s");\nvoid called(void)\n{\n    _exit(42);\n}\n' "$symbol" >"$work/called.c"
    ${CC:-cc} -shared -fPIC "$work/called.c" -o "$work/called.so"
    for name in fair_unlock_hands_over bump_lets_others_go_first; do
        ! LD_PRELOAD=$work/called.so with "$1" test --test locks "$name" 2>"$work/said" || return 1
        grep -q 'exit status: 42' "$work/said" || { cat "$work/said" && return 1; }
    done
}

# In one line, and for people who look at the end of cargo's.
says_what_is_missing() {
    ! PAWL_INCLUDE_DIR=/no/such PAWL_LIB_DIR=/no/such with "$1" build 2>"$work/said" || return 1
    grep -q '^ *pawl: .*pawl.h: No such file' "$work/said" || {
        cat "$work/said"
        return 1
    }
}

# As pkg-config writes it.
folder_may_have_spaces() {
    mkdir -p "$work/with space"
    ln -s "$root/include" "$work/with space/include"
    ln -s "$build/src" "$work/with space/lib"
    printf 'prefix=%s\nName: pawl\nDescription: .\nVersion: 0.1.0\nLibs: -L${prefix}/lib -lpawl\nCflags: -I${prefix}/include\n' \
        "$work/with\\ space" >"$work/pawl.pc"
    test "$(PKG_CONFIG_PATH=$work BY_PKG_CONFIG=1 with "$1" run --quiet --example first)" = 2000000
    # And if Pawl is elsewhere the next time, that is not overlooked.
    ! PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/no/such BY_PKG_CONFIG=1 with "$1" build 2>"$work/said" || return 1
    grep -q 'pawl: "pkg-config".*Package pawl was not found' "$work/said"
}

# libpawl.a becomes part of the program, which then needs no other file.
static_library_is_linked() {
    test "$(PAWL_STATIC=1 with "$1" run --quiet --example first)" = 2000000
    readelf -d "$build/$(work_of "$1")/target/debug/examples/first" >"$work/needs"
    ! grep libpawl "$work/needs"
}

debian=/usr/bin/cargo
other=$(command -v cargo)
promise has_every_lock has_every_lock
promise tests_pass tests_pass $debian
promise builds_without_std with $debian build --lib --no-default-features
promise fair_unlock_is_called fair_unlock_is_called $debian
promise compares compares $debian
promise folder_may_have_spaces folder_may_have_spaces $debian
promise static_library_is_linked static_library_is_linked $debian
promise says_what_is_missing says_what_is_missing $debian
[ "$(readlink -f "$other")" = "$(readlink -f $debian)" ] || promise example_runs_with_another_cargo example_runs "$other"

finish
