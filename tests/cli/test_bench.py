"""pawl bench, and pawl demo"""

import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import time

import jsonschema

from benches import BRIEF, QUICK, SCHEMA, all_locks, bench, caught, points, results
from harness import check, children, environment, eventually, folder, output, pawl, preload, registered, root, run, test
import harness

GLIBC = ["glibc", "glibc_adaptive", "glibc_spin"]  # and one of our own, in the manner of parking_lot
ALWAYS = [*GLIBC, "barging"]
CALLS = ["membarriers_per_1000", "futex_waits_per_1000", "futex_waits_void_per_1000", "futex_wakes_per_1000"]
PEERS = {"ck": ["ck_fas", "ck_ticket", "ck_mcs", "ck_clh"], "nsync": ["nsync"], "abseil": ["abseil"], "rust": ["rust_std", "parking_lot"]}


@test
def samples_and_schema_agree():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    for file in (root / "tests/cli/data").glob("*.json"):
        jsonschema.validate(json.loads(file.read_text()), SCHEMA)


@test
def mutexbench_measures_every_lock_alone_and_in_pairs():
    b = results("mutexbench", *BRIEF, "--threads", "1,2")
    names = [p["lock"] for p in b["points"] if p["threads"] == 1]
    check(names[:len(registered()) + 5] == registered() + ["pawl_mutex_call", *ALWAYS], str(names))
    check(points(b) == [(n, t, None) for t in [1, 2] for n in names], "points")
    for p in b["points"]:
        r = p["runs"][0]
        check(p["threads"] > 1 or r["value"] == 0 or (r["fairness"] == 1 and r["jain"] == 1), f"{p['lock']}: one thread is unfair to itself")
        if p["threads"] == 2:
            f = r["fairness"]
            check(r["value"] == 0 or abs(r["jain"] - (1 + f) ** 2 / (2 + 2 * f * f)) < 1e-9, f"{p['lock']}: Jain's index of {f} to 1 is not {r['jain']}")
        check(r["worst_wait_ns"] <= r["starvation_ns"] * 1.5 + 1e6, f"{p['lock']}: a wait longer than any starvation")
        check(p["family"] == ("pawl" if p["lock"] in registered() + ["pawl_mutex_call"] else "peer"), p["lock"])
    idle, duration = {p["lock"] for p in b["points"] if p["median"] == 0}, 5
    while idle:  # on a busy machine threads may get nothing done in a moment
        duration *= 2
        check(duration < 10000, f"no acquisition: {idle}")
        b = results("mutexbench", *BRIEF, "--threads", "1,2", "--duration", f"{duration}ms", "--lock", ",".join(idle))
        idle = {p["lock"] for p in b["points"] if p["median"] == 0}
    check(b["harness_ns"] > 0, "harness_ns")


@test
def locks_are_inlined_into_the_loops():
    if os.uname().machine != "x86_64":
        return
    code = run("objdump", "-d", "--no-show-raw-insn", harness.build / "pawl").stdout
    loops = dict(re.findall(r"^[0-9a-f]+ <bench_do_(\w+)>:\n((?:.+\n)*)", code, re.MULTILINE))
    inline = {name for header in (root / "include/pawl").rglob("*.h")
              for name in re.findall(r"^static inline (?:[^(]*\W)?(\w+)\(", header.read_text(), re.MULTILINE)}
    check({"pawl_mcs_release", "pawl_post"} <= inline, "what is inline?")
    for lock in [l.removeprefix("pawl_") for l in registered()]:
        for loop in ["work", "work_timed", "record", "record_timed", "lead", "follow", "pairs"]:
            calls = re.findall(r"\bcall\s+(.*)", loops[f"{lock}_{loop}"])
            missed = [c for c in calls if "*" in c or (m := re.search(r"<(\w+)", c)) and (m[1] in inline or m[1].startswith("bench_"))]
            check(not missed, f"{lock}: its loop calls {missed}")


