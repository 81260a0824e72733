"""pawl bench: what each workload measures, and what measures through a library under pthread's mutexes"""

import csv
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess

from benches import BRIEF, QUICK, all_locks, bench, caught, points, results, something_was_done
from harness import check, environment, eventually, folder, output, preload, registered, run, test
import harness


@test
def tail_has_the_waits_of_every_lock_and_thread():
    b = results("tail", *BRIEF, "--oversubscription", "1")
    cpus = b["machine"]["cpus"]
    check(points(b) == [(n, cpus, "oversubscription 1") for n in all_locks()], "points")
    b = results("tail", *BRIEF, "--lock", "mcs,pawl_mutex,glibc")
    check(points(b) == [(n, r * cpus, f"oversubscription {r}") for r in [1, 2, 8, 32] for n in ["mcs", "pawl_mutex", "glibc"]], "points")
    for p in b["points"]:
        w = p["runs"][0]["wait_ns"]
        check(w["p50"] <= w["p90"] <= w["p99"] <= w["p99.9"] <= w["p99.99"] <= w["max"], f"{p['lock']}: {w}")
        check(len(w["threads"]) == p["threads"] and max(t["max"] for t in w["threads"]) == w["max"], f"{p['lock']}: threads")


@test
def schedule_tells_who_came_when():
    def told():
        b = results("schedule", *BRIEF, "--lock", "mcs,tts,pawl_mutex,glibc", "--threads", "1,3")
        check(points(b) == [(n, t, None) for t in [1, 3] for n in ["mcs", "tts", "pawl_mutex", "glibc"]], "points")
        for p in b["points"]:
            s = p["runs"][0].get("schedule")
            if s is None:
                return False  # nobody was admitted
            check(abs(sum(s["bypass"].values()) - 1) < 1e-9 and len(s["gaps"]) == p["threads"], str(s))
            check(set(s["first"]) <= set(range(p["threads"])) and s["bypass_each"] <= s["bypass_most"], str(s))
            check((s["palindromes"] is None) == (p["threads"] == 1) and p["runs"][0]["wait_ns"] is None, str(s))
            check(p["threads"] > 1 or (s["period"] == 1 and s["repeats"] == 1 and s["bypass_most"] == 0), str(s))
        return True

    eventually(told, "nobody was admitted")

    def shown():
        text = output("bench", "schedule", *BRIEF, "--lock", "mcs", "--threads", "1")
        check("mcs, 1 thread: longest gaps " in text and "period" in text, text)
        return "mcs, 1 thread: longest gaps 1\n  AAAA" in text

    eventually(shown, "nobody was admitted")


@test
def occasional_has_the_waits_of_the_rare_thread():
    b = results("occasional", *BRIEF, "--threads", "2,3", "--lock", "mcs,pawl_mutex,glibc")
    check(points(b) == [(n, t, None) for t in [2, 3] for n in ["mcs", "pawl_mutex", "glibc"]], "points")
    check(b["parameters"]["period_ns"] == 1000000 and b["parameters"]["cs"] == 1 and b["harness_ns"] is None, str(b["parameters"]))
    for p in b["points"]:
        r = p["runs"][0]
        w = r["wait_ns"]
        check(w["p50"] <= w["p99"] <= w["p99.9"] <= w["max"] == r["worst_wait_ns"] and len(w["threads"]) == 1, f"{p['lock']}: {w}")
        check(p["threads"] > 2 or r["jain"] in [0, 1], f"{p['lock']}: a share of the rare one: {r}")
    check({p["lock"] for p in results("occasional", *BRIEF, "--threads", "2")["points"]} == set(all_locks()), "not every lock")
    check(1 not in [p["threads"] for p in results("occasional", *BRIEF, "--lock", "tts")["points"]], "one thread beside none")
    eventually(lambda: something_was_done("occasional", *BRIEF, "--threads", "3", "--lock", "glibc", "--cs", "10us", "--period", "100us"), "no acquisition")


