#!/bin/sh
# headers.sh INCLUDE - every header stands alone in C11 and C++17, and every lock's header says what it promises
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/promise.sh"

include=$1

# The properties, in this order, in the comment that opens the file.
opens_with_properties() {
    head -n 1 "$1" | grep -q "^/\* $(basename "$1") - " || { echo "does not open with its name and title"; return 1; }
    sed '/\*\//q' "$1" | sed -n 's/^ \* \([A-Z][a-z]*\)   *[^ ].*/\1/p' | tr '\n' ' ' >"$work/properties"
    [ "$(cat "$work/properties")" = "Admission Bypass Space Unlock Waiting Sharing Differs " ] && return 0
    echo "properties found: $(cat "$work/properties")"
    return 1
}

# The second include must be harmless.
stands_alone() {
    compiler=$1 header=$2
    shift 2
    case $compiler in
    *++) source=$work/alone.cc standard=c++17 ;;
    *) source=$work/alone.c standard=c11 ;;
    esac
    printf '#include <%s>\n#include <%s>\nextern int nothing;\n' "$header" "$header" >"$source"
    "$compiler" -std=$standard -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Werror "$@" -I "$include" -fsyntax-only "$source"
}

# Linked with nothing of libpawl.
is_freestanding() {
    compiler=$1
    {
        echo '#include <pawl/locks.h>'
        echo "int main(void) { static pawl_$2 l; pawl_$2_ctx c; pawl_$2_lock(&l, &c); pawl_$2_unlock(&l, &c); return 0; }"
    } >"$work/free.c"
    "$compiler" -std=c11 -O1 -DPAWL_FREESTANDING -I "$include" "$work/free.c" -o "$work/free" && "$work/free"
}

# does_not_compile WHY TEXT... - a program of these lines, and the compiler says why
does_not_compile() {
    compiler=$1 why=$2
    shift 2
    printf '#include <pawl.h>\n' >"$work/wrong.c"
    printf '%s\n' "$@" >>"$work/wrong.c"
    if "$compiler" -std=c11 -I "$include" -c "$work/wrong.c" -o "$work/wrong.o" 2>"$work/said"; then
        echo "it compiles"
        return 1
    fi
    grep -q "$why" "$work/said" || { cat "$work/said"; return 1; }
}

# The header of a single lock, included alone, has hooks around its functions, and around nothing when it is not asked for.
calls_hooks() {
    compiler=$1
    printf '#include <pawl/ticket.h>\nvoid f(pawl_ticket *l, pawl_ticket_ctx *c);\n%s\n' \
        'void f(pawl_ticket *l, pawl_ticket_ctx *c) { pawl_ticket_lock(l, c); }' >"$work/hooked.c"
    case $compiler in
    *++) set -- -x c++ -std=c++17 ;;
    *) set -- -std=c11 ;;
    esac
    "$compiler" "$@" -I "$include" -DPAWL_DEBUG -S "$work/hooked.c" -o - | grep -q pawl_debug_locked &&
        ! "$compiler" "$@" -I "$include" -S "$work/hooked.c" -o - | grep -q pawl_debug
}

refuses_bypass() {
    ! stands_alone "$1" pawl/mutex.h -DPAWL_MUTEX_BYPASS=1000
}

# So it is enough to try it with one compiler for each language, above all headers.
only_hooks_know_of_debug_mode() {
    [ "$(cd "$include" && grep -rl '^#.*PAWL_DEBUG\>' .)" = ./pawl/detail/hooks.h ]
}
promise only_hooks_know_of_debug_mode only_hooks_know_of_debug_mode

for name in $(sed -n 's/^#include "\(.*\)"/\1/p' "$include/pawl/locks.def"); do
    promise "$name/opens_with_properties" opens_with_properties "$include/pawl/$name"
done

for compiler in gcc clang g++ clang++; do
    if ! command -v $compiler >/dev/null; then
        skip "stands_alone: no $compiler"
        continue
    fi
    for path in "$include"/*.h "$include"/pawl/*.h "$include"/pawl/detail/*.h; do
        header=${path#"$include"/}
        promise "$header/stands_alone_with_$compiler" stands_alone $compiler "$header"
        case $compiler in
        gcc | clang++) promise "$header/can_be_hooked_with_$compiler" stands_alone $compiler "$header" -DPAWL_DEBUG ;;
        esac
    done
    promise "pawl.h/can_be_hooked_with_$compiler" stands_alone $compiler pawl.h -DPAWL_DEBUG
    promise "pawl.h/can_be_freestanding_with_$compiler" stands_alone $compiler pawl.h -DPAWL_FREESTANDING
    promise "pawl.h/can_be_sanitized_with_$compiler" stands_alone $compiler pawl.h -fsanitize=thread
    promise "ticket.h/calls_hooks_with_$compiler" calls_hooks $compiler
done
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for platoon in 0 65536 70000; do
        promise "capacitor.h/platoon_of_${platoon}_is_refused_by_$compiler" does_not_compile $compiler "1 to 65535" \
            "PAWL_CAPACITOR(mine, ticket, $platoon)"
    done
    promise "mutex.h/refuses_a_bypass_with_$compiler" refuses_bypass $compiler
    promise "capacitor.h/platoons_agree_with_$compiler" does_not_compile $compiler "one platoon" \
        "PAWL_CAPACITOR(mine, ticket, 2)" "PAWL_CAPACITOR_TRYLOCK(mine, ticket, 3)"
    for lock in tts ticket retrograde capacitor_plain capacitor_multilane; do
        promise "$lock/needs_no_library_freestanding_with_$compiler" is_freestanding $compiler $lock
    done
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    promise "pawl.hpp/can_be_hooked_with_$compiler" stands_alone $compiler pawl.hpp -DPAWL_DEBUG
done

finish