@test
def mutexbench_measures_all_locks_of_a_peer_or_none():
    names = all_locks()
    for locks in PEERS.values():
        check(len(set(locks) & set(names)) in [0, len(locks)], f"of {locks}, only some")
    unknown = set(names) - set(registered()) - {"pawl_mutex_call"} - set(ALWAYS) - {l for p in PEERS.values() for l in p}
    check(not unknown, f"not known to this test: {unknown}")


@test
def mutexbench_json_says_what_was_measured_and_where():
    b = bench("--lock", "ticket,pthread", "--threads", "2", "--ncs", "random:40", "--cs", "3", "--runs", "3", "--wait", "yield")
    check(b["workload"] == "mutexbench" and b["preset"] is None and b["unit"] == "acquisitions/s", "head")
    expected = {"duration_s": 0.02, "warm_up_s": 0.005, "processes": 3, "pin": "free", "wait": "yield", "cs": 3, "ncs": 40,
                "ncs_random": True, "generator": "xoroshiro128+"}
    check(b["parameters"] == expected, f"parameters: {b['parameters']}")
    check(points(b) == [("ticket", 2, None), ("glibc", 2, None)], str(points(b)))


@test
def mutexbench_knows_the_figures_of_the_papers():
    figures = {"max": (1, 0, False, "xoroshiro128+"), "moderate": (1, 500, False, "xoroshiro128+"),
               "hapax-fig3-max": (1, 0, False, "xoroshiro128+"), "hapax-fig3-moderate": (1, 500, False, "xoroshiro128+"),
               "reciprocating-fig1a": (1, 0, False, "mt19937"), "reciprocating-fig1b": (1, 250, True, "mt19937"),
               "hemlock-fig2": (0, 0, False, "mt19937"), "hemlock-fig3": (5, 400, True, "mt19937"),
               "capacitors-fig1": (1, 0, False, "mt19937")}
    for name, figure in figures.items():
        b = results("mutexbench", *BRIEF, "--lock", "mcs", "--threads", "2", "--preset", name)
        p = b["parameters"]
        check(b["preset"] == name and (p["cs"], p["ncs"], p["ncs_random"], p["generator"]) == figure, f"{name}: {p}")
    b = results("mutexbench", *BRIEF, "--lock", "mcs", "--threads", "2", "--preset", "moderate", "--ncs", "7")
    p = b["parameters"]
    check(p["ncs"] == 7 and p["cs"] == 1, f"an option after the preset does not prevail: {p}")
    check(b["preset"] is None, "it is still called the figure's")


@test
def what_is_asked_for_twice_is_measured_once():
    b = bench("--lock", "glibc,tts,pthread,tts", "--threads", "1,2,1")
    check(points(b) == [(lock, threads, None) for threads in [1, 2] for lock in ["glibc", "tts"]], str(points(b)))
    b = bench("--lock", "glibc,peers", "--threads", "1")
    check(len(set(points(b))) == len(points(b)), str(points(b)))


@test
def every_form_of_every_option_is_taken():
    for form in [["-l", "tts", "-t", "2", "-d", "0.02", "-r", "2", "-j"], ["--ncs", "7"], ["--ncs=0"], ["--wait=spin"], ["--cs=0"],
                 ["--duration=20000us"], ["--duration=.02s"], ["--generator=mt19937"], ["--generator=xoroshiro128+"],
                 ["--cs=1us"], ["--ncs=500ns"], ["--ncs=random:0.5us"], ["--cs=1us", "--generator=mt19937"], ["--load=1"], ["--load=0"]]:
        check(len(bench("--lock", "tts", "--threads", "1", *form)["points"]) == 1, f"{form}: points")


@test
def results_name_the_pinning():
    for pin in ["free", "compact", "scatter", "numa", "node=0"]:
        b = results("mutexbench", *BRIEF, "--lock", "tts", "--threads", "1,2,5", "--pin", pin)
        check({p["pin"] for p in b["points"]} == {pin} == {b["parameters"]["pin"]}, pin)


def cpus_of(text):
    """'0-2,5' is {0, 1, 2, 5}."""
    ranges = [r.split("-") for r in text.strip().split(",")]
    return {cpu for r in ranges for cpu in range(int(r[0]), int(r[-1]) + 1)}


