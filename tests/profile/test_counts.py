"""pawl profile, with locks that are easily counted wrong"""

import collections
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess

from harness import Skipped, check, folder, output, pawl, root, run, test
from profiles import blamed, culprit, frames, line_of, profiled, site, small_disk
import harness


def awkward():
    return harness.build / "tests/profile/awkward"


def hostile():
    return harness.build / "tests/profile/hostile"


def lines(function, mark):
    sources = ["awkward_counts.c", "awkward_waits.c"]
    return function, line_of(f"/* {mark} */", next(s for s in sources if f"/* {mark} */" in (root / "tests/profile" / s).read_text()))


@test
def waits_that_give_up_are_counted_and_blamed_on_the_holder():
    with folder() as f:
        profile = profiled(f, awkward(), "late", options=("-o", f"{f}/o"))
        pairs = [(w, h, x) for w, h, x in blamed(profile) if w == lines("want_in_vain", "IN_VAIN")]
        check(len(pairs) == 1 and pairs[0][1] == lines("be_late", "HOLDER") and pairs[0][2]["count"] == pairs[0][2]["gave_up"] == 4, str(pairs))
        check(pairs[0][2]["total_ns"] >= 40e6 and profile["processes"][0]["gave_up"] == 4, str(profile["processes"]))
        lock = next(l for l in profile["locks"] if l["name"] == "mutex")
        check(lock["gave_up"] == 4 and lock["contended"] >= 4 and lock["worst_ns"] >= 10e6, str(lock))
        text = pathlib.Path(f, "o").read_text()
        check("4 of the waits ended at their deadline" in text and "4 waits, 4 gave up, " in text, text)
        longest = [w for w in profile["worst"] if site(profile, w["waiter"]) == lines("want_in_vain", "IN_VAIN")]
        check(len(longest) == 4, str(profile["worst"]))
    with folder() as f:
        output("run", f"--stats={f}/s", "--", awkward(), "late")
        check(json.loads(pathlib.Path(f, "s").read_text())["waits_in_vain"] == 4, "--stats")
        check("4 more waits, " in pathlib.Path(f, "s.txt").read_text(), "its table")


@test
def a_wait_that_times_out_is_nobodys_signal():
    with folder() as f:
        pairs = collections.Counter()
        for waiter, waker, wait in blamed(profiled(f, awkward(), "late"), "condition variable"):
            pairs[waiter, waker] += wait["count"]
        check(pairs == {(lines("be_late", "WOKEN"), lines("signal_once", "SIGNAL")): 1, (lines("be_late", "LATE"), None): 2}, str(pairs))


@test
def what_lies_where_a_mutex_was_is_counted_as_what_it_is():
    with folder() as f:
        profile = profiled(f, awkward(), "reused")
        found = {l["kind"]: (l["acquisitions"], l["contended"]) for l in profile["locks"] if l["name"] == "place"}
        check(found == {"mutex": (1, 0), "condition variable": (1, 1), "spin lock": (3, 0)}, str(found))


@test
def the_longest_hold_is_known_if_nobody_waits_too():
    with folder() as f:
        lock = profiled(f, awkward(), "held")["locks"][0]
        check(lock["contended"] == 0 and lock["hold_worst_ns"] >= 100e3 and lock["hold_worst_ns"] >= lock["hold_mean_ns"], str(lock))


@test
def the_first_wait_for_a_lock_of_many_uses_is_blamed_on_the_call_that_has_it():
    with folder() as f:
        profile = profiled(f, awkward(), "sudden")
        check([(w, h) for w, h, _ in blamed(profile)] == [(lines("want_it", "FIRST_WAIT"), lines("hold_suddenly", "SUDDEN"))], str(blamed(profile)))
        check(profile["locks"][0]["acquisitions"] == 102 and profile["worst"][0]["holder_tid"] == profile["processes"][0]["pid"], str(profile["worst"]))


@test
def an_owner_is_shown_with_its_own_call_from_its_first_instruction():
    """Whenever a thread begins to wait, it may look: here, a signal handler looks after each instruction."""
    with folder() as f:
        for times in [2, 32, 100]:  # with stacks, at their end, and without
            p = pawl("profile", "-o", f"{f}/o", "--", awkward(), "order", times)
            if p.returncode == 4:
                raise Skipped("not on this machine")
            check(p.returncode == 0, f"after {times} uses: exit {p.returncode}: {p.stderr}")


