"""pawl profile -p, with programs whose hot futex is known; where the kernel permits it"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from harness import Skipped, check, eventually, folder, pawl, refused, root, run, test
from profiles import attached, blamed, culprit, frames, hottest, line_of, obstacle, running
import harness


def address_of(pid, program, symbol):
    """Where a variable is in a process."""
    value = next(int(l.split()[0], 16) for l in run("nm", program).stdout.splitlines() if l.split()[-1] == symbol)
    line = next(l for l in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines() if l.endswith(str(program)))
    fixed = "EXEC" in run("readelf", "-h", program).stdout
    return value + (0 if fixed else int(line.split("-")[0], 16))


def check_hot_futex(program):
    """The lock is found by its address, with those who waited and the holder who woke them."""
    found = None
    with running(program, "forever", 3) as process:
        def is_found():
            nonlocal found
            found = attached(process.pid)
            return hottest(found, "wanted") and ("holder_a", line_of("/* RELEASE */")) in [h for _, h, _ in blamed(found)]
        eventually(is_found, "never found")
        address = address_of(process.pid, program, "wanted")
        check(found["locks"][0]["address"] == hex(address) and found["locks"][0]["kind"] == "mutex", str(found["locks"][0]))
    pairs = blamed(found)
    waiters = {w for w, _, _ in pairs}
    check(waiters <= {("waiter_b", line_of("WAITER_B")), ("waiter_c", line_of("WAITER_C"))}, f"waited: {waiters}")
    check(any(w["worst_ns"] >= 10e6 for _, _, w in pairs), str(pairs))
    inside = [[f.get("function") for f in frames(found, w["waiter"])] for _, _, w in pairs]
    check(all("lock_it" in names and "repeat" in names for names in inside), str(inside))
    check(found["attached"] and found["processes"][0]["pid"] == process.pid, str(found["processes"]))


@test
def attach_finds_the_hot_futex_of_a_running_program():
    check_hot_futex(culprit())


@test
def attach_finds_it_in_a_static_program():
    program = harness.build / "tests/profile/culprit_static"
    if not program.exists():
        raise Skipped("this C library can't be linked statically")
    refused(["profile", "--", program], "statically linked")
    check_hot_futex(program)


@test
def attach_reads_the_files_that_a_container_sees():
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f:
        mounted = f"mount -t tmpfs pawl-test {f} && cp {culprit()} {f}/app && exec {f}/app forever 3"
        with running("unshare", "--mount", "sh", "-c", mounted) as process:
            if run("unshare", "--mount", "true").returncode != 0:
                raise Skipped("no name space for mounts can be made")
            eventually(lambda: os.readlink(f"/proc/{process.pid}/exe") == f"{f}/app", "it did not start")
            check(not os.path.exists(f"{f}/app"), "it is here, too")
            eventually(lambda: ("waiter_b", line_of("WAITER_B")) in [w for w, _, _ in blamed(attached(process.pid))], "never found")


@test
def attach_tells_condition_variables_from_mutexes():
    with running(harness.build / "tests/profile/waiters", "cond") as process:
        found = None

        def is_found():
            nonlocal found
            found = attached(process.pid)
            return ("waker", line_of("/* WAKER */", "waiters.c")) in [h for _, h, _ in blamed(found, "condition variable")]
        eventually(is_found, "never found")
        pairs = blamed(found, "condition variable")
        check({w for w, _, _ in pairs} == {("sleeper", line_of("/* SLEEPER */", "waiters.c"))}, str(pairs))
        names = [l["name"] for l in found["locks"] if l["kind"] == "condition variable"]
        check(len(names) == 1 and names[0].startswith("changed+"), str(names))


@test
def attach_sees_mutexes_with_priority_inheritance():
    with running(harness.build / "tests/profile/waiters", "pi") as process:
        eventually(lambda: hottest(attached(process.pid), "mutex"), "never found")


@test
def attach_shows_threads_that_wait_already_and_for_ever():
    with running(harness.build / "tests/profile/waiters", "hung") as process:
        eventually(lambda: attached(process.pid)["processes"][0]["still_waiting"] == 2, "both threads")
        profile = attached(process.pid)
        pairs = blamed(profile)
        check({(w, h) for w, h, _ in pairs} == {(("owner", line_of("/* OWNER */", "waiters.c")), None)}, str(pairs))
        check(all(w["worst_ns"] >= 500e6 for _, _, w in pairs), str(pairs))
        check([w["holder_tid"] for w in profile["worst"]] == [0, 0], str(profile["worst"]))


@test
def attach_counts_waits_that_a_signal_handler_ends_or_jumps_out_of():
    for how in ["ended", "jumped"]:
        with running(harness.build / "tests/profile/interrupted", how) as process:
            ended = lambda: [l for l in attached(process.pid)["locks"] if l["name"] == "never" and l["contended"] - l["unfinished"] >= 4]
            eventually(ended, f"{how}: never found", 60)


@test
def attach_knows_that_a_wait_goes_on_after_a_signal_handler_that_calls_futex_or_waits():
    for how in ["restarted", "waiting"]:
        with running(harness.build / "tests/profile/interrupted", how) as process:
            def is_one():
                profile = attached(process.pid)
                waits = [w for w in profile["waits"] if profile["locks"][w["lock"]]["name"] == "never"]
                others = [l["contended"] for l in profile["locks"] if l["name"] == "also_never"]
                return [(w["count"], w["unfinished"]) for w in waits] == [(1, 1)] and waits[0]["worst_ns"] >= 400e6 and (how != "waiting" or others and others[0] >= 4)
            eventually(is_one, f"{how}: it is not one wait that has not ended", 60)


@test
def attach_ends_with_the_process_or_when_asked_to():
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f, running("sleep", 600) as process:
        viewer = subprocess.Popen([str(harness.build / "pawl"), "profile", "-p", str(process.pid), "--json", f"{f}/p"])
        eventually(lambda: "anon_inode:[eventpoll]" in descriptors(viewer.pid), "it did not start")
        process.kill()
        process.wait()
        check(viewer.wait(300) == 0 and json.loads(pathlib.Path(f, "p").read_text())["end"] == "the process ended", "its end")
    for how in (signal.SIGINT, signal.SIGTERM):
        with folder() as f, running("sleep", 600) as process:
            viewer = subprocess.Popen([str(harness.build / "pawl"), "profile", "-p", str(process.pid), "--json", f"{f}/p"])
            eventually(lambda: "anon_inode:[eventpoll]" in descriptors(viewer.pid), "it did not start")
            viewer.send_signal(how)
            check(viewer.wait(300) == 0 and json.loads(pathlib.Path(f, "p").read_text())["end"] == "interrupted", "asked")


def descriptors(pid):
    found = []
    for d in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(d))
    return found


@test
def attach_says_that_the_process_became_another_program_and_invents_no_wait():
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f, running(harness.build / "tests/profile/waiters", "exec") as process:
        eventually(lambda: attached(process.pid)["processes"][0]["still_waiting"] == 1, "its thread")
        viewer = subprocess.Popen([str(harness.build / "pawl"), "profile", "-p", str(process.pid), "--json", f"{f}/p"])
        eventually(lambda: "anon_inode:[eventpoll]" in descriptors(viewer.pid), "it did not start")
        process.send_signal(signal.SIGUSR1)
        eventually(lambda: b"nothing" in pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes(), "it did not go on")
        time.sleep(0.5)
        viewer.send_signal(signal.SIGINT)
        check(viewer.wait(300) == 0, "its end")
        profile = json.loads(pathlib.Path(f, "p").read_text())
        check(profile["notes"][0].startswith("the process became another program"), str(profile["notes"]))
        ends = [w["start_ns"] + w["waited_ns"] for w in profile["worst"]]
        check(len(ends) == 1 and ends[0] < profile["elapsed_ns"] - 500e6 and profile["worst"][0]["unfinished"], str(profile["worst"]))


@test
def attach_watches_a_process_whose_first_thread_has_ended():
    with running(harness.build / "tests/profile/waiters", "leader") as process:
        eventually(lambda: "Z" in pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()[2], "it did not end")
        eventually(lambda: hottest(attached(process.pid), "mutex"), "never found")


@test
def attach_keeps_the_longest_waits_for_locks_whatever_idle_threads_do():
    with running(culprit(), "crowd", 1000000) as process:
        longest = lambda: [(p["locks"][w["lock"]]["name"], w["unfinished"]) for p in [attached(process.pid)] for w in p["worst"]]
        eventually(lambda: ("wanted", False) in longest() and any(name.startswith("ready_changed") and w for name, w in longest()), "never found")


WHILE_LOADING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int bpf_object__load_skeleton(void *skeleton)
{
    int pid = atoi(getenv("VICTIM")), fd = syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {fd, POLLIN, 0};
    kill(pid, atoi(getenv("SIGNAL")));
    if (pid != getpid())
        poll(&ended, 1, -1);
    return ((int (*)(void *))dlsym(RTLD_NEXT, "bpf_object__load_skeleton"))(skeleton);
}
"""