def places_of_threads(pid):
    """For each thread but the first, which only watches: where it may run, and where it ran last."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        if task.name != str(pid):
            allowed = re.search(r"^Cpus_allowed_list:(.*)$", (task / "status").read_text(), re.MULTILINE)[1]
            found.append((cpus_of(allowed), int((task / "stat").read_text().rpartition(")")[2].split()[36])))
    return found


def are_placed(pid, threads, where):
    try:
        found = [places_of_threads(child) for child in children(pid)]
    except OSError:  # a run ended
        return False
    return any(len(places) == threads and where([p[0] for p in places]) and all(cpu in cpus for cpus, cpu in places) for places in found)


@test
def threads_run_where_the_policy_says():
    usable = os.sched_getaffinity(0)
    node = pathlib.Path("/sys/devices/system/node/node0/cpulist")
    first = cpus_of(node.read_text()) & usable if node.exists() else usable
    each = lambda sets: all(len(s) == 1 for s in sets) and set().union(*sets) == usable
    for pin, where in [("free", lambda sets: all(s == usable for s in sets)), ("compact", each), ("scatter", each),
                       ("node=0", lambda sets: all(s == first for s in sets))]:
        threads = len(usable) + 1
        p = subprocess.Popen([harness.build / "pawl", "bench", "mutexbench", "--lock", "tts", "--threads", str(threads), "--pin", pin, "-d", "200ms", "-r", "1000"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: are_placed(p.pid, threads, where), f"{pin}: threads are elsewhere")
        finally:
            p.kill()
            p.wait()


@test
def every_run_is_a_process_of_its_own():
    with folder() as f:
        preload(f, "note", """#include <stdio.h>
            #include <stdlib.h>
            #include <unistd.h>
            __attribute__((constructor)) static void note(void)
            {
                FILE *f = fopen(getenv("STARTED"), "a");
                fprintf(f, "%d\\n", (int)getpid());
                fclose(f);
            }""")
        results("mutexbench", *BRIEF, "--lock", "tts", "--threads", "1", "--runs", "4", env=environment(LD_PRELOAD=f"{f}/note.so", STARTED=f"{f}/started"))
        started = open(f"{f}/started").read().split()
        check(len(started) == len(set(started)) == 1 + 4 + 4, f"{len(started)} processes, not pawl and four for the lock and four for the loop")


@test
def seven_runs_are_the_default():
    check(results("mutexbench", *BRIEF[:-2], "--lock", "tts", "--threads", "1")["parameters"]["processes"] == 7, "processes")


def shown_on_a_terminal(columns, *arguments):
    """The lines that replaced each other there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([harness.build / "pawl", "bench", *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # its last writer is gone
        pass
    os.close(ours)
    check(p.wait(300) == 0, f"exit {p.returncode}")
    return text.decode().split("\r\033[K")[1:]


@test
def points_take_turns_in_an_order_that_changes():
    lines = shown_on_a_terminal(200, "mutexbench", *BRIEF, "--lock", "tts,ticket,mcs", "--threads", "1,2", "--runs", "4")
    runs = [m[1] for line in lines if (m := re.fullmatch(r" *\d+ %, \d+ s left  (.*)", line))]
    points = sorted([f"{lock}, {threads}" for lock in ["tts", "ticket", "mcs"] for threads in ["1 thread", "2 threads"]] + ["(none), 1 thread"])
    rounds = [runs[i:i + 7] for i in range(0, len(runs), 7)]
    check(len(runs) == 28 and all(sorted(r) == points for r in rounds), f"not all points in each round: {rounds}")
    check(len(set(map(tuple, rounds))) > 1, f"always the same order: {rounds[0]}")
    for r in rounds:
        threads = [point.split(", ")[1] for point in r]
        check(sum(a != b for a, b in zip(threads, threads[1:])) == 1, f"locks under one load do not follow one another: {r}")


@test
def progress_stays_within_a_narrow_terminal():
    for columns in [12, 30]:
        lines = shown_on_a_terminal(columns, "mutexbench", *BRIEF, "--lock", "reciprocating", "--threads", "2")
        check(len(lines) == 3 and all(0 < len(line) < columns for line in lines[:-1]), f"{columns}: {lines}")
        check(lines[-1] == "" or lines[-1].startswith("pawl: warning: "), f"not cleared: {lines[-1]}")


@test
def warm_up_takes_its_time_and_is_not_measured():
    def measured():
        start = time.monotonic()
        b = results("mutexbench", "--duration", "20ms", "--warm-up", "400ms", "--runs", "1", "--lock", "tts", "--threads", "1")
        check(time.monotonic() - start > 0.8, "it was left out")
        check(b["parameters"]["warm_up_s"] == 0.4, str(b["parameters"]))
        return b["points"][0]["runs"][0]["cpu_s"]
    eventually(lambda: 0 < measured() < 0.3, "it was measured")


@test
def threads_that_sleep_are_seen_to_switch():
    def switched():
        r = bench("--lock", "glibc", "--threads", 4 * len(os.sched_getaffinity(0)), "--duration", "100ms", "--ncs", "500")["points"][0]["runs"][0]
        return r["voluntary_switches"] > 0 and r["cpu_s"] > 0
    eventually(switched, "nobody slept")


def calls(b):
    """Of the first run of each lock."""
    return {p["lock"]: [p["runs"][0][name] for name in CALLS] for p in b["points"]}


CROWD = ["--threads", 4 * len(os.sched_getaffinity(0)), "--duration", "100ms", "--cs", "20000"]


@test
def one_thread_never_calls_the_kernel():
    b = results("mutexbench", *BRIEF, "--threads", "1")
    for p in b["points"]:
        done = p["family"] == "pawl" and p["median"] > 0
        check(calls(b)[p["lock"]] == [0 if done else None] * 4, f"{p['lock']}: {p['runs'][0]}")


@test
def threads_that_sleep_are_seen_to_call_the_kernel():
    def called(lock, **options):
        found = calls(bench("--lock", f"{lock},glibc", *CROWD, **options))
        check(found["glibc"] == [None] * 4, f"not of Pawl: {found}")
        return found[lock]
    eventually(lambda: (c := called("pawl_mutex"))[1] and c[3], "pawl_mutex: no futex waits or wakes")
    eventually(lambda: (c := called("mcs"))[0] and c[1] and c[3], "mcs: no membarriers, futex waits or wakes")
    eventually(lambda: (c := called("mcs", env=environment(PAWL_NO_MEMBARRIER="1")))[1] and c[0] == 0, "mcs: no futex waits without membarriers")
    eventually(lambda: any(calls(results("multiwait", "-d", "100ms", "-r", "1", *CROWD[:2], "--lock", "mcs"))["mcs"]), "multiwait: no calls")


@test
def a_strict_queue_of_sleepers_waits_and_wakes_once_per_acquisition():
    def found():
        return calls(bench("--lock", "pawl_fairmutex", *CROWD, "--cs", "100", "--duration", "400ms"))["pawl_fairmutex"]
    eventually(lambda: (c := found())[1] and 500 < c[1] < 2000 and 500 < c[3] < 2000, "not about 1000 of 1000")


@test
def tables_and_csv_have_the_calls_of_pawls_locks():
    def rows(*arguments):
        table = [line.split() for line in output(*QUICK, "--lock", "pawl_mutex,glibc", *arguments).splitlines()]
        head = next(i for i, r in enumerate(table) if r[:2] == ["threads", "lock"])
        return table[head:head + 3]
    check(not {"barriers", "waits", "void", "wakes"} & set(rows("--threads", "1")[0]), "columns of zeros")

    def shown():
        head, mutex, glibc = rows(*CROWD)
        if "waits" not in head or "wakes" not in head:
            return False
        tail = len(head) - head.index("switches/s") - 1
        marked = [r[:-1] if r[-1] == "?" else r for r in [mutex, glibc]]
        return marked[1][-tail:] == ["-"] * tail and all(float(cell.lstrip("<")) >= 0 for cell in marked[0][-tail:])
    eventually(shown, "no columns of calls")
    lines = csv.DictReader(io.StringIO(output(*QUICK, "--lock", "pawl_mutex,glibc", "--threads", "1", "--csv")))
    found = {line["lock"]: [line[name] for name in CALLS] for line in lines}
    check(found["pawl_mutex"] in [["0"] * 4, [""] * 4] and found["glibc"] == [""] * 4, str(found))


@test
def where_no_lock_of_pawl_is_seen_no_calls_are_said():
    for workload in ["ring", "atomic-struct"]:
        for lock, counts in calls(results(workload, *BRIEF, "--threads", "2")).items():
            check(counts == [None] * 4, f"{workload}, {lock}: {counts}")


@test
def results_say_where_they_were_measured():
    m = results("mutexbench", *BRIEF, "--lock", "tts", "--threads", "1")["machine"]
    check(m["cpus"] == len(os.sched_getaffinity(0)) and f"{m['cpus']} CPU" in m["topology"], m["topology"])
    check(m["kernel"] == f"{os.uname().sysname} {os.uname().release}" and m["libc"].startswith("glibc 2."), f"{m['kernel']}, {m['libc']}")
    check(re.fullmatch(r"(gcc|clang) \d+\..*", m["compiler"]), m["compiler"])
    check(m["commit"] is None or re.fullmatch(r"[0-9a-f]{12,40}(-dirty)?", m["commit"]), m["commit"])


@test
def a_process_with_one_cpu_knows_it():
    one = {"preexec_fn": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})}
    harness.refused(["bench", "pingpong"], "takes two CPUs, and this process may use one", **one)
    b = results("mutexbench", *BRIEF, "--lock", "ticket", "--threads", "2", "--wait", "spin", "--pin", "scatter", **one)
    check(b["machine"]["cpus"] == 1 and any("2 threads spin on 1 CPU:" in d for d in b["points"][0]["doubts"]), str(b["points"][0]["doubts"]))