@test
def of_quiet_locks_those_that_are_used_most_are_listed():
    with folder() as f:
        found = [l["acquisitions"] for l in profiled(f, awkward(), "quiet")["locks"]]
        check(found == list(range(30, 10, -1)), str(found))


@test
def a_lock_that_nobody_got_is_shown_with_those_who_wanted_it():
    """In a child, held by a thread that it does not have."""
    with folder() as f:
        profile = profiled(f, awkward(), "orphan", options=("-o", f"{f}/o"))
        child = profile["processes"][1]
        check((child["locks"], child["acquisitions"], child["contended"], child["gave_up"], child["refused"], child["still_waiting"]) == (1, 0, 3, 3, 5, 1), str(child))
        pairs = [(w, h, x["count"], x.get("gave_up"), x.get("unfinished")) for w, h, x in blamed(profile)]
        check(sorted(pairs, key=str) == sorted([(lines("leave_an_orphan", "ORPHAN"), None, 3, 3, None), (lines("leave_an_orphan", "FOR_EVER"), None, 1, None, 1)], key=str), str(pairs))
        text = pathlib.Path(f, "o").read_text()
        for part in [f"({child['pid']}) under pawl_mutex: 0 acquisitions of 1 lock, 100.00 % contended", "   refused 5 calls of trylock\n"]:
            check(part in text, text)


@test
def a_child_that_does_nothing_but_wait_for_ever_has_its_line():
    with folder() as f:
        child = profiled(f, awkward(), "orphan", "only", options=("-o", f"{f}/o"))["processes"][1]
        check((child["locks"], child["acquisitions"], child["contended"], child["still_waiting"]) == (1, 0, 0, 1), str(child))
        text = pathlib.Path(f, "o").read_text()
        line = f"({child['pid']}) under pawl_mutex: 0 acquisitions of 1 lock, 100.00 % contended, "
        check(line in text and "  1 wait for a lock had not ended when it did\n" in text.split(line)[1], text)
        check(re.search(rf"\n *1 +{child['pid']} +0 +100.0 % .* mutex\n", text), text)


def only_wait(program, f):
    """Of a run in which one call waited, for `mutex`: what is known of its process, and of the wait."""
    profile = profiled(f, awkward(), program)
    check([w for w, _, _ in blamed(profile)] == [lines("want_it", "FIRST_WAIT")], str(blamed(profile)))
    wait = profile["waits"][0]
    check(wait["count"] == 1 and "gave_up" not in wait and "unfinished" not in wait, str(wait))
    process = next(p for p in profile["processes"] if p["contended"] > 0)
    check((process["contended"], process["gave_up"], process["still_waiting"]) == (1, 0, 0), str(process))
    return process, wait


@test
def a_wait_in_a_forks_child_is_one_from_its_call_to_its_end():
    with folder() as f:
        process, wait = only_wait("heir", f)
        check(process["acquisitions"] == 1 and wait["total_ns"] >= 60e6, str(wait))


@test
def a_wait_of_a_thread_that_may_be_cancelled_at_any_instruction_is_one():
    """It waits in slices, with a deadline each."""
    with folder() as f:
        process, wait = only_wait("sliced", f)
        check(process["acquisitions"] == 3 and wait["total_ns"] >= 200e6, str(wait))


@test
def a_wait_in_slices_that_times_out_is_one_in_vain():
    with folder() as f:
        output("run", f"--stats={f}/s", "--", awkward(), "overdue")
        s = json.loads(pathlib.Path(f, "s").read_text())
        check((s["acquisitions"], s["waits_in_vain"]) == (1, 1), str(s))


@test
def a_signalled_thread_that_waits_for_the_mutex_waits_for_its_holder():
    """The default lock would requeue it without waking it, and all of it would be a wait for the signal."""
    with folder() as f:
        for lock in "pawl_mutex", "mcs":
            profile = profiled(f, awkward(), "woken", options=("--lock", lock))
            waiter = lines("wait_for_signal", "WAITER")
            pairs = [(h, w["count"], w["total_ns"] >= 10e6) for w_, h, w in blamed(profile) if w_ == waiter]
            check(pairs == [(lines("wake_and_keep", "KEEPER"), 1, True)], f"{lock}: {blamed(profile)}")
            pairs = [(w, h, x["count"]) for w, h, x in blamed(profile, "condition variable")]
            check(pairs == [(waiter, lines("wake_and_keep", "WAKER"), 1)], f"{lock}: {pairs}")


