"""pawl profile, with locks that are easily counted wrong"""

import json
import os
import pathlib

from harness import check, folder, output, pawl, run, test
from profiles import blamed, culprit, line_of, profiled, site, small_disk
import harness


def awkward():
    return harness.build / "tests/profile/awkward"


def lines(function, mark):
    return function, line_of(f"/* {mark} */", "awkward.c")


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
        pairs = {w: (h, x["count"]) for w, h, x in blamed(profiled(f, awkward(), "late"), "condition variable")}
        check(pairs == {lines("be_late", "WOKEN"): (lines("signal_once", "SIGNAL"), 1), lines("be_late", "LATE"): (None, 2)}, str(pairs))


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
def of_quiet_locks_those_that_are_used_most_are_listed():
    with folder() as f:
        found = [l["acquisitions"] for l in profiled(f, awkward(), "quiet")["locks"]]
        check(found == list(range(30, 10, -1)), str(found))


PLUGIN = """
#include <pthread.h>
pthread_mutex_t mutex_of_the_plugin = PTHREAD_MUTEX_INITIALIZER;
void plugged_in(void) { pthread_mutex_lock(&mutex_of_the_plugin); pthread_mutex_unlock(&mutex_of_the_plugin); __asm__ volatile(""); }
"""


@test
def locks_of_libraries_that_are_loaded_later_have_their_names():
    with folder() as f:
        harness.preload(f, "plugin", PLUGIN)
        names = [l["name"] for l in profiled(f, awkward(), "load", f"{f}/plugin.so")["locks"]]
        check(set(names) == {"mutex", "mutex_of_the_plugin"}, str(names))


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