@test
def load_from_elsewhere_is_doubted():
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(len(os.sched_getaffinity(0)) // 5 + 1)]
    try:
        b = results("mutexbench", "--duration", "200ms", "--runs", "1", "--lock", "tts,glibc", "--threads", "1")
    finally:
        for p in busy:
            p.kill()
            p.wait()
    for p in b["points"]:
        check(any("other programs" in d for d in p["doubts"]), f"{p['lock']}: {p['doubts']}")


@test
def the_default_is_a_sweep_of_threads_up_to_four_for_each_cpu():
    b = results("mutexbench", *BRIEF, "--lock", "tts")
    cpus = b["machine"]["cpus"]
    check([p["threads"] for p in b["points"]] == [2**i for i in range(20) if 2**i <= 4 * cpus], str(points(b)))


@test
def tables_compare_with_glibc():
    rows = [r.split() for r in output(*QUICK, "--duration", "200ms", "--lock", "tts,pthread", "--threads", "1,2").splitlines()]
    head = next(i for i, r in enumerate(rows) if r[:2] == ["threads", "lock"])
    rows = rows[head + 1:head + 5]
    check([r[:2] for r in rows] == [["1", "tts"], ["1", "glibc"], ["2", "tts"], ["2", "glibc"]], str(rows))
    check(rows[1][4] == "1.00" and rows[3][4] == "1.00", f"glibc is not 1.00 of itself: {rows}")


@test
def tables_say_what_the_loop_itself_costs():
    check("the loop itself, with one thread and a lock that does nothing: " in output(*QUICK, "--lock", "tts", "-t", "1"), "harness")


@test
def counters_are_there_or_it_is_said_why_not():
    b = bench("--lock", "tts", "--threads", "1")
    counted = b["points"][0]["runs"][0]["perf"]
    check((counted is not None) == (b["machine"]["perf"] is True), f"{b['machine']['perf']}: {counted}")
    text = output(*QUICK, "--lock", "tts", "-t", "1")
    check(b["machine"]["perf"] is True or f"no performance counters here: {b['machine']['perf']}\n" in text, text)


@test
def csv_has_a_line_for_each_run():
    text = output("bench", "tail", *BRIEF, "--runs", "2", "--lock", "tts,glibc", "--oversubscription", "1,2", "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    check(len(rows) == 8, f"{len(rows)} lines")
    for r in rows:
        check(r["workload"] == "tail" and r["lock"] in ["tts", "glibc"] and r["run"] in ["1", "2"], str(r))
        for key in ["value", "fairness", "jain", "starvation_ns", "worst_wait_ns", "cpu_s", "wait_p50_ns", "wait_p99.99_ns", "wait_max_ns"]:
            check(float(r[key]) >= 0, f"{key}: {r[key]}")
        check(None not in r and None not in r.values(), f"fields and heads differ in number: {r}")


def as_csv(value):
    """As a field holds it; what differs from run to run is not compared."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else f"{value:.9g}" if isinstance(value, float) else str(value)


@test
def csv_lines_say_all_that_json_says_once():
    for command in [["mutexbench", "--preset", "hemlock-fig3", "--wait", "yield"], ["tail", "--oversubscription", "2"], ["multiwait"], ["schedule"], ["ring"],
                    ["atomic-struct", "--ncs", "random:9"], ["leveldb", "--entries", "100"], ["pingpong"], ["mutexbench", "--cs", "1us", "--ncs", "random:2us", "--load", "1"],
                    ["occasional", "--period", "2ms"], ["condvar", "--producers", "2", "--consumers", "3", "--places", "7"]]:
        if command[0] == "pingpong" and len(os.sched_getaffinity(0)) < 2 or command[0] == "leveldb" and not (harness.build / "bench/pawl-bench-leveldb").exists():
            continue
        more = ["--lock", "glibc"] if command[0] not in ["ring", "pingpong"] else []
        more += ["--threads", "2"] if command[0] not in ["tail", "pingpong", "condvar"] else []
        b = results(*command, *more, *BRIEF)
        lines = list(csv.DictReader(io.StringIO(output("bench", *command, *more, *BRIEF, "--csv"))))
        once = {k: b[k] for k in ["workload", "preset", "unit", "pawl"]} | b["parameters"] | b["machine"]
        for name, value in once.items():
            check({line[name] for line in lines} == {as_csv(value)}, f"{command}: {name} is {value}, and {lines[0].get(name)} in CSV")
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", lines[0]["date"]) and (lines[0]["harness_ns"] != "") == (b["harness_ns"] is not None), str(lines[0]))


@test
def csv_says_why_a_line_is_doubted():
    threads = len(os.sched_getaffinity(0)) + 2
    line = next(csv.DictReader(io.StringIO(output("bench", "mutexbench", *BRIEF, "--lock", "glibc_spin", "--threads", threads, "--csv"))))
    check(int(line["doubts"]) >= 1 and f"{threads} threads spin on" in line["reasons"] and "non-critical section" in line["notes"], str(line))


@test
def mutexbench_waits_as_the_environment_says():
    b = bench("--lock", "tts", "--threads", "1", env=environment(PAWL_WAIT="spin"))
    check(b["parameters"]["wait"] == "spin", b["parameters"]["wait"])
    b = bench("--lock", "tts", "--threads", "1", "--wait", "yield", env=environment(PAWL_WAIT="spin"))
    check(b["parameters"]["wait"] == "yield", "--wait does not prevail")


@test
def more_threads_than_cpus_that_spin_are_doubted():
    cpus = bench("--lock", "tts", "--threads", "1")["machine"]["cpus"]
    for lock in ["ticket", "reciprocating", "glibc_spin"]:
        p = pawl(*QUICK, "--json", "--wait", "spin", "--lock", lock, "--threads", cpus + 2)
        check(p.returncode == 0 and p.stderr.startswith("pawl: warning: "), f"{lock}: {p.stderr}")
        doubts = json.loads(p.stdout)["points"][0]["doubts"]
        check(any("spin" in d and str(cpus + 2) in d for d in doubts), f"{lock}: {doubts}")
    doubts = bench("--lock", "ticket", "--threads", cpus + 2)["points"][0]["doubts"]
    check(not any("spin" in d for d in doubts), f"ticket sleeps: {doubts}")


@test
def an_empty_non_critical_section_is_doubted():
    for ncs, doubted in [("0", True), ("random:10", False)]:
        doubts = bench("--lock", "ticket", "--threads", "2", "--ncs", ncs)["doubts"]
        check(any("non-critical section" in d for d in doubts) == doubted, f"{ncs}: {doubts}")


@test
def mutexbench_runs_hundreds_of_threads():
    check(points(bench("--lock", "mcs,capacitor_tts", "--threads", "300")) == [("mcs", 300, None), ("capacitor_tts", 300, None)], "points")


@test
def a_lock_that_lets_two_threads_in_is_caught():
    for workload, more in [("mutexbench", ["--threads", "2"]), ("mutexbench", ["--threads", "2", "--generator", "mt19937"]),
                           ("tail", ["--oversubscription", "1"]), ("mutexbench", ["--threads", "2", "--cs", "20us"]), ("occasional", ["--threads", "3"])]:
        caught("broken", harness.build / "pawl-broken", "bench", workload, *QUICK[2:], "--lock", "broken", "--cs", "100", *more)


@test
def timed_sections_take_their_time_and_results_say_so():
    b = bench("--lock", "glibc,mcs", "--threads", "2", "--cs", "1ms", "--ncs", "random:5us", "--duration", "100ms")
    p = b["parameters"]
    check((p["cs_ns"], p["ncs_ns"], p["ncs_random"]) == (1000000, 5000, True) and not {"cs", "ncs"} & set(p), str(p))
    for point in b["points"]:  # in a time of 100 ms and a bit there is room for no more
        check(point["median"] < 1100, f"{point['lock']}: {point['median']} sections of 1 ms in a second")
    check(bench("--lock", "tts", "--threads", "1", "--ncs", "1ms", "--duration", "100ms")["points"][0]["median"] < 1100, "gaps of 1 ms")
    p = results("tail", *BRIEF, "--lock", "glibc", "--oversubscription", "1", "--cs", "2us", "--cs", "3")["parameters"]
    check(p["cs"] == 3 and "cs_ns" not in p, f"steps after a time: {p}")
    check("\ncs 1.5us, ncs random:500ns of xoroshiro128+, " in output(*QUICK, "--lock", "tts", "-t", "1", "--cs", "1.5us", "--ncs", "random:.5us"), "the text")


@test
def a_load_runs_beside_the_threads_and_ends():
    command = [harness.build / "pawl", "bench", "mutexbench", "--lock", "glibc", "--threads", "1", "-d", "200ms", "-r", "1000", "--load", "3"]
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def loads():
        return [load for run in children(p.pid) for load in children(run)]

    def busy():
        try:
            return [load for load in loads() if len(list(pathlib.Path(f"/proc/{load}/task").iterdir())) == 3]
        except OSError:  # a run ended
            return []
    try:
        eventually(busy, "no process with three threads")
        first = busy()
        eventually(lambda: not any(harness.running(load) for load in first), "it goes on after its run")
        eventually(busy, "none beside the next run")
        last = loads()
    finally:
        p.kill()
        p.wait()
    eventually(lambda: not any(harness.running(load) for load in last), "it goes on after a kill")
    check(bench("--lock", "glibc", "--threads", "1", "--load", "2")["parameters"]["load"] == 2, "load")


@test
def runs_say_what_an_acquisition_costs():
    def found():
        r = bench("--lock", "glibc", *CROWD)["points"][0]["runs"][0]
        check(r["migrations"] is None or r["migrations"] >= 0, str(r))
        if r["cpu_ns_per_acquisition"] is None or r["cpu_s"] == 0:
            return False
        per = r["cpu_ns_per_acquisition"] / r["cpu_s"] / 1e9  # one over the number of acquisitions
        for amount, name in [(r["voluntary_switches"] + r["involuntary_switches"], "switches_per_1000"), (r["migrations"], "migrations_per_1000")]:
            check(amount is None and r[name] is None or abs(r[name] - 1000 * amount * per) <= 1e-6 * r[name], f"{name}: {r}")
        check(0.3 < per * r["value"] * 0.1 < 3, f"acquisitions: {r}")
        return True
    eventually(found, "no acquisition")
    head = next(line for line in output(*QUICK, "--lock", "tts", "-t", "1").splitlines() if line.startswith("threads")).split("  ")
    check({"CPU each", "migr/s"} <= {h.strip() for h in head}, str(head))


@test
def migrations_are_read_from_proc_where_there_are_no_counters():
    with folder() as f:
        preload(f, "uncounted", '''#define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <stdarg.h>
            #include <sys/syscall.h>
            long syscall(long n, ...)
            {
                static long (*real)(long, ...);
                va_list a;
                va_start(a, n);
                long x[6];
                for (int i = 0; i < 6; i++)
                    x[i] = va_arg(a, long);
                va_end(a);
                if (n == SYS_perf_event_open)
                    return errno = EACCES, -1;
                if (real == 0)
                    real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
                return real(n, x[0], x[1], x[2], x[3], x[4], x[5]);
            }''')
        b = bench("--lock", "glibc", *CROWD, env=environment(LD_PRELOAD=f"{f}/uncounted.so"))
    check("Permission denied" in b["machine"]["perf"], b["machine"]["perf"])
    sched = pathlib.Path("/proc/self/sched")
    known = sched.exists() and "se.nr_migrations" in sched.read_text()
    check((b["points"][0]["runs"][0]["migrations"] is not None) == known, f"known: {known}, {b['points'][0]['runs'][0]}")


@test
def other_libraries_are_not_needed():
    alone = harness.build / "pawl-alone"
    needed = run("readelf", "-d", alone).stdout
    check("libhwloc" in needed and not re.search(r"libck|nsync|absl|leveldb|stdc\+\+", needed), needed)
    p = run(alone, "bench", "mutexbench", *BRIEF, "--threads", "1", "--lock", "all", "--json")
    check(p.returncode == 0, p.stderr)
    check([q["lock"] for q in json.loads(p.stdout)["points"] if q["family"] == "peer"] == ALWAYS, "peers")


@test
def demo_shows_every_lock_and_writes_a_report():
    with folder() as f:
        text = output("demo", "--report", f"{f}/demo")
        opening, story, _, table = text.split("\n\n")[:4]
        rows = [r.split() for r in table.splitlines()]
        cpus = json.load(open(f"{f}/demo.json"))["machine"]["cpus"]
        check(opening.startswith(f"{8 * cpus} threads on {cpus} CPU"), opening)
        check([s.split()[0] for s in story.splitlines()] == ["glibc", "pawl_mutex"], story)
        for line in story.splitlines():
            check(float(line.split()[1]) > 0 and float(line.split()[-2]) >= 0, line)  # none, if one thread was scheduled alone
        crowd = 4 * cpus
        check(rows[0] == ["lock", "bytes", "ns/pair", f"M/s({cpus})", f"fair({cpus})", f"M/s({crowd})", f"fair({crowd})", "order"], str(rows[0]))
        check([r[0] for r in rows[1:]] == all_locks(), "names differ from those of bench")
        doubted = {p["lock"] for p in json.load(open(f"{f}/demo.json"))["points"] if p["doubts"]}
        check({r[0] for r in rows[1:] if r[-1] == "?"} == doubted and "glibc_spin" in doubted, f"doubted: {doubted}")
        check(f"? glibc_spin, {crowd} threads: {crowd} threads spin on {cpus} CPU" in text or "more, which --report lists\n" in text, text)
        for r in rows[1:]:
            check(int(r[1]) > 0 and float(r[2]) > 0 and float(r[3]) >= 0 and 0 <= float(r[4]) <= 1, str(r))
        check(text.endswith(f"\nreport: {f}/demo.html\n"), text[-200:])
        files = {"demo.json", "demo-pingpong.json", "demo.html"} if cpus > 1 else {"demo.json", "demo.html"}
        check(set(os.listdir(f)) == files, str(os.listdir(f)))
        for name in files - {"demo.html"}:
            jsonschema.validate(json.load(open(f"{f}/{name}")), SCHEMA)
        check("reciprocating" in open(f"{f}/demo.html").read(), "the report knows no lock")