@test
def the_call_of_a_function_of_c11_is_the_programs():
    with folder() as f:
        profile = profiled(f, awkward(), "c11", options=("--depth", 1))
        first, try_ = lines("wake_c11", "C11_FIRST"), lines("wake_c11", "C11_TRY")
        wait = lines("use_c11", "C11_WAIT")
        pairs = {(w, h) for w, h, _ in blamed(profile)}
        check({(lines("use_c11", "C11_LOCK"), first), (wait, try_)} <= pairs, str(pairs))
        check([(w, h) for w, h, _ in blamed(profile, "condition variable")] == [(wait, lines("wake_c11", "C11_SIGNAL"))], "the condition variable")


@test
def a_child_that_has_told_nobody_of_its_birth_leaves_its_parents_counts_alone():
    if not hasattr(ctypes.CDLL(None), "_Fork"):
        raise Skipped("the C library has no _Fork()")
    with folder() as f:
        profile = profiled(f, awkward(), "stray", status=128 + signal.SIGKILL)
        parent, child = profile["processes"]
        check((parent["acquisitions"], parent["exited"], child["acquisitions"], child["exited"]) == (2, False, 0, True), str(profile["processes"]))
        lock = next(l for l in profile["locks"] if l["name"] == "spin")
        check(lock["holds_timed"] == 1 and lock["hold_worst_ns"] >= 30e6, str(lock))
        pawl("run", f"--stats={f}/s", "--", awkward(), "stray")
        check(list(pathlib.Path(f).glob("s*")) == [], "statistics of a child that used no lock")


@test
def locks_that_nobody_waits_for_take_no_room_from_the_others():
    with folder() as f:
        profile = profiled(f, awkward(), "buried", 100000)
        holder = lines("bury", "BURIED_HOLDER")
        check([(w, h) for w, h, _ in blamed(profile)] == [(lines("want_buried", "BURIED_WAITER"), holder)], str(blamed(profile)))
        check(holder in [site(profile, h["stack"]) for h in profile["holds"]], "how long it was held")


@test
def acquisitions_of_every_kind_are_counted():
    with folder() as f:
        profile = profiled(f, awkward(), "kinds")
        check({l["name"]: (l["acquisitions"], l["refused"]) for l in profile["locks"]} ==
              {"recursive": (200, 0), "mutex": (200, 0), "spin": (200, 0), "checked": (400, 200), "adaptive": (200, 0)}, str(profile["locks"]))
        check(all(l["acquisitions"] / 4 > l["holds_timed"] > 32 for l in profile["locks"]), str(profile["locks"]))


@test
def an_owner_that_asks_again_is_refused():
    with folder() as f:
        process = profiled(f, awkward(), "checked")["processes"][0]
        check((process["acquisitions"], process["refused"]) == (1, 5), str(process))


@test
def calls_of_trylock_that_found_the_lock_taken_are_counted():
    with folder() as f:
        profile = profiled(f, awkward(), "try", options=("-o", f"{f}/o"))
        check({l["name"]: (l["refused"], l["contended"]) for l in profile["locks"]} == {"mutex": (5, 0), "spin": (5, 0)}, str(profile["locks"]))
        check(profile["processes"][0]["refused"] == 10 and "10 calls of trylock found their lock taken" in pathlib.Path(f, "o").read_text(), "in all")
        output("run", f"--stats={f}/s", "--", awkward(), "try")
        check(json.loads(pathlib.Path(f, "s").read_text())["refused"] == 10, "--stats")
        check("10 calls of trylock found their lock taken" in pathlib.Path(f, "s.txt").read_text(), "its table")


@test
def a_lock_that_was_only_tried_in_vain_stays_cheap():
    """Nobody waited for it: the stacks of later uses are not captured."""
    with folder() as f:
        profile = profiled(f, awkward(), "refused")
        lock = profile["locks"][0]
        check((lock["acquisitions"], lock["refused"], lock["contended"]) == (201, 5, 0) and lock["holds_timed"] > 32, str(lock))
        held = {site(profile, h["stack"]) for h in profile["holds"]}
        check(lines("be_refused_once", "AFTERWARDS") not in held, str(held))


@test
def calls_of_trylock_are_counted_for_any_number_of_locks():
    with folder() as f:
        profile = profiled(f, awkward(), "crowd", 20000)
        check(profile["processes"][0]["refused"] == sum(l["refused"] for l in profile["locks"]) == 20000, str(profile["processes"]))