def queue_locks():
    return [p["lock"] for p in results("condvar", *BRIEF)["points"]]


@test
def condvar_measures_every_lock_that_has_a_condition_variable():
    known = [l for l in all_locks() if l in [*registered(), "glibc", "nsync", "abseil", "rust_std", "parking_lot"]]
    check(queue_locks() == known, f"{queue_locks()}, not {known}")
    for producers, consumers, places in [(1, 1, 64), (4, 4, 1), (1, 3, 2), (3, 1, 2)]:  # whoever forgets somebody hangs
        b = results("condvar", *BRIEF, "--producers", producers, "--consumers", consumers, "--places", places)
        check({p["threads"] for p in b["points"]} == {producers + consumers} and b["unit"] == "items/s", "threads")
        p = b["parameters"]
        check((p["producers"], p["consumers"], p["places"]) == (producers, consumers, places), str(p))
        check(all(p["runs"][0]["fairness"] is p["runs"][0]["worst_wait_ns"] is None for p in b["points"]), "shares and waits")
    for lock in ["pawl_mutex", "pawl_fairmutex", "mcs", "glibc"]:
        eventually(lambda lock=lock: something_was_done("condvar", *BRIEF, "--lock", lock, "--duration", "50ms"), f"{lock}: no item")


@test
def a_queue_that_loses_items_is_caught():
    for _ in range(300):  # on a busy machine no thread may run in time
        p = run(harness.build / "pawl-broken", "bench", "condvar", *QUICK[2:], "--lock", "broken", "--producers", "3", "--consumers", "3", "--places", "3")
        if p.returncode != 0:
            break
    check((p.returncode, p.stdout) == (1, ""), f"exit {p.returncode}: {p.stdout}")
    check(p.stderr == "pawl: broken: items got lost or arrived twice between 6 threads\n", p.stderr)


GRID = ["grid", *BRIEF]


@test
def a_grid_has_every_cell_with_its_parameters():
    b = results(*GRID)
    locks = {p["lock"] for p in b["points"]}
    check({"pawl_mutex", "glibc", "glibc_adaptive", "barging"} <= locks <= {"pawl_mutex", "glibc", "glibc_adaptive", "barging", "nsync", "abseil", "rust_std", "parking_lot"}, str(locks))
    with_queues, cells = set(queue_locks()), {}
    for p in b["points"]:
        cells.setdefault((p["threads"], p["pin"], p["variant"]), []).append(p)
    check(len(cells) == 25 and len(set(points(b))) <= len(b["points"]), f"{len(cells)} cells")
    for (threads, pin, variant), members in cells.items():
        cell = members[0]["cell"]
        check(all(p["cell"] == cell for p in members), f"{variant}: cells differ")
        wanted = locks & with_queues if cell["workload"] == "condvar" else locks
        check({p["lock"] for p in members} == wanted, f"{variant}: {[p['lock'] for p in members]}")
        check((cell["workload"] == "occasional") == (members[0]["runs"][0]["wait_ns"] is not None), variant)
    found = {(p["cell"]["workload"], p["threads"], p["pin"], p["cell"].get("cs_ns"), p["cell"].get("ncs"), p["cell"].get("load"), p["cell"].get("places")) for p in b["points"]}
    for cell in [("mutexbench", 256, "free", None, 400, None, None), ("mutexbench", 4, "free", 20000, 0, None, None), ("mutexbench", 8, "free", None, 400, 2, None),
                 ("mutexbench", 16, "compact", None, 0, None, None), ("occasional", 16, "free", 10000, 0, None, None), ("condvar", 8, "free", None, None, None, 1)]:
        check(cell in found, f"{cell} is not in {found}")


