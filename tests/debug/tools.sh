#!/bin/sh
# tools.sh DIRECTORY - the thread sanitizer, Helgrind and DRD judge programs that use Pawl's locks rightly
#
# DIRECTORY has judged (compiled with -DPAWL_DEBUG), judged_tsan (-fsanitize=thread, libpawl without it) and
# judged_tsan_whole (both with it); mixed and its like, of which part is compiled with -DPAWL_DEBUG; and pthreads, which
# knows nothing of Pawl, for debug mode under the interposer.
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

directory=$1
# The tools should find what is wrong, not debug mode.
export PAWL_DEBUG=0 TSAN_OPTIONS=exitcode=9

# verdict NAME WANTED TEXT COMMAND... - the command's exit status is WANTED, and it says TEXT, unless that is empty
verdict() {
    name=$1 wanted=$2 text=$3
    shift 3
    timeout 600 "$@" >"$work/out" 2>&1
    status=$?
    [ $status = "$wanted" ] && { [ -z "$text" ] || grep -q -e "$text" "$work/out"; }
    good=$?
    echo "exit status $status; it should be $wanted and the text should have: $text" >>"$work/out"
    count "$name" $good
}

for program in judged_tsan judged_tsan_whole; do
    if [ ! -x "$directory/$program" ]; then
        skip "$program: the compiler has no thread sanitizer"
        continue
    fi
    verdict $program/correct_is_clean 0 '' "$directory/$program" correct
    for lock in pawl_mutex pawl_fairmutex mcs clh ticket hapax_vw hemlock reciprocating capacitor_tts; do
        verdict $program/race_with_$lock 9 'data race' "$directory/$program" race $lock
        verdict $program/inversion_of_$lock 9 'lock-order-inversion' "$directory/$program" inversion $lock
    done
done

if command -v valgrind >/dev/null; then
    judge="valgrind -q --error-exitcode=9"
    verdict helgrind/correct_is_clean 0 '' $judge --tool=helgrind "$directory/judged" correct
    verdict drd/correct_is_clean 0 '' $judge --tool=drd "$directory/judged" correct
    for lock in pawl_mutex pawl_fairmutex hapax_vw; do
        verdict helgrind/race_with_$lock 9 'data race' $judge --tool=helgrind "$directory/judged" race $lock
        verdict drd/race_with_$lock 9 'Conflicting' $judge --tool=drd "$directory/judged" race $lock
        verdict helgrind/inversion_of_$lock 9 'lock order' $judge --tool=helgrind "$directory/judged" inversion $lock
    done
    PAWL_DEBUG=1
    verdict helgrind/correct_is_clean_with_debug_mode 0 '' $judge --tool=helgrind "$directory/judged" correct
else
    skip "valgrind: not installed"
fi

# One program with code with hooks and code without: only the errors of the former are reported.
PAWL_DEBUG=1
for program in mixed mixed_hooked_first mixed_plain_first; do
    if [ ! -x "$directory/$program" ]; then
        skip "$program: no C++ compiler"
        continue
    fi
    verdict $program/correct_is_silent 0 '' "$directory/$program" correct
    verdict $program/inversion_without_hooks_is_silent 0 '' "$directory/$program" plain
    verdict $program/inversion_with_hooks_is_reported 134 'pawl: lock-order inversion' "$directory/$program" hooked
done

for lock in mcs pawl_mutex; do
    library=$directory/../../preload/libpawl-$lock.so
    if [ ! -e "$library" ]; then
        skip "interposer/$lock: not built"
        continue
    fi
    verdict interposer/correct_is_silent_with_$lock 0 '' env PAWL_DEBUG=1 LD_PRELOAD="$library" "$directory/pthreads"
    verdict interposer/inversion_is_reported_with_$lock 0 'pawl: lock-order inversion' \
        env PAWL_DEBUG=continue LD_PRELOAD="$library" "$directory/pthreads" inversion
done

finish
