#!/bin/sh
# run.sh BUILD - libpawl in programs that load it, or load what it is in, at run time: one copy works however often it is
# loaded and unloaded, and two copies are refused
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

build=$1
here=$build/tests/embed
library=$(echo "$build"/src/libpawl.so.*.*.*[0-9])
static=$here/plugin_static.so
shared=$here/plugin_shared.so

# It aborts, and the one line it says names the two.
refuses() {
    (exec "$@") 2>"$work/said" && { echo "goes on"; return 1; }
    [ "$(grep -c . "$work/said")" = 1 ] && grep -q '^pawl: two copies of libpawl in one process, in .* and in ' "$work/said" &&
        return 0
    cat "$work/said"
    return 1
}

# copies FILE - 64 files
copies() {
    for i in $(seq 64); do
        cp "$1" "$work/$i-$(basename "$1")"
        echo "$work/$i-$(basename "$1")"
    done
}

host=$here/host
promise library_is_loaded "$host" "$library"
promise library_is_loaded_64_times "$host" -n 64 "$library"
promise plugin_with_a_copy_is_unloaded_before_its_threads_end "$host" "$static"
promise plugin_with_a_copy_is_loaded_64_times "$host" -n 64 "$static"
# shellcheck disable=SC2046 # one word each
promise plugins_with_copies_come_one_after_another "$host" -o $(copies "$static")
# shellcheck disable=SC2046
promise plugins_share_the_library env LD_LIBRARY_PATH="$build/src" "$host" $(copies "$shared")
promise program_and_plugin_share_the_library "$here/host_shared" "$shared"
promise namespaces_have_a_library_each "$here/host_static" -m "$shared"
if command -v python3 >/dev/null; then
    promise python_loads_it python3 -c "
import ctypes, threading
pawl, mutex, inside = ctypes.CDLL('$library'), (ctypes.c_uint64 * 3)(), []
pawl.pawl_mutex_trylock_call.restype = ctypes.c_bool
def use():
    for i in range(1000):
        pawl.pawl_mutex_lock_call(mutex)
        inside.append(i)
        assert len(inside) == 1 and not pawl.pawl_mutex_trylock_call(mutex)
        inside.pop()
        pawl.pawl_mutex_unlock_call(mutex)
    done.append(True)
done = []
threads = [threading.Thread(target=use) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert len(done) == 4 and pawl.pawl_mutex_trylock_call(mutex) and any(mutex)"
fi
if command -v perl >/dev/null; then
    promise perl_loads_it perl -MDynaLoader -e \
        'DynaLoader::dl_load_file($ARGV[0], 0) or die DynaLoader::dl_error()' "$library"
fi

promise copies_in_program_and_plugin refuses "$here/host_static" "$static"
promise copy_in_program_and_library refuses "$here/host_static" "$library"
promise copy_in_program_and_plugin_with_library refuses "$here/host_static" "$shared"
promise library_of_program_and_copy_in_plugin refuses "$here/host_shared" "$static"
cp "$library" "$work/elsewhere.so"
promise library_of_program_and_one_elsewhere refuses "$here/host_shared" "$work/elsewhere.so"
# shellcheck disable=SC2046
promise copies_in_two_plugins refuses "$host" $(copies "$static")
# shellcheck disable=SC2046
promise copies_in_two_global_plugins refuses "$host" -g $(copies "$static")
promise copies_at_the_start refuses env LD_PRELOAD="$library" "$here/host_static"
for interposer in "$build"/preload/libpawl-mcs.so "$build"/preload/libpawl-pawl_mutex.so; do
    [ -f "$interposer" ] || continue
    promise "copy_beside_$(basename "$interposer")" env LD_PRELOAD="$interposer" "$here/host_static"
    promise "library_beside_$(basename "$interposer")" env LD_PRELOAD="$interposer" "$here/host_shared" "$shared"
done

# A program cannot change the library's tunables on its own: it compiles but does not link, and links without them.
program='#include <pawl.h>
int main(void)
{
    static pawl_mutex m;
    static pawl_twa l;
    pawl_twa_ctx c;
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
    pawl_twa_lock(&l, &c);
    pawl_twa_unlock(&l, &c);
    return 0;
}'
echo "$program" >"$work/tuned.c"
links() {
    ${CC:-cc} "$@" -I "$(dirname "$0")/../../include" -c "$work/tuned.c" -o "$work/tuned.o" &&
        ${CC:-cc} "$work/tuned.o" "$build/src/libpawl.a" -pthread -o "$work/tuned"
}
does_not_link() {
    ! links "$@" && [ -f "$work/tuned.o" ] && rm "$work/tuned.o"
}
promise untuned_program_links links -DPAWL_PLATOON=65535
for tunable in -DPAWL_SLOTS=1024 -DPAWL_SLOTS=8192 -DPAWL_PARKED_BITS=9 -DPAWL_IN_PTHREAD_MUTEX; do
    promise "does_not_link_with_$tunable" does_not_link $tunable
done

# The sources, compiled by others who ask their compiler for more: with link-time optimization, too, the archive has
# whatever a program needs, and it works.
names_of() {
    "$@" -g --defined-only | awk 'NF == 3 { print $3 }' | sort -u
}
links_with_lto() {
    strict='-Wall -Wextra -Wpedantic -Werror -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual'
    include=$(cd "$(dirname "$0")/../../include" && pwd)
    sources=$(find "$(cd "$(dirname "$0")/../../src" && pwd)" -name '*.c')
    mkdir "$work/lto"
    # shellcheck disable=SC2086 # one word each
    (cd "$work/lto" && ${CC:-cc} -flto -O1 $strict -D_GNU_SOURCE -DPAWL_NO_HOOKS -I "$include" -c $sources) &&
        gcc-ar rcs "$work/lto/libpawl.a" "$work"/lto/*.o || return
    names_of nm "$build/src/libpawl.a" >"$work/names"
    names_of gcc-nm "$work/lto/libpawl.a" | comm -23 "$work/names" - >"$work/lost"
    if [ ! -s "$work/names" ] || [ -s "$work/lost" ]; then
        cat "$work/lost"
        return 1
    fi
    echo 'void plugin_use(void); int main(void) { plugin_use(); return 0; }' >"$work/user.c"
    ${CC:-cc} -O1 -flto -D_GNU_SOURCE -I "$include" "$work/user.c" "$(dirname "$0")/plugin.c" "$work/lto/libpawl.a" \
        -pthread -o "$work/user" && "$work/user"
}
if ${CC:-cc} --version | grep -q 'Free Software' && command -v gcc-ar gcc-nm >/dev/null; then
    promise links_with_lto links_with_lto
fi

# Only parts of the archive are linked: whatever a lock's inlined code needs brings the note along.
note_comes_with() {
    printf 'extern char %s; int main(void) { return (long)&%s == 1; }\n' "$1" "$1" >"$work/part.c"
    ${CC:-cc} "$work/part.c" -o "$work/part" "$build/src/libpawl.a" -pthread && readelf -n "$work/part" | grep -q Pawl
}
for symbol in pawl_parked pawl_wait_turn pawl_thread_enter pawl_nodes_refill pawl_hapax_refill pawl_slots pawl_twa_slots \
    pawl_mutex_lock_contended pawl_fairmutex_lock_until pawl_cond_wait_call; do
    promise "note_comes_with_$symbol" note_comes_with "$(nm "$build/src/libpawl.a" | awk -v s=$symbol '$2 ~ /[BDT]/ && index($3, s) == 1 { print $3; exit }')"
done

finish