@test
def attach_notices_what_happens_while_it_gets_ready():
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f, running("sleep", 600) as process:
        harness.preload(f, "shim", WHILE_LOADING)
        shim = lambda victim, number: f"exec env VICTIM={victim} SIGNAL={number} LD_PRELOAD={f}/shim.so {harness.build}/pawl profile -p {process.pid} --json {f}/p"
        p = run("sh", "-c", shim("$$", int(signal.SIGINT)))
        check(p.returncode == 0 and json.loads(pathlib.Path(f, "p").read_text())["end"] == "interrupted", f"exit {p.returncode}: {p.stderr}")
        p = run("sh", "-c", shim(process.pid, int(signal.SIGKILL)))
        check((p.returncode, p.stderr) == (2, f"pawl: -p {process.pid}: has ended already\n"), f"exit {p.returncode}: {p.stderr}")


@test
def attach_reports_say_woken_not_blocked():
    with folder() as f, running(culprit(), "forever", 3) as process:
        eventually(lambda: hottest(attached(process.pid), "wanted"), "never found")
        attached(process.pid, "--folded", f"{f}/f", "--trace", f"{f}/t", "-o", f"{f}/o")
        folded, trace, text = (pathlib.Path(f, x).read_text() for x in "fto")
        check(";woken by " in folded and "blocked by" not in folded + trace + text, folded)
        check("woken by" in text and "slept in the kernel" in text and "acquired" not in text.partition("Locks")[2], text)
        names = {e["name"].split()[0] for e in json.loads(trace)["traceEvents"] if e["ph"] != "M"}
        check("wait" in names and names <= {"wait", "unfinished"}, str(names))


