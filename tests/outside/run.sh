#!/bin/bash
# run.sh BUILD - projects outside this tree use Pawl: installed, by pkg-config, CMake and Meson; as a subproject; and
# as a vendored copy of one lock
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

meson install -C "$build" --no-rebuild --destdir "$work/installed" >"$work/out" 2>&1 || cat "$work/out"
prefix=$(dirname "$(dirname "$(find "$work/installed" -name pawl.h)")")
pkgconfig=$(dirname "$(find "$work/installed" -name pawl.pc)")
library=$(dirname "$pkgconfig")
installed() {
    PKG_CONFIG_PATH=$pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/installed LD_LIBRARY_PATH=$library "$@"
}

says_two_million() {
    [ "$("$@")" = 2000000 ]
}

by_pkg_config() {
    # shellcheck disable=SC2046 # one word each
    ${CC:-cc} "$root/examples/first.c" $(installed pkg-config --cflags --libs pawl) -o "$work/first"
    says_two_million installed "$work/first"
    readelf -d "$work/first" | grep -q 'NEEDED.*libpawl\.so\.0'
}

# What people ask their compilers for; the headers are not behind -isystem.
strict='-Wall -Wextra -Wpedantic -Werror -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wcast-align -Wpointer-arith
    -Wwrite-strings -Wformat=2 -Wdouble-promotion -Wnull-dereference'

# with_strict COMPILER OPTION... - linked with the library, and again as one static file, optimised across the archive
with_strict() {
    local compiler=$1 source=strict.c
    shift
    case $compiler in
    *++) source=strict.cc ;;
    esac
    # shellcheck disable=SC2046,SC2086 # one word each
    $compiler $strict "$@" -O1 "$here/$source" $(installed pkg-config --cflags --libs pawl) -o "$work/strict"
    says_two_million installed "$work/strict"
    # shellcheck disable=SC2046,SC2086
    $compiler $strict "$@" -O2 -flto -static "$here/$source" $(installed pkg-config --static --cflags --libs pawl) -o "$work/strict"
    says_two_million "$work/strict"
    readelf -lW "$work/strict" >"$work/segments"
    not grep INTERP "$work/segments"
}

# A project without C.
by_cmake_in_cxx() {
    mkdir "$work/cxx"
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(outside CXX)\nset(CMAKE_CXX_STANDARD 17)\nfind_package(pawl 0.1 REQUIRED)\nadd_executable(strict %s)\ntarget_link_libraries(strict PRIVATE pawl::pawl)\n' \
        "$here/strict.cc" >"$work/cxx/CMakeLists.txt"
    cmake -G Ninja -S "$work/cxx" -B "$work/cxx/build" "-DCMAKE_PREFIX_PATH=$prefix"
    cmake --build "$work/cxx/build"
    says_two_million "$work/cxx/build/strict"
}

# by_cmake PREFIX TARGET... - where it is installed; the compiler is tried only once
by_cmake() {
    cmake -G Ninja -S "$here/cmake" -B "$work/cmake" -Upawl_DIR "-DCMAKE_PREFIX_PATH=$1"
    shift
    cmake --build "$work/cmake" --target "$@"
    for target in "$@"; do
        says_two_million "$work/cmake/$target"
    done
}

# cmake_refuses WANTED REASON - what find_package() cannot have
cmake_refuses() {
    local at
    at=$(mktemp -d -p "$work")
    sed "s/find_package(pawl 0.1/find_package(pawl $1/; s/project(outside C)/project(outside NONE)/" "$here/cmake/CMakeLists.txt" >"$at/CMakeLists.txt"
    not cmake -S "$at" -B "$at/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_LIBRARY_ARCHITECTURE=$(basename "$library")" 2>"$work/said"
    grep -q "$2" "$work/said"
}

