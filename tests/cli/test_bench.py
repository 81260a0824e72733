"""pawl bench mutexbench, and pawl demo"""

import json
import shutil

from harness import check, environment, folder, output, pawl, registered, root, run, test

QUICK = ["bench", "mutexbench", "--duration", "20ms", "--runs", "1"]


def bench(*arguments, **options):
    return json.loads(output(*QUICK, "--json", *arguments, **options))


@test
def mutexbench_measures_every_lock_alone_and_in_pairs():
    results = bench("--lock", "all", "--threads", "1,2")["results"]
    names = registered() + ["pawl_mutex", "pawl_fairmutex", "pthread"]
    check([(r["lock"], r["threads"]) for r in results] == [(n, t) for t in [1, 2] for n in names], "points")
    for r in results:
        check(r["throughput"] > 0, f"{r['lock']}: no acquisition")
        check(0 <= r["fairness"] <= 1, f"{r['lock']}: fairness {r['fairness']}")
        check(r["threads"] > 1 or r["fairness"] == 1, f"{r['lock']}: one thread is unfair to itself")
        check(type(r["worst_wait_ns"]) is int and r["worst_wait_ns"] >= 0, f"{r['lock']}: worst_wait_ns")


@test
def mutexbench_json_says_what_was_measured_and_where():
    b = bench("--lock", "ticket,pthread", "--threads", "2", "--ncs", "random:40", "--cs", "3", "--runs", "3", "--wait", "yield")
    check(b["benchmark"] == "mutexbench" and type(b["warnings"]) is list, "head")
    check(set(b["machine"]) == {"cpus", "model", "kernel", "compiler"} and b["machine"]["cpus"] >= 1, "machine")
    expected = {"locks": ["ticket", "pthread"], "threads": [2], "ncs": "random:40", "cs": 3, "wait": "yield",
                "duration_seconds": 0.02, "runs": 3}
    check(b["config"] == expected, f"config: {b['config']}")
    ticket, pthread = b["results"]
    check((ticket["ncs"], ticket["cs"], ticket["wait"], ticket["runs"]) == ("random:40", 3, "yield", 3), str(ticket))
    check(pthread["wait"] == "futex", str(pthread))
    for r in b["results"]:
        check(r["throughput_min"] <= r["throughput"] <= r["throughput_max"], f"{r['lock']}: median outside its range")


@test
def mutexbench_takes_every_form_of_every_option():
    for form in [["-l", "tts", "-t", "2", "-d", "0.02", "-r", "2", "-j"], ["--ncs", "7"], ["--ncs=0"], ["--wait=spin"],
                 ["--duration=20000us"], ["--duration=.02s"]]:
        b = bench("--lock", "tts", "--threads", "1", *form)
        check(b["results"][0]["throughput"] > 0, f"{form}: no acquisition")


@test
def mutexbench_table_compares_with_pthread():
    rows = [r.split() for r in output(*QUICK, "--lock", "tts,pthread", "--threads", "1,2").splitlines()[4:]]
    check([r[:2] for r in rows] == [["1", "tts"], ["1", "pthread"], ["2", "tts"], ["2", "pthread"]], str(rows))
    check(rows[1][4] == "1.00" and rows[3][4] == "1.00", f"pthread is not 1.00 of itself: {rows}")


@test
def mutexbench_waits_as_the_environment_says():
    b = bench("--lock", "tts", "--threads", "1", env=environment(PAWL_WAIT="spin"))
    check(b["config"]["wait"] == "spin", b["config"]["wait"])
    b = bench("--lock", "tts", "--threads", "1", "--wait", "yield", env=environment(PAWL_WAIT="spin"))
    check(b["config"]["wait"] == "yield", "--wait does not prevail")


@test
def mutexbench_ends_and_warns_when_more_threads_than_cpus_spin():
    cpus = bench("--lock", "tts", "--threads", "1")["machine"]["cpus"]
    for lock in ["ticket", "reciprocating"]:
        p = pawl(*QUICK, "--json", "--wait", "spin", "--lock", lock, "--threads", cpus + 2)
        check(p.returncode == 0 and p.stderr.startswith("pawl: warning: "), f"{lock}: {p.stderr}")
        b = json.loads(p.stdout)
        check(b["warnings"] and str(cpus + 2) in b["warnings"][0], f"{lock}: {b['warnings']}")


@test
def mutexbench_runs_hundreds_of_threads():
    check(bench("--lock", "mcs,capacitor_tts", "--threads", "300")["results"][0]["threads"] == 300, "threads")


@test
def mutexbench_catches_a_lock_that_lets_two_threads_in():
    with folder() as f:
        shutil.copytree(root / "include", f"{f}/include")
        shutil.copytree(root / "common", f"{f}/common")
        header = root / "include/pawl/ticket.h"
        text = header.read_text().replace("pawl_wait_until_eq(&l->serving, mine);", "(void)mine;")
        check(text != header.read_text(), "ticket.h has no such line any more")
        open(f"{f}/include/pawl/ticket.h", "w").write(text)
        sources = [s for part in ["src", "bench", "cli"] for s in sorted((root / part).glob("*.c"))
                   if not s.name.startswith("hardware_") or s.name == "hardware_other.c"]
        libraries = run("pkg-config", "--cflags", "--libs", "jansson").stdout.split()
        p = run("cc", "-std=gnu11", "-D_GNU_SOURCE", '-DPAWL_VERSION="broken"', '-DPAWL_LIBEXECDIR="none"', f"-I{f}/include", f"-I{f}", f"-I{root}",
                *sources, *libraries, "-pthread", "-o", f"{f}/pawl")
        check(p.returncode == 0, p.stderr)
        p = run(f"{f}/pawl", *QUICK, "--lock", "ticket", "--threads", "2", "--cs", "100")
        check(p.returncode == 1 and p.stdout == "", f"exit {p.returncode}: {p.stdout}")
        check(p.stderr == "pawl: ticket: two of 2 threads held the lock at once\n", p.stderr)


@test
def demo_shows_every_lock_within_a_minute():
    text = output("demo", timeout=60)
    rows = [r.split() for r in text.split("\n\n")[1].splitlines()]
    check(rows[0] == ["lock", "bytes", "ns/pair", "M/s", "fairness", "order"], str(rows[0]))
    check([r[0] for r in rows[1:]] == registered() + ["pawl_mutex", "pawl_fairmutex", "pthread"],
          "names differ from locks.def")
    for r in rows[1:]:
        check(int(r[1]) > 0 and float(r[2]) > 0 and float(r[3]) > 0 and 0 <= float(r[4]) <= 1, str(r))