@test
def attach_refuses_what_it_cannot_do():
    with folder() as f:
        refused(["profile", "-p", "4194303"], "-p 4194303: No such process")
        refused(["profile", "-p", "0"], "--pid '0'")
        refused(["profile", "-p", "x"], "--pid 'x'")
        refused(["profile", "--for", "1s", "--", "true"], "--for: only with --pid")
        me = str(os.getpid())
        refused(["profile", "-p", me, "--for", "soon"], "--for 'soon': not a time")
        refused(["profile", "-p", me, "--for", "0s"], "--for '0s'")
        refused(["profile", "-p", me, "--", "true"], "takes no command")
        refused(["profile", "-p", me, "--lock", "mcs"], "--lock: not with --pid")
        refused(["profile", "-p", me, "--wait", "spin"], "--wait: not with --pid")
        if obstacle():
            raise Skipped(obstacle())
        refused(["profile", "-p", "2"], "is a thread of the kernel")
        refused(["profile", "-p", me, "--json", f"{f}/no/where"], f"--json '{f}/no/where'")
        p = pawl("profile", "-p", me, "--for", "1ms", "--json", "/dev/full")
        check(p.returncode == 2 and p.stderr.startswith("pawl: --json '/dev/full': "), p.stderr)
        ended = subprocess.Popen(["true"])
        eventually(lambda: "Z" in pathlib.Path(f"/proc/{ended.pid}/stat").read_text().split()[2], "it did not end")
        refused(["profile", "-p", str(ended.pid)], "has ended already")
        ended.wait()
        with running(harness.build / "tests/profile/waiters", "hung") as process:
            threads = lambda: [t.name for t in pathlib.Path(f"/proc/{process.pid}/task").glob("*") if t.name != str(process.pid)]
            eventually(threads, "one thread")
            refused(["profile", "-p", threads()[0]], f"is a thread of process {process.pid}")


@test
def attach_says_which_right_is_missing():
    if os.getuid() != 0:
        me = str(os.getpid())
        refused(["profile", "-p", me], "missing: CAP_BPF, CAP_PERFMON")
        refused(["profile", "-p", "1"], "missing: CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE")
        return
    if not shutil.which("setpriv"):
        raise Skipped("there is no setpriv to become another user")
    if obstacle() and "built without" in obstacle():
        raise Skipped(obstacle())
    with folder() as f:
        os.chmod(f, 0o755)
        shutil.copy(harness.build / "pawl", f"{f}/pawl")
        for options, missing in [(("--reuid", "65534", "--clear-groups"), "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE"),
                                 (("--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"), "CAP_SYS_PTRACE")]:
            p = run("setpriv", *options, f"{f}/pawl", "profile", "-p", os.getpid(), "--for", "1ms")
            check(p.returncode == 2 and p.stderr.endswith(f"takes root; missing: {missing}\n") and p.stderr.count("\n") == 1,
                  f"exit {p.returncode}: {p.stderr}")


@test
def attach_says_what_it_was_built_without():
    with folder() as f:
        pathlib.Path(f, "main.c").write_text('#include "profile/attach/attach.h"\nint main(void) { attach_run(&(attachment){.pid = 7}, 0); }\n')
        p = run("cc", f"-I{root}", f"-I{root}/include", '-DPAWL_NO_ATTACH="clang, bpftool"', "-D_GNU_SOURCE", "-o", f"{f}/main", f"{f}/main.c",
                root / "profile/attach/no_attach.c", root / "cli/error.c")
        check(p.returncode == 0, p.stderr)
        p = run(f"{f}/main")
        check((p.returncode, p.stderr) == (2, "pawl: -p 7: this pawl was built without clang, bpftool\n"), p.stderr)