# A folder with a space in its name, to which the installation was moved.
cmake_finds_what_was_moved() {
    local lib=${library#"$prefix"/}
    mkdir -p "$work/moved away/$lib"
    cp -R "$prefix/include" "$work/moved away"
    cp -R "$library/cmake" "$library"/libpawl.* "$work/moved away/$lib"
    by_cmake "$work/moved away" first
    readelf -d "$work/cmake/first" | grep -q "RUNPATH.*$work/moved away/$lib"
}

# /lib, say, where that is a link to /usr/lib.
cmake_finds_what_is_behind_a_link() {
    mkdir "$work/link"
    ln -s "$prefix/lib" "$work/link/lib"
    by_cmake "$work/link" first
}

refuses_32_bits() {
    echo '#include <pawl/ticket.h>' >"$work/narrow.c"
    not ${CC:-cc} -m32 -I "$root/include" -fsyntax-only "$work/narrow.c" 2>"$work/said"
    grep -q 'Pawl needs a 64-bit machine' "$work/said"
    # Meson, too; to it this compiler is one that works.
    mkdir "$work/narrow"
    printf '#!/bin/sh\ncase "$*" in\n*sanitycheck* | *--version* | *-Wl,*) exec gcc "$@" ;;\nesac\nexec gcc -m32 "$@"\n' >"$work/narrow/cc"
    chmod +x "$work/narrow/cc"
    printf '[binaries]\nc = "%s"\nar = "ar"\n[host_machine]\nsystem = "linux"\ncpu_family = "x86"\ncpu = "i686"\nendian = "little"\n' \
        "$work/narrow/cc" | tr '"' "'" >"$work/narrow/file.ini"
    not meson setup -Dtools=false -Dtests=false --cross-file "$work/narrow/file.ini" "$work/narrow/build" "$root" >"$work/said"
    grep -q 'ERROR: .*Pawl needs a 64-bit machine' "$work/said"
}

# What is missing says so; with it, see tests/musl.
musl_without_argp_has_the_library_alone() {
    not meson setup -Dtests=false --cross-file "$root/cross/musl.ini" "$work/musl" "$root" >"$work/said"
    grep -q 'the interposer keeps locks inside the objects of glibc' "$work/said"
    grep -q 'ERROR: .*argp-standalone.* -Dtools=false' "$work/said"
}

# meson_project DIRECTORY - a copy of the project
meson_project() {
    mkdir "$1"
    cp "$here/meson/meson.build" "$root/examples/first.c" "$1"
}

by_meson() {
    meson_project "$work/meson"
    installed meson setup --buildtype=plain "$work/meson/build" "$work/meson"
    ninja -C "$work/meson/build"
    says_two_million installed "$work/meson/build/first"
}

# A wrap file and an archive, in a folder with a space; installed with libraries outside the prefix, where CMake finds them.
by_meson_subproject() {
    local at="$work/a project" parts
    meson_project "$at"
    mkdir -p "$at/subprojects/packagefiles"
    parts=$(sed -n 's/^subdir(.\([a-z]*\).)$/\1/p; /is_subproject/q' "$root/meson.build") # all that it needs
    # shellcheck disable=SC2086 # one word each
    tar -C "$root" --transform 's#^#pawl-0.1.0/#' -czf "$at/subprojects/packagefiles/pawl-0.1.0.tar.gz" meson.build meson_options.txt $parts
    printf '[wrap-file]\ndirectory = pawl-0.1.0\nsource_filename = pawl-0.1.0.tar.gz\nsource_hash = %s\n' \
        "$(sha256sum <"$at/subprojects/packagefiles/pawl-0.1.0.tar.gz" | cut -d ' ' -f 1)" >"$at/subprojects/pawl.wrap"
    meson setup --buildtype=plain --prefix "$at/prefix" --libdir "$at/apart/lib" "$at/build" "$at"
    ninja -C "$at/build"
    says_two_million "$at/build/first"
    not test -e "$at/build/subprojects/pawl-0.1.0/pawl" # nor anything else but the library
    meson install -C "$at/build" --no-rebuild
    by_cmake "$at/apart" first
    eval "${CC:-cc} '$at/first.c' $(PKG_CONFIG_PATH=$at/apart/lib/pkgconfig pkg-config --cflags --libs pawl) -o '$work/spaced'"
    LD_LIBRARY_PATH=$at/apart/lib says_two_million "$work/spaced"
}

export OBJECTS=$work/objects # of vendor.sh

# vendored COMPILER OPTIONS LOCK... - freestanding if OPTIONS say so
vendored() {
    local compiler=$1 options=$2 lock=$3 at=$work/vendored-$3-$1$2 flags='' sources
    "$root/scripts/vendor.sh" ${options:+--freestanding} "$lock" "$at"
    case $lock in
    pawl_*) flags=-DMUTEX ;;
    esac
    [ -z "$options" ] || flags="$flags -DPAWL_FREESTANDING"
    sources=$(find "$at" -name '*.c')
    # As its README says: what is in src/ without the flag of freestanding.
    if [ -n "$sources" ]; then
        # shellcheck disable=SC2086 # one word each
        (cd "$at" && $compiler $strict -std=gnu11 -O1 -D_GNU_SOURCE -DPAWL_NO_HOOKS -Iinclude -pthread -c $sources)
        sources=$(find "$at" -name '*.o')
    fi
    # shellcheck disable=SC2086
    $compiler $strict -std=gnu11 -O1 $flags "-DLOCK=${lock#pawl_}" -I "$at/include" \
        "$here/vendored.c" $sources -pthread -o "$at/program"
    "$at/program"
    nm "$at/program" >"$at/names"
    not grep -q pawl_debug_locked "$at/names"
    [ -z "$options" ] || grep -q pawl_nodes_refill "$at/names" || not grep -q pawl_park "$at/names" # but for the pool of nodes
}

