"""The reports of pawl profile: the page in headless Chromium, folded stacks, Chrome's trace events, text"""

import atexit
import functools
import json
import pathlib
import sys

from harness import Skipped, check, eventually, folder, pawl, root, run, test
from profiles import attached, culprit, hottest, line_of, obstacle, running
import harness

sys.path.append(str(root / "tests/report"))
from browser import Browser  # noqa: E402


@functools.cache
def browser():
    b = Browser()
    atexit.register(b.close)
    return b


def opened(f, *arguments, scheme="light"):
    p = pawl("profile", "--html", f"{f}/p.html", "--", culprit(), *arguments)
    check(p.returncode == 0, p.stderr)
    return shown(f, scheme)


def shown(f, scheme):
    b = browser()
    b.media(scheme)
    b.open(f"{f}/p.html")
    check(b.run("return typeof pawlProfile") == "object", "the script did not run to its end")
    complaints = b.complaints()
    check(not complaints, f"console: {complaints}")
    check(b.run("return performance.getEntriesByType('resource').length") == 0, "it asked for something")
    check(b.run("return document.documentElement.scrollWidth <= innerWidth"), "it is wider than the window")
    return b


WIDTHS = """return [...document.querySelectorAll('#flame g.frame')].map((g) =>
  [g.querySelector('.d3-flame-graph-label').textContent, Number(g.querySelector('rect').getAttribute('width'))])"""


def drawn(b):
    """What the flame graph shows, when it stands still."""
    b.wait_for("return Math.abs(document.querySelector('#flame rect').getAttribute('width') - document.querySelector('#flame').clientWidth) < 2")
    widths = {}
    for name, width in b.run(WIDTHS):  # a line may be reached in several ways
        widths[name] = widths.get(name, 0) + width
    return widths


@test
def page_draws_where_threads_waited_and_who_made_them_wait():
    for scheme in ["light", "dark"]:
        with folder() as f:
            b = opened(f, "exit", 3, scheme=scheme)
            bars = drawn(b)
            whole = bars["time waited"]
            holder = f"holder_a (culprit.c:{line_of('/* HOLDER */')})"
            for mark, name in [("WAITER_B", "waiter_b"), ("WAITER_C", "waiter_c")]:
                width = bars[f"{name} (culprit.c:{line_of(mark)})"]
                check(0.2 * whole < width < 0.8 * whole, f"{name}: {width} of {whole}")
            check(f"blocked by {holder}" in bars, str(bars))
            b.run("const s = document.getElementById('flame-view'); s.value = 'holder'; s.dispatchEvent(new Event('change'))")
            bars = drawn(b)
            check(abs(bars[holder] - bars["time waited"]) < 1, str(bars))