@test
def a_grid_says_where_a_lock_is_ahead_and_where_behind():
    text = output("bench", *GRID, "--lock", "pawl_mutex,glibc,barging")
    ahead, behind = [int(re.search(rf"^pawl_mutex is {word}, most of all first, in (\d+):$", text, re.MULTILINE)[1]) for word in ["ahead of all others", "behind"]]
    check(ahead + behind == 25 + 2, f"{ahead} and {behind} rows of 25 cells, two of them also with waits")
    rows = [line for line in text.splitlines() if re.match(r"\d+ threads?,", line)]
    check(len(rows) == 27 and sum("; its p99" in row for row in rows) == 2, f"{len(rows)} rows")
    ratios = [[float(x) if x != "-" else None for x in re.search(r"  +(\S+)  (?:glibc|barging) +(\S+) ", row).groups()] for row in rows]
    for (ours, best), is_ahead in zip(ratios, [True] * ahead + [False] * behind):
        check(ours is None or best is None or (ours >= best - 0.011) == is_ahead or abs(ours - best) < 0.011, f"{ours} and {best} in the wrong list")
    check("no lock of Pawl" in output("bench", *GRID, "--lock", "glibc"), "only peers")


@test
def a_grid_leaves_out_no_round():
    def row_of(ours, glibc, barging):
        p = run(harness.build / "grid_rows", f"pawl_mutex={ours}", f"glibc={glibc}", f"barging={barging}")
        check(p.returncode == 0 and not p.stderr, f"exit {p.returncode}: {p.stderr}")
        ahead = re.search(r"is ahead of all others, most of all first, in (\d):$", p.stdout, re.MULTILINE)[1] == "1"
        return (ahead, *re.search(r"^2 threads, a cell +(\S+)  (\S+) +(\S+) ", p.stdout, re.MULTILINE).groups())

    for values, wanted in [(("4,4,4", "1,1,1", "2,2,2"), (True, "4.00", "barging", "2.00")),
                           (("4,0,4", "1,1,1", "2,2,2"), (True, "4.00", "barging", "2.00")),
                           (("4,0,0", "1,1,1", "2,2,2"), (False, "0.00", "barging", "2.00")),
                           (("4,4,4", "0,9,0", "2,2,2"), (True, "-", "barging", "-")),  # glibc by its only round: 0.44
                           (("4,4,4", "1,0,1", "8,8,8"), (False, "-", "barging", "-")),
                           (("0,4,4", "1,0,1", "8,8,8"), (False, "-", "barging", "-")),
                           (("8,8,0", "1,0,1", "4,4,4"), (True, "-", "barging", "-"))]:
        check(row_of(*values) == wanted, f"{values}: {row_of(*values)}, not {wanted}")


@test
def a_grid_as_csv_has_the_parameters_of_each_cell():
    lines = list(csv.DictReader(io.StringIO(output("bench", *GRID, "--lock", "pawl_mutex", "--csv"))))
    check(len(lines) == 25 and {line["workload"] for line in lines} == {"grid"}, f"{len(lines)} lines")
    found = [(line["cell"], line["threads"], line["cs"], line["cs_ns"], line["load"], line["places"]) for line in lines]
    for line in [("mutexbench", "8", "1", "", "2", ""), ("mutexbench", "4", "", "200000", "", ""), ("condvar", "8", "", "", "", "64")]:
        check(line in found, f"{line} is not in {found}")


@test
def quick_grids_are_quick_and_options_after_it_prevail():
    with folder() as f:
        text = output("bench", "grid", *BRIEF, "--quick", "--duration", "5ms", "--lock", "glibc", "-j")
        p = json.loads(text)["parameters"]
        check((p["duration_s"], p["processes"]) == (0.005, 5), str(p))
        p = results("grid", "--quick", "--runs", "1", "--lock", "glibc")["parameters"]
        check((p["duration_s"], p["processes"]) == (0.06, 1), str(p))
        for name in ["a", "b"]:
            open(f"{f}/{name}.json", "w").write(text)
        check("0 slower, 0 faster, 25 without" in output("compare", f"{f}/a.json", f"{f}/b.json"), "two grids")
        output("report", f"{f}/a.json", "-o", f"{f}/page.html")


