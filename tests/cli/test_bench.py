"""pawl bench, and pawl demo"""

import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import termios
import time

import jsonschema

from harness import check, children, environment, eventually, folder, output, pawl, preload, registered, root, run, test
import harness

SCHEMA = json.loads((root / "bench/result.schema.json").read_text())
BRIEF = ["--duration", "5ms", "--warm-up", "1ms", "--runs", "1"]
QUICK = ["bench", "mutexbench", "--duration", "20ms", "--runs", "1"]
GLIBC = ["glibc", "glibc_adaptive", "glibc_spin"]  # and one of our own, in the manner of parking_lot
ALWAYS = [*GLIBC, "barging"]
CALLS = ["membarriers_per_1000", "futex_waits_per_1000", "futex_waits_void_per_1000", "futex_wakes_per_1000"]
PEERS = {"ck": ["ck_fas", "ck_ticket", "ck_mcs", "ck_clh"], "nsync": ["nsync"], "abseil": ["abseil"], "rust": ["rust_std", "parking_lot"]}


def results(*arguments, **options):
    b = json.loads(output("bench", *arguments, "--json", **options))
    jsonschema.validate(b, SCHEMA)
    for p in b["points"]:
        values = [r["value"] for r in p["runs"]]
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        for name, expected in zip(["min", "q1", "median", "q3", "max"], [min(values), *quartiles, max(values)]):
            check(abs(p[name] - expected) <= 1e-7 * max(values), f"{p['lock']}: {name} of {values} is not {p[name]}")  # they are rounded
        check(len(p["runs"]) == b["parameters"]["processes"], f"{p['lock']}: runs")
    return b


def bench(*arguments, **options):
    return results("mutexbench", *QUICK[2:], *arguments, **options)


def points(b):
    return [(p["lock"], p["threads"], p["variant"]) for p in b["points"]]


def something_was_done(*arguments, **options):
    """On a busy machine a moment may pass without that."""
    return any(p["median"] > 0 for p in results(*arguments, **options)["points"])


def all_locks():
    return [p["lock"] for p in results("mutexbench", *BRIEF, "--threads", "1")["points"]]


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


def caught(lock, *command):
    """Tries until two threads were inside, as on a busy machine they may never run at once."""
    for _ in range(300):
        p = run(*command)
        if p.returncode != 0:
            break
    check(p.returncode == 1 and p.stdout == "", f"{command}: exit {p.returncode}: {p.stdout}{p.stderr}")
    check("threads held the lock at once\n" in p.stderr and p.stderr.startswith(f"pawl: {lock}: two of "), p.stderr)


@test
def a_lock_that_lets_two_threads_in_is_caught():
    for workload, more in [("mutexbench", ["--threads", "2"]), ("mutexbench", ["--threads", "2", "--generator", "mt19937"]),
                           ("tail", ["--oversubscription", "1"]), ("mutexbench", ["--threads", "2", "--cs", "20us"]), ("occasional", ["--threads", "3"])]:
        caught("broken", harness.build / "pawl-broken", "bench", workload, *QUICK[2:], "--lock", "broken", "--cs", "100", *more)


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