@test
def page_shows_a_matrix_a_timeline_and_a_table():
    with folder() as f:
        b = opened(f, "exit", 8)
        matrix = b.run("return pawlProfile.state.matrix")
        check(matrix["holders"] == [f"holder_a (culprit.c:{line_of('/* HOLDER */')})"], str(matrix))
        check(len(matrix["waiters"]) == 2 and all(ns > 80e6 for ns in matrix["matrix"][0]), str(matrix))
        check(b.run("return document.querySelectorAll('#blame td.heat').length") == 2, "cells")
        check(b.run("return document.querySelectorAll('#timeline g.wait').length") == 10, "the ten longest waits")
        held = b.run("return [...document.querySelectorAll('#timeline g.wait')].map((g) => ['holder', 'waiter'].map((c) => Number(g.querySelector('.' + c).getAttribute('width'))))")
        check(all(h >= w > 2 for h, w in held), f"a hold is as long as the wait for its end: {held}")
        check(b.run("return document.querySelector('#locks tbody').innerText").startswith("wanted"), "the table")
        holds = b.run("return [...document.querySelectorAll('#holds tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        check(holds[0][:3] == [f"holder_a (culprit.c:{line_of('/* HOLDER */')})", "wanted", "8"] and len(holds) == 3, str(holds))


@test
def page_shows_waits_that_never_ended():
    with folder() as f:
        p = pawl("profile", "--html", f"{f}/p.html", "--", harness.build / "tests/profile/waiters", "deadlock")
        check(p.returncode == 128 + 9, p.stderr)
        b = shown(f, "light")
        check(b.run("return [...document.querySelectorAll('#timeline g.wait')].map((g) => g.textContent.includes('has not ended'))") == [True] * 2, "time line")
        check("2 waits for a lock had not ended" in b.run("return document.querySelector('.doubts').innerText"), "the note")


@test
def page_says_what_was_wanted_in_vain():
    for how, note in [("late", "4 of the waits ended at their deadline, without the lock"), ("try", "10 calls of trylock found their lock taken")]:
        with folder() as f:
            p = pawl("profile", "--html", f"{f}/p.html", "--", harness.build / "tests/profile/awkward", how)
            check(p.returncode == 0 and note in shown(f, "light").run("return document.querySelector('.doubts').innerText"), note)


@test
def page_says_how_many_waits_had_no_place():
    with folder() as f:
        p = pawl("profile", "--html", f"{f}/p.html", "--", harness.build / "tests/profile/waiters", "hang", 4200)
        check(p.returncode == 128 + 9, p.stderr)
        check(" more had not ended, and are not shown: " in shown(f, "light").run("return document.querySelector('.doubts').innerText"), "the note")


@test
def page_of_a_process_that_ran_already_says_who_woke_whom():
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f, running(culprit(), "forever", 3) as process:
        eventually(lambda: hottest(attached(process.pid), "wanted"), "never found")
        p = pawl("profile", "-p", process.pid, "--for", "500ms", "--html", f"{f}/p.html")
        check(p.returncode == 0, p.stderr)
        b = shown(f, "light")
        check(b.run("return document.querySelector('#blame h2').textContent") == "Who wakes whom", "the matrix")
        check(any(name.startswith("woken by ") for name in drawn(b)), str(drawn(b)))
        check("slept in the kernel" in b.run("return document.querySelector('.doubts').innerText"), "what is not seen")
        titles = b.run("return [...document.querySelectorAll('#locks th')].map((t) => t.textContent)")
        check(titles == ["Lock", "Kind", "Process", "Waits", "Waited", "Worst wait"], str(titles))
        check(b.run("return document.querySelectorAll('#timeline .holder').length") == 0, "no holds are known")


@test
def page_is_not_changed_by_what_is_in_names():
    with folder() as f:
        name = "</script><script>document.title='changed'</script><img src=x>"
        b = opened(f, "exit", 1, name)
        check(b.run("return document.title") == "Pawl profile" and b.run("return document.images.length") == 0, "it ran")
        check(name in b.run("return document.body.innerText"), "the command")


@test
def page_of_a_program_without_waits_says_so():
    with folder() as f:
        b = opened(f, "many", 3)
        check(b.run("return document.getElementById('blame').innerText").endswith("Nobody waited for a lock."), "matrix")
        check(b.run("return document.querySelectorAll('#locks tbody tr').length") == 3, "locks")


@test
def folded_stacks_and_trace_events_are_what_others_read():
    with folder() as f:
        p = pawl("profile", "--folded", f"{f}/f", "--trace", f"{f}/t", "--json", f"{f}/j", "--", culprit(), "exit", 3)
        check(p.returncode == 0 and p.stderr == "", p.stderr)
        profile = json.loads(pathlib.Path(f, "j").read_text())
        total = 0
        for line in pathlib.Path(f, "f").read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            names = stack.split(";")
            check(names[0] == "wanted" and names[-1].startswith("blocked by holder_a (") and names[-2].startswith("lock_it ("), line)
            total += int(count)
        check(total == sum(w["total_ns"] for w in profile["waits"]), f"{total} ns")
        events = json.loads(pathlib.Path(f, "t").read_text())["traceEvents"]
        waits = [e for e in events if e["ph"] == "X" and e["name"] == "wait for wanted"]
        check(len(waits) == 6 and all(e["dur"] >= 10e3 and "holder_a" in e["args"]["blocked by"] for e in waits), str(waits))
        holds = [e for e in events if e["ph"] == "b" and e["name"] == "holds wanted"]
        check(len(holds) == 6 and {e["tid"] for e in holds}.isdisjoint({e["tid"] for e in waits}), str(holds))


def check_trace(path):
    """By the rules of the trace event format: what each kind of event has, ends that belong to beginnings, and slices of a thread that
    follow each other or lie one in the other, because viewers drop those that overlap."""
    trace = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    check(list(trace) == ["traceEvents"], "Perfetto ignores what follows a key it does not know, and older versions take displayTimeUnit for the unit of ts")
    slices, begun = {}, {}
    for e in trace["traceEvents"]:
        needed = ("pid",) if e["name"] == "process_name" else ("pid", "tid")
        whole = all(isinstance(e[k], int) and e[k] >= 0 for k in needed) and isinstance(e["name"], str) and e["name"]
        check(whole and isinstance(e["args"], dict), str(e))
        if e["ph"] == "M":
            check(e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str), str(e))
            continue
        check(isinstance(e["ts"], (int, float)) and e["ts"] >= 0 and isinstance(e["cat"], str), str(e))
        if e["ph"] == "X":
            check(e["dur"] >= 0, str(e))
            slices.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
        else:
            key = (e["pid"], e["cat"], e["id"], e["name"])
            check(e["ph"] in "be" and (e["ph"] == "e") == (key in begun), str(e))
            check(e["ts"] >= begun.pop(key, 0), str(e))
            begun.update({key: e["ts"]} if e["ph"] == "b" else {})
    check(not begun, f"never ended: {begun}")
    for thread, spans in slices.items():
        open_ends = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            check(not open_ends or end <= open_ends[-1], f"{thread}: {start} to {end} overlaps with another that ends at {open_ends}")
            open_ends.append(end)
    return slices