@test
def multiwait_measures_every_lock():
    b = results("multiwait", *BRIEF, "--threads", "2")
    check(points(b) == [(n, 2, None) for n in all_locks()], "points")
    check(b["unit"] == "rounds/s" and b["parameters"]["locks"] == 10, str(b["parameters"]))
    b = results("multiwait", "-d", "50ms", "-r", "1", "--lock", "hemlock,mcs,clh,ck_clh" if "ck_clh" in all_locks() else "hemlock,mcs,clh", "--threads", "1,3")
    for p in b["points"]:
        check(p["runs"][0]["fairness"] is None, f"{p['lock']}: a share")
    eventually(lambda: something_was_done("multiwait", "-d", "50ms", "-r", "1", "--lock", "mcs", "--threads", "3"), "no round")


@test
def ring_waits_in_four_ways():
    b = results("ring", *BRIEF, "--threads", "1,2")
    check(points(b) == [("ring", t, v) for t in [1, 2] for v in ["load", "cas", "swap", "faa"]], "points")
    check(b["harness_ns"] is None, "a loop without a lock")
    eventually(lambda: something_was_done("ring", *BRIEF, "--threads", "2"), "no hand-over")
    check(points(results("ring", *BRIEF, "--threads", "2", "--by", "swap,load")) == [("ring", 2, "load"), ("ring", 2, "swap")], "--by")


@test
def pingpong_measures_pairs_of_cpus():
    cpus = bench("--lock", "tts", "--threads", "1")["machine"]["cpus"]
    if cpus < 2:
        harness.refused(["bench", "pingpong"], "two CPUs")
        return
    b = results("pingpong", *BRIEF)
    check(len(b["points"]) == min(cpus - 1, 64) and b["unit"] == "ns" and not b["higher_is_better"], "points")
    eventually(lambda: something_was_done("pingpong", *BRIEF), "no time at all")


def interposable():
    return [p["lock"] for p in results("atomic-struct", *BRIEF, "--threads", "1", "--by", "exchange")["points"]]


@test
def atomic_struct_runs_with_every_interposer_and_without():
    names = interposable()
    libraries = [l.name[len("libpawl-"):-len(".so")] for l in (harness.build / "preload").glob("libpawl-*.so") if l.name != "libpawl-native.so"]
    check(sorted(names) == sorted(libraries + ["glibc"]) and "pawl_mutex" in names, f"{names} and {libraries}")
    b = results("atomic-struct", *BRIEF, "--threads", "2")
    check(points(b) == [(n, 2, v) for v in ["exchange", "cas"] for n in names], "points")
    for preset, variant, ncs in [("hapax-fig1", "exchange", 100), ("reciprocating-fig2a", "exchange", 0), ("reciprocating-fig2b", "cas", 0)]:
        b = results("atomic-struct", *BRIEF, "--lock", "glibc", "--threads", "2", "--preset", preset)
        check(points(b) == [("glibc", 2, variant)] and b["parameters"]["ncs"] == ncs and b["preset"] == preset, preset)


@test
def leveldb_runs_with_every_interposer_and_without_and_cleans_up():
    if not (harness.build / "bench/pawl-bench-leveldb").exists():
        harness.refused(["bench", "leveldb"], "libleveldb")
        return
    with folder() as f:
        b = results("leveldb", *BRIEF, "--threads", "2", "--entries", "1000", env=environment(TMPDIR=f))
        check(points(b) == [(n, 2, None) for n in interposable()], "points")
        check(b["parameters"]["entries"] == 1000, "entries")
        eventually(lambda: something_was_done("leveldb", *BRIEF, "--threads", "2", "--entries", "1000", "--lock", "glibc", env=environment(TMPDIR=f)), "no reads")
        check(os.listdir(f) == [], f"left behind: {os.listdir(f)}")