# In a folder whose name looks like parts of a tree.
is_headers_alone() {
    mkdir "$work/my include"
    (cd "$work/my include" && TMPDIR=$PWD "$root/scripts/vendor.sh" --freestanding ticket "src/a (1) src" >"$work/written")
    test "$(ls "$work/my include")" = src
    test -e "$work/my include/src/a (1) src/include/pawl/ticket.h"
    not test -e "$work/my include/src/a (1) src/src"
    test "$(sort "$work/written")" = "$(find "$work/my include" -type f ! -name LICENSE | sort)"
}

# vendored_files LOCK [--freestanding] - they are all that a compiler asks for; vendor.sh has linked them. Prints the name of
# a lock that is headers alone.
vendored_files() {
    local lock=$1 at=$work/files flags=${2:+-DPAWL_FREESTANDING}
    shift
    case $lock in
    pawl_*) flags=-DMUTEX ;;
    esac
    rm -rf "$at"
    "$root/scripts/vendor.sh" "$@" "$lock" "$at" >/dev/null
    # shellcheck disable=SC2046,SC2086 # one word each
    gcc -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -DPAWL_NO_HOOKS $flags "-DLOCK=${lock#pawl_}" -I "$at/include" -fsyntax-only \
        "$here/vendored.c" $(find "$at" -name slices.c)
    [ -d "$at/src" ] || echo "$lock"
}

# The first lock of every header, without libpawl as far as that goes.
every_header_can_be_vendored() {
    awk -F '[(,]' '/^#include/ { header = 1 } header && /^PAWL_LOCK\(/ { print $2; header = 0 }' "$root/include/pawl/locks.def" >"$work/locks"
    test "$(wc -l <"$work/locks")" -gt 15
    while read -r lock; do
        case $lock in
        mutex) ;; # above
        fairmutex) vendored_files pawl_fairmutex ;;
        *) vendored_files "$lock" --freestanding ;;
        esac
    done <"$work/locks" >"$work/alone.txt"
    test "$(xargs <"$work/alone.txt")" = 'tts ticket retrograde capacitor_plain' # as docs/embedding.md says
}

# vendor_refuses_this ARGUMENT... - in one line, and nothing is written
vendor_refuses_this() {
    local said
    said=$(not "$root/scripts/vendor.sh" "$@" 2>&1 >/dev/null)
    test "$(echo "$said" | grep -c '^vendor.sh: ')/$(echo "$said" | wc -l)" = 1/1
    not test -e "$work/x"
}

vendor_refuses() {
    mkdir -p "$work/full"
    touch "$work/full/file"
    vendor_refuses_this no_such_lock "$work/x"
    vendor_refuses_this 't.s' "$work/x"
    vendor_refuses_this '' "$work/x"
    vendor_refuses_this ticket "$work/full"
    vendor_refuses_this ticket "$work/full/file"
    vendor_refuses_this ticket /dev/null/x
    vendor_refuses_this --freestanding ticket /proc/x
    vendor_refuses_this --freestanding pawl_mutex "$work/x"
    vendor_refuses_this ticket
    CC=/no/such vendor_refuses_this ticket "$work/x"
}

promise by_pkg_config by_pkg_config
for compiler in gcc clang; do
    promise "with_strict_$compiler" with_strict $compiler -std=c11 -D_POSIX_C_SOURCE=200809L -Wstrict-prototypes -Wmissing-prototypes
done
for compiler in g++ clang++; do
    promise "with_strict_$compiler" with_strict $compiler -std=c++17 -Wnon-virtual-dtor -Woverloaded-virtual
done
promise by_cmake by_cmake "$prefix" first first_static
promise by_cmake_in_cxx by_cmake_in_cxx
promise cmake_refuses_another_version cmake_refuses 0.9 'version: 0\.1\.0'
promise cmake_refuses_components cmake_refuses '0.1 COMPONENTS extra' 'no component extra'
promise cmake_finds_what_was_moved cmake_finds_what_was_moved
promise cmake_finds_what_is_behind_a_link cmake_finds_what_is_behind_a_link
[ "$(uname -m)" != x86_64 ] || promise refuses_32_bits refuses_32_bits
promise musl_without_argp_has_the_library_alone musl_without_argp_has_the_library_alone
promise by_meson by_meson
promise by_meson_subproject by_meson_subproject
promise vendored_hapax_vw vendored gcc '' hapax_vw
promise vendored_hapax_vw_freestanding vendored clang --freestanding hapax_vw
promise vendored_mcs vendored clang '' mcs
promise vendored_clh_freestanding vendored gcc --freestanding clh
promise vendored_pawl_mutex vendored gcc '' pawl_mutex
promise vendored_ticket_freestanding vendored gcc --freestanding ticket
promise vendored_ticket_is_headers_alone is_headers_alone
promise every_header_can_be_vendored every_header_can_be_vendored
promise vendor_refuses vendor_refuses

finish