def plugin(name, before):
    """With so many bytes before its mutex, so that the mutexes of two are not at one address."""
    return f"""
#include <pthread.h>
char bytes_before_{name}[{before}] = {{1}};
pthread_mutex_t mutex_of_{name} = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void use_{name}(void) {{ pthread_mutex_lock(&mutex_of_{name}); pthread_mutex_unlock(&mutex_of_{name}); __asm__ volatile(""); }}
void plugged_in(void) {{ use_{name}(); __asm__ volatile(""); }}
"""


@test
def locks_of_libraries_that_are_loaded_later_and_unloaded_have_their_names():
    with folder() as f:
        names = ["one", "two", "three"]
        for place, name in enumerate(names):
            harness.preload(f, name, plugin(name, 10000 * place + 1))
        profile = profiled(f, awkward(), "load", *(f"{f}/{name}.so" for name in names))
        check({l["name"] for l in profile["locks"]} == {"mutex", *(f"mutex_of_{name}" for name in names)}, str([l["name"] for l in profile["locks"]]))
        for name in names:
            lock = next(l for l in profile["locks"] if l["name"] == f"mutex_of_{name}")
            check(site(profile, lock["first"])[0] == f"use_{name}", str(frames(profile, lock["first"])))


@test
def without_stacks_a_lock_is_named_by_its_first_call():
    with folder() as f:
        profile = profiled(f, culprit(), "many", 1, options=("--depth", "1"))
        check(profile["locks"][0]["name"].startswith("mutex first used in use_many (culprit.c:"), profile["locks"][0]["name"])


@test
def one_report_that_cannot_be_written_leaves_the_others():
    with folder() as f, small_disk(f) as disk:
        p = pawl("profile", "--html", f"{disk}/page.html", "--trace", f"{f}/t", "--", culprit(), "many", 1)
        check((p.returncode, p.stderr) == (2, f"pawl: --html '{disk}/page.html': No space left on device\n"), p.stderr)
        check(json.loads(pathlib.Path(f, "t").read_text())["traceEvents"] and os.listdir(disk) == [], "the trace")


def may_not_raise(*command):
    """By somebody who may not raise limits, even if it is root."""
    keep = ("setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource") if os.getuid() == 0 else ()
    return run(*keep, *command)


@test
def a_report_that_a_limit_on_the_size_of_files_has_no_room_for_is_an_error():
    with folder() as f:
        for options in [("--json", "-"), ("--json", "/dev/stdout"), ("--json", f"{f}/p")]:
            with open(f"{f}/out", "w") as out:
                p = run("sh", "-c", 'ulimit -S -f 1; exec "$@"', "sh", harness.build / "pawl", "profile", *options, "--", culprit(), "exit", 1,
                        capture_output=False, stdout=out, stderr=subprocess.PIPE)
            name = "standard output" if options[1] == "-" else f"--json '{options[1]}'"
            check((p.returncode, p.stderr) == (2, f"pawl: {name}: File too large\n"), f"exit {p.returncode}: {p.stderr}")
        check(os.listdir(f) == ["out"], str(os.listdir(f)))
        p = may_not_raise("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", harness.build / "pawl", "run", f"--stats={f}/s", "--", culprit(), "many", 5)
        check((p.returncode, p.stderr) == (0, f"pawl: cannot write the statistics '{f}/s': File too large\n"), f"exit {p.returncode}: {p.stderr}")


@test
def a_child_of_a_program_that_limits_itself_lives():
    with folder() as f:
        p = may_not_raise(harness.build / "pawl", "run", f"--stats={f}/s", "--", hostile(), "children", 3)
        check(p.returncode == 0 and len(list(pathlib.Path(f).glob("s.*[0-9]"))) == 3, f"exit {p.returncode}: {p.stderr}")


@test
def a_limit_on_the_size_of_files_ends_nobody():
    with folder() as f:
        limited = lambda *command: run("sh", "-c", 'ulimit -f 100; "$@"', "sh", harness.build / "pawl", *command)
        p = limited("run", f"--stats={f}/s", "--", culprit(), "many", 5)
        check(p.returncode == 0 and json.loads(pathlib.Path(f, "s").read_text())["acquisitions"] == 5, f"exit {p.returncode}: {p.stderr}")
        p = limited("profile", "--json", f"{f}/p", "--", culprit(), "many", 5)
        if p.returncode == 0:  # it may raise the limit
            check(json.loads(pathlib.Path(f, "p").read_text())["processes"][0]["acquisitions"] == 5, "acquisitions")
        else:
            check((p.returncode, p.stderr) == (2, "pawl: no room for the tables: File too large\n"), f"exit {p.returncode}: {p.stderr}")