@test
def an_interrupted_leveldb_leaves_nothing_behind():
    if not (harness.build / "bench/pawl-bench-leveldb").exists():
        return
    # A terminal sends its signals to all processes of a command.
    for sign, send in [(signal.SIGINT, os.kill), (signal.SIGINT, os.killpg), (signal.SIGQUIT, os.killpg), (signal.SIGKILL, os.kill)]:
        with folder() as f:
            p = subprocess.Popen([harness.build / "pawl", "bench", "leveldb", "--entries", "100000", "--duration", "60s"], env=environment(TMPDIR=f),
                                 start_new_session=True, preexec_fn=lambda sign=sign: (sign != signal.SIGKILL and signal.signal(sign, signal.SIG_DFL), resource.setrlimit(resource.RLIMIT_CORE, (0, 0))))
            eventually(lambda: any(files for _, _, files in os.walk(f)), "no database")
            send(p.pid, sign)
            check(p.wait(300) == -sign, f"exit {p.returncode}")
            eventually(lambda: os.listdir(f) == [], f"left behind: {os.listdir(f)}")


@test
def a_folder_that_is_not_there_is_no_place_for_leveldb():
    if (harness.build / "bench/pawl-bench-leveldb").exists():
        harness.refused(["bench", "leveldb"], "TMPDIR '/nowhere': No such file", env=environment(TMPDIR="/nowhere"))


def build_with_one_interposer(f):
    """A folder with the command, a measuring program, and room for libpawl-ticket.so."""
    for path in ["pawl", "bench/pawl-bench-atomic-struct"]:
        os.makedirs(os.path.dirname(f"{f}/{path}"), exist_ok=True)
        shutil.copy(harness.build / path, f"{f}/{path}")
    os.mkdir(f"{f}/preload")
    return f"{f}/preload/libpawl-ticket.so"


@test
def an_interposer_that_lets_two_threads_in_is_caught():
    with folder() as f:
        library = build_with_one_interposer(f)
        open(f"{f}/open.c", "w").write("int pthread_mutex_lock(void *m) { return m == 0; }\nint pthread_mutex_unlock(void *m) { return m == 0; }\n")
        p = run("cc", "-shared", "-fPIC", "-o", library, f"{f}/open.c")
        check(p.returncode == 0, p.stderr)
        for way in ["exchange", "cas"]:
            caught("ticket", f"{f}/pawl", "bench", "atomic-struct", "--by", way, "--lock", "ticket", "--threads", "4", *QUICK[2:])


@test
def an_interposer_that_cannot_be_loaded_is_no_result():
    with folder() as f:
        open(build_with_one_interposer(f), "w").write("no library")
        p = run(f"{f}/pawl", "bench", "atomic-struct", *BRIEF, "--lock", "ticket", "--threads", "1")
        check(p.returncode == 2 and p.stdout == "", f"exit {p.returncode}: {p.stdout}")
        check("pawl: ticket: " in p.stderr and "could not be loaded" in p.stderr, p.stderr)


@test
def a_measuring_program_that_cannot_be_started_is_no_result():
    with folder() as f:
        build_with_one_interposer(f)
        os.chmod(f"{f}/bench/pawl-bench-atomic-struct", 0o644)
        preload(f, "late", "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n"
                "int fork(void) { int child = ((int (*)(void))dlsym(RTLD_NEXT, \"fork\"))(); if (child > 0) usleep(50000); return child; }")
        for env in [environment(), environment(LD_PRELOAD=f"{f}/late.so")]:  # it may end before or after it is asked
            p = run(f"{f}/pawl", "bench", "atomic-struct", *BRIEF, "--lock", "glibc", "--threads", "1", env=env)
            check((p.returncode, p.stdout, p.stderr) == (2, "", "pawl: atomic-struct: cannot start the measuring program\n"), f"exit {p.returncode}: {p.stderr}")