# Thread a holds one while b waits, goes on, and waits for two, all before b runs again: b is told to stay where it is.
OVERLAP = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "asleep.h"
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static volatile pid_t tids[3];
static sem_t held, taken;
static void until_asleep(int who) { while (tids[who] == 0 || !is_asleep(tids[who])) nap(1); nap(5); }
static void *a(void *p)
{
    tids[0] = gettid();
    pthread_mutex_lock(&one);
    sem_post(&held), sem_post(&held);
    until_asleep(1), until_asleep(2);
    pthread_mutex_unlock(&one); /* b or c has it now, and keeps it until a waits for two */
    sem_wait(&taken);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    return p;
}
static void *other(void *p)
{
    static int first = 1;
    sem_wait(&held);
    tids[p != NULL ? 2 : 1] = gettid();
    pthread_mutex_lock(&one);
    if (first) {
        first = 0;
        pthread_mutex_lock(&two);
        sem_post(&taken);
        until_asleep(0);
        pthread_mutex_unlock(&one); /* the other's wait, which began when a had it, ends before a's for two */
        nap(20);
        pthread_mutex_unlock(&two);
    } else {
        pthread_mutex_unlock(&one);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, a, NULL);
    pthread_create(&t[1], NULL, other, NULL);
    pthread_create(&t[2], NULL, other, &held);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}
"""


@test
def trace_events_obey_the_rules_of_their_format():
    with folder() as f:
        pathlib.Path(f, "overlap.c").write_text(OVERLAP)
        p = run("cc", "-w", "-g", "-O1", f"-I{root}/tests/profile", "-o", f"{f}/overlap", f"{f}/overlap.c", "-lpthread")
        check(p.returncode == 0, p.stderr)
        for command, status in [((f"{f}/overlap",), 0), ((culprit(), "exit", 3), 0), ((culprit(), "fork", 2), 0), ((culprit(), "cond"), 0),
                                ((harness.build / "tests/profile/waiters", "deadlock"), 128 + 9)]:
            p = pawl("profile", "--trace", f"{f}/t", "--", *command)
            check(p.returncode == status and check_trace(f"{f}/t"), f"{command}: exit {p.returncode}: {p.stderr}")


@test
def folded_stacks_and_trace_events_tell_a_signal_from_a_hold():
    with folder() as f:
        p = pawl("profile", "--folded", f"{f}/f", "--trace", f"{f}/t", "--", culprit(), "cond")
        check(p.returncode == 0 and p.stderr == "", p.stderr)
        lines = [l for l in pathlib.Path(f, "f").read_text().splitlines() if l.startswith("ready_changed;")]
        check(len(lines) == 1 and f";woken by waker (culprit.c:{line_of('/* WAKER */')}) " in lines[0], str(lines))
        events = [e for e in json.loads(pathlib.Path(f, "t").read_text())["traceEvents"] if e["name"].endswith(" ready_changed")]
        check([e["name"] for e in events] == ["wait for ready_changed"] and "waker" in events[0]["args"]["woken by"], str(events))


@test
def text_says_who_blocked_whom():
    p = pawl("profile", "--", culprit(), "exit", 3)
    check(p.returncode == 0 and p.stdout == "", p.stdout)
    for part in [f"blocked by holder_a (culprit.c:{line_of('/* HOLDER */')}): ", "        lock_it (culprit.c:",
                 f"waiting: waiter_b (culprit.c:{line_of('WAITER_B')}): ", "9 acquisitions of 1 lock, 66.67 % contended",
                 f"held by holder_a (culprit.c:{line_of('/* HOLDER */')}): ", "in 3 timed holds, mean "]:
        check(p.stderr.count(part) >= 1, f"{part}: {p.stderr}")
    check(p.stderr.count("waiting: waiter_b") == p.stderr.count("blocked by") == 1, f"by day and by night it is one site: {p.stderr}")
    check("1 acquisition of 1 lock, " in pawl("profile", "--", culprit(), "many", 1).stderr, "one")
