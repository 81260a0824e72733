"""pawl hint: the service with its BPF program, where the kernel takes it; and what it does with those who ask badly"""

import contextlib
import ctypes
import json
import mmap
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from harness import Skipped, check, environment, eventually, folder, output, pawl, refused, run, test
import harness
from hints import DONE, BAD_VERSION, BAD_REQUEST, NOT_YOURS, FULL, FORBIDDEN, JOIN, MAGIC, REPLY, SLOTS, STATUS, STOP, THREADS, VERSION, answer, answer_late, ask, connect, join, ready, registered, runs, service, word


@test
def hint_needs_a_service_to_stop():
    with folder() as f:
        refused(["hint", "stop", "--socket", f"{f}/none"], "no service runs")
        p = pawl("hint", "status", "--socket", f"{f}/none")
        check(p.returncode == 1 and "no service runs" in p.stdout, p.stdout)
        refused(["hint", "start", "--foreground", "--socket", "hint.sock"], "no path from the root")
        refused(["hint", "start", "--foreground", "--socket", f"{f}/no/folder"], f"{f}/no/folder")
        pathlib.Path(f"{f}/file").write_text("precious")
        os.symlink(f"{f}/file", f"{f}/link")
        for there in ("file", "link"):
            p = pawl("hint", "start", "--foreground", "--socket", f"{f}/{there}")
            check(p.returncode == 2 and ("is no socket" in p.stderr or "built without" in p.stderr), p.stderr)
        check(sorted(os.listdir(f)) == ["file", "link"], f"left behind: {os.listdir(f)}")


@test
def hint_stays_out_of_containers():
    """There, threads have other numbers than those the kernel counts by: one would be told when another's runs."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skipped("it takes root and unshare")
    with service() as (_, path):
        p = run("unshare", "--pid", "--fork", harness.build / "pawl", "hint", "start", "--foreground", "--socket", f"{path}2")
        check(p.returncode == 2 and "name space" in p.stderr, p.stderr)
        p = run("unshare", "--pid", "--fork", "python3", "-c", "import sys, os; sys.path[:0] = ['%s']\n"
                "import hints\nsys.exit(hints.ask('%s', 1, os.getpid(), os.getpid())[0])" % (harness.root / "tests/cli", path))
        check(p.returncode == NOT_YOURS, f"a thread of a container is registered: {p.returncode} {p.stderr}")


@test
def hint_starts_in_the_background_and_stops():
    with folder() as f:
        at = ["--socket", f"{f}/s"]
        p = pawl("hint", "start", *at)
        if "the kernel takes no BPF program" in p.stderr or "built without" in p.stderr:
            raise Skipped(p.stderr.strip())
        check(p.returncode == 0 and p.stderr == "", p.stderr)
        try:
            pid = json.loads(output("hint", "status", "--json", *at))["pid"]
            check(pid != 0 and "runs at" in output("hint", "status", *at), "status")
            refused(["hint", "start", *at], "runs already")
        finally:
            output("hint", "stop", *at)
        check(not os.path.exists(f"{f}/s"), "its socket is left")
        eventually(lambda: not os.path.exists(f"/proc/{pid}") or "\nState:\tZ" in open(f"/proc/{pid}/status").read(), "it has not ended")
        output("hint", "start", *at)  # at once
        output("hint", "stop", *at)


@test
def hint_gives_up_a_service_that_is_stopped():
    with service() as (process, path):
        process.send_signal(signal.SIGSTOP)
        try:
            for what in ("status", "stop"):
                refused(["hint", what, "--socket", path], "does not answer")
        finally:
            process.send_signal(signal.SIGCONT)


@test
def hint_waits_for_a_service_that_is_late():
    with folder() as f:
        ready = multiprocessing.Event()
        late = multiprocessing.Process(target=answer_late, args=(f"{f}/s", 8, ready))
        late.start()
        ready.wait()
        check("process 1" in output("hint", "status", "--socket", f"{f}/s"), "it does not wait")
        late.join()


@test
def hint_counts_the_threads_that_are_ready():
    with service() as (_, path):
        status, _, (cpus, _) = join(path)
        check(status == DONE and word(cpus, 0) == MAGIC and word(cpus, 1) == VERSION, "not what it should be")
        cpu = min(os.sched_getaffinity(0))
        spinners = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for _ in range(3)]
        try:
            eventually(lambda: ready(cpus, cpu) >= 3, "three that want one CPU are not seen", 60)
        finally:
            for s in spinners:
                s.kill()
                s.wait()


@test
def hint_knows_whether_a_thread_runs():
    """A child, which has its parent's maps, watches it sleep and run. (Two threads of Python never run at once.)"""
    with service() as (_, path):
        status, slot, (_, sheet) = join(path)
        check(status == DONE and slot > 0, "not registered")
        eventually(lambda: runs(sheet, slot), "a thread that has slept is not seen to run")  # each try sleeps first
        asleep = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(Exception):
                eventually(lambda: word(sheet, 1024 + slot) != 0 and not runs(sheet, slot), "")
                os.write(asleep[1], b"!")
                eventually(lambda: runs(sheet, slot), "")
                os._exit(0)
            os._exit(1)
        os.close(asleep[1])
        check(os.read(asleep[0], 1) == b"!", "a thread that sleeps is taken for one that runs")
        ended = 0
        while ended == 0:
            ended, status = os.waitpid(child, os.WNOHANG)
        check(status == 0, "a thread that runs is taken for one that sleeps")
        os.close(asleep[0])


@test
def hint_takes_only_threads_of_the_one_who_asks():
    with service() as (process, path):
        check(ask(path, JOIN, process.pid, process.pid)[0] == NOT_YOURS, "another process")
        check(ask(path, JOIN, os.getpid(), process.pid)[0] == NOT_YOURS, "another process's thread")
        check(ask(path, JOIN, os.getpid(), 0)[0] == NOT_YOURS, "no thread")
        check(registered(path) == (0, 0), f"{registered(path)} are registered")


@test
def hint_gives_maps_that_cannot_be_written():
    with service() as (_, path):
        _, _, files = ask(path, JOIN, os.getpid(), threading.get_native_id())
        for f in files:
            for protection in [mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_WRITE]:
                try:
                    mmap.mmap(f, 4096, mmap.MAP_SHARED, protection)
                    check(False, "it can be written")
                except PermissionError:
                    pass
            os.close(f)


@test
def hint_refuses_threads_that_do_not_fit():
    with service() as (_, path):
        go, statuses = threading.Event(), []
        barrier = threading.Semaphore(0)

        def one():
            try:
                status, _, files = ask(path, JOIN, os.getpid(), threading.get_native_id())
                for f in files:
                    os.close(f)
                statuses.append(status)
            finally:
                barrier.release()
            go.wait()

        before = threading.stack_size(128 * 1024)
        team = [threading.Thread(target=one) for _ in range(SLOTS + 20)]
        threading.stack_size(before)
        for t in team:  # one after another: a queue of connections is no promise
            t.start()
            barrier.acquire()
        counted = registered(path)
        go.set()
        for t in team:
            t.join()
        check(statuses.count(DONE) == SLOTS and statuses.count(FULL) == 20, f"{statuses.count(DONE)} fit")
        check(counted == (1, SLOTS), f"{counted} are registered")
        eventually(lambda: registered(path) == (1, 0), "dead threads keep their slots")
        check(join(path)[0] == DONE, "there is no room after all")


@test
def hint_forgets_processes_that_are_killed():
    with service() as (process, path):
        files = len(os.listdir(f"/proc/{process.pid}/fd"))  # perhaps with the connection that was answered last
        for _ in range(5):
            ends = os.pipe()
            child = os.fork()
            if child == 0:
                status = 99
                with contextlib.suppress(Exception):
                    status = ask(path, JOIN, os.getpid(), os.getpid())[0]
                os.write(ends[1], bytes([status]))
                signal.pause()
            os.close(ends[1])
            status = os.read(ends[0], 1)
            os.close(ends[0])
            counted = registered(path)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            check(status == bytes([DONE]) and counted == (1, 1), f"{status} {counted}")
            eventually(lambda: registered(path) == (0, 0), "it is still there")
        eventually(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) <= files, "descriptors are left")


@test
def hint_stands_garbage():
    with service() as (process, path):
        check(ask(path, STATUS, version=VERSION + 1)[0] == BAD_VERSION, "another version")
        check(ask(path, 77)[0] == BAD_REQUEST, "no such request")
        files = len(os.listdir(f"/proc/{process.pid}/fd"))
        silent = []
        for i in range(300):  # connections that say nothing, or nothing sensible, or too much, and hang up or do not
            with contextlib.suppress(OSError):
                s = connect(path)
                if i % 3 != 0:
                    s.send(os.urandom([1, 20, 4000, 20000][i % 4]))
                if i % 5 == 0:
                    s.close()
                else:
                    silent.append(s)
            if i % 50 == 0:
                check(join(path)[0] == DONE, "those who ask well are not served")
        check(join(path)[0] == DONE, "those who ask well are not served")
        for s in silent:
            s.close()
        eventually(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) <= files + 2, "descriptors are left")  # our process has two


@test
def hint_lets_only_some_stop_it():
    if os.geteuid() != 0:
        raise Skipped("only root can be somebody else")
    with service() as (process, path):
        os.chmod(os.path.dirname(path), 0o755)
        child = os.fork()
        if child == 0:
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            status = 99
            with contextlib.suppress(Exception):
                status = ask(path, STOP)[0]
                s, slot, _ = join(path)
                status = 98 if s not in (DONE, NOT_YOURS) else status
            os._exit(status)
        check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == FORBIDDEN, "another user stops it")
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        p = pawl("hint", "stop", "--socket", path, **other)
        check(p.returncode == 2 and "only root" in p.stderr, f"{p.returncode} {p.stderr}")
        said = output("hint", "status", "--socket", path, **other)
        check("runs at" in said and "registered" not in said, said)
        said = json.loads(output("hint", "status", "--json", "--socket", path, **other))
        check(said["runs"] and said["threads"] is None and said["processes"] is None, str(said))
        check(process.poll() is None, "it has ended")


@test
def hint_holds_a_crowd():
    """As many threads as fit, and some more; then they are killed, and all is as before."""
    full = 16  # processes with all their slots taken
    running = int(pathlib.Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    if int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) - running < 1.5 * THREADS:
        raise Skipped("so many threads would leave others no room here")
    with service() as (process, path), folder() as f:
        p = run("cc", "-O1", "-I", harness.root, "-o", f"{f}/crowd", harness.root / "tests/cli/hint_crowd.c", "-lpthread")
        check(p.returncode == 0, p.stderr)
        files = len(os.listdir(f"/proc/{process.pid}/fd"))
        crowd = subprocess.Popen([f"{f}/crowd", path, *[str(SLOTS + 20)], *[str(SLOTS)] * (full - 1), str(THREADS - full * SLOTS + 30)],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            counts = crowd.stdout.readline().split()
            if crowd.poll() == 3 or counts == []:
                raise Skipped("there is no room for so many threads here")
            check(counts == [str(THREADS), str(20 + 30), "0"], f"taken, refused, other: {counts}")
            check(registered(path) == (full + 1, THREADS), f"{registered(path)} are registered")
        finally:
            crowd.stdin.close()
            crowd.stdout.close()
            crowd.wait()
        eventually(lambda: registered(path) == (0, 0), "they are still there")
        eventually(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) <= files, "descriptors are left")
        check(join(path)[0] == DONE, "there is no room after all")


@test
def hint_forgets_what_a_program_was_before_exec():
    """A thread that is not the first registers and begins another program: neither its number nor its slot is left."""
    with service() as (_, path):
        ends = os.pipe()
        child = os.fork()
        if child == 0:
            def other():
                ask(path, JOIN, os.getpid(), threading.get_native_id())
                os.dup2(ends[1], 1)
                os.execvp("sh", ["sh", "-c", "echo; exec sleep 600"])
            ask(path, JOIN, os.getpid(), os.getpid())
            threading.Thread(target=other).start()
            signal.pause()
        os.close(ends[1])
        check(os.read(ends[0], 1) == b"\n", "the other program does not run")
        counted = registered(path)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ends[0])
        check(counted == (1, 0), f"{counted} are registered")


@test
def hint_gives_another_user_another_sheet():
    """Children of a process have its sheet. If it becomes somebody else's program, they must not see that one."""
    if os.geteuid() != 0:
        raise Skipped("only root can be somebody else")
    with service() as (_, path):
        os.chmod(os.path.dirname(path), 0o755)
        child = os.fork()
        if child == 0:
            status = 99
            with contextlib.suppress(Exception):
                sheets = []
                for uid in (0, 65534, 65534):
                    os.seteuid(uid)
                    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: its files in /proc are this user's
                    answered, _, files = ask(path, JOIN, os.getpid(), os.getpid())
                    sheets.append([answer.instance] + [line for line in open(f"/proc/self/fdinfo/{files[1]}") if line.startswith("map_id:")])
                    check(answered == DONE, "refused")
                status = 0 if all(a != b == c for a, b, c in zip(*sheets)) else 1
            os._exit(status)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        check(code == 0, f"one sheet for two users, or two for one ({code})")
        eventually(lambda: registered(path) == (0, 0), "it is still there")


@test
def hint_stands_a_flood():
    """Several processes connect as fast as they can, say nonsense, ask well and hang up, or nothing at all."""
    with service() as (process, path):
        files = len(os.listdir(f"/proc/{process.pid}/fd"))
        _, _, (cpus, _) = join(path)
        flood = []
        try:
            for i in range(4):
                child = os.fork()
                if child == 0:
                    held = []
                    while True:
                        with contextlib.suppress(OSError):
                            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                            s.settimeout(1)
                            s.connect(path)
                            if i == 1:
                                s.send(os.urandom(20))
                            elif i == 2:
                                s.send(struct.pack("=5I", MAGIC, VERSION, JOIN, os.getpid(), os.getpid()))
                            held.append(s)
                            if len(held) > 200 or i == 2:
                                held.pop(0).close()
                flood.append(child)
            for _ in range(20):
                eventually(lambda: served(path), "those who ask well are never served")
            beat = word(cpus, 2)
            eventually(lambda: word(cpus, 2) != beat, "its heart stands still")
        finally:
            for child in flood:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        check(process.poll() is None, "it has ended")
        eventually(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) <= files + 2, "descriptors are left")


def served(path):
    with contextlib.suppress(OSError, struct.error):
        return ask(path, STATUS)[0] == DONE
    return False


def programs_of(pid):
    """The numbers of the BPF programs that a process has loaded."""
    found = set()
    for f in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError):
            found |= {line.split()[1] for line in open(f"/proc/{pid}/fdinfo/{f}") if line.startswith("prog_id:")}
    return found


@test
def hint_costs_a_switch_little():
    """Time can't be tested on a busy machine (scripts/hint_cost.py measures it). What takes it can: the program on a switch
    or a wake-up is short, and calls no function of the kernel, except that older ones have one for the number of the CPU."""
    if shutil.which("bpftool") is None:
        raise Skipped("bpftool is not installed")
    if pathlib.Path("/proc/sys/net/core/bpf_jit_enable").read_text().strip() == "0":
        raise Skipped("BPF is interpreted here, with calls")
    with service() as (process, path):
        seen = set()
        for number in programs_of(process.pid):
            name = run("bpftool", "prog", "show", "id", number).stdout.partition("name ")[2].split()[0]
            most = {"on_switch": 220, "on_wakeup": 60, "on_wakeup_new": 60}.get(name)
            if most is None:
                continue
            lines = [l for l in run("bpftool", "prog", "dump", "xlated", "id", number).stdout.splitlines() if ": (" in l]
            calls = [l for l in lines if " call " in l and "smp_processor_id" not in l]
            check(0 < len(lines) <= most and not calls, f"{name}: {len(lines)} instructions, {calls}")
            seen.add(name)
        check(seen == {"on_switch", "on_wakeup", "on_wakeup_new"}, f"only {seen}")


@test
def hint_can_be_killed_at_any_moment():
    """While it starts, while it is asked, whenever: nobody hangs, the kernel has nothing left, and another can start."""
    with service() as (first, path):
        loaded = programs_of(first.pid)
        check(len(loaded) >= 5, f"it has loaded {loaded}")
        for i in range(12):
            again = subprocess.Popen([harness.build / "pawl", "hint", "start", "--foreground", "--socket", f"{path}{i % 2}"], stderr=subprocess.DEVNULL)
            if i % 3 == 0:
                time.sleep(0.02 * i)  # somewhere in its start
            else:
                eventually(lambda: again.poll() is not None or os.path.exists(f"{path}{i % 2}"), "it does not start")
                for _ in range(i):
                    with contextlib.suppress(OSError, struct.error):
                        ask(f"{path}{i % 2}", JOIN, os.getpid(), os.getpid())
                with contextlib.suppress(OSError):
                    loaded |= programs_of(again.pid)
            again.kill()
            again.wait()
            with contextlib.suppress(OSError, struct.error):  # a client that comes now is refused, or hung up on
                ask(f"{path}{i % 2}", STATUS)
        first.kill()
        first.wait()
        if shutil.which("bpftool") is not None:
            eventually(lambda: all(run("bpftool", "prog", "show", "id", n).returncode != 0 for n in loaded), "programs are left in the kernel")
        at = ["--socket", path]
        output("hint", "start", *at)
        output("hint", "stop", *at)


@test
def hint_tells_versions_apart():
    """A service that was updated, and a pawl that was not."""
    with folder() as f:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(f"{f}/other")
        s.listen()

        def serve():
            for _ in range(2):
                c, _ = s.accept()
                c.recv(100)
                c.send(REPLY.pack(MAGIC, VERSION + 1, BAD_VERSION, 0, 0, 0, 0, 1, 0))
                c.close()
        t = threading.Thread(target=serve)
        t.start()
        refused(["hint", "stop", "--socket", f"{f}/other"], "another version")
        check(f"version {VERSION + 1} runs" in output("hint", "status", "--socket", f"{f}/other"), "status")
        t.join()
        s.close()


@test
def programs_outlive_the_service():
    """A program with contended locks, while its service stands still, goes on, is killed, started, stopped and started again."""
    with service() as (process, path), folder() as f:
        p = run("cc", "-O1", "-I", harness.root / "include", "-o", f"{f}/workers", harness.root / "tests/cli/hint_workers.c",
                harness.build / "src/libpawl.a", "-lpthread")
        check(p.returncode == 0, p.stderr)
        program = subprocess.Popen([f"{f}/workers"], env=environment(PAWL_HINT=path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        hangs = threading.Timer(300, program.kill)
        hangs.start()
        at = ["--socket", path]

        def works(when):
            program.stdin.write("\n")
            program.stdin.flush()
            check(program.stdout.readline() == "on\n", f"it does not work {when}")

        def is_known():
            return registered(path)[1] >= 2

        try:
            eventually(is_known, "nobody registers")
            check(registered(path)[0] == 1, "registered twice")
            works("with a service")
            process.send_signal(signal.SIGSTOP)
            works("while the service stands still")
            time.sleep(1.1)  # until it is not believed any more
            works("once the service is not believed any more")
            process.send_signal(signal.SIGCONT)
            works("when the service goes on")
            process.kill()
            process.wait()
            works("when the service was killed")
            output("hint", "start", *at)
            eventually(is_known, "nobody comes back")
            works("with another service")
            output("hint", "stop", *at)
            works("when the service was stopped")
            output("hint", "start", *at)
            eventually(is_known, "nobody comes back a second time")
            works("with a third")
            program.stdin.close()
            check(program.wait() == 0, "its locks do not exclude")
        finally:
            hangs.cancel()
            program.kill()
            program.wait()
            program.stdout.close()
            pawl("hint", "stop", *at)


@test
def the_unit_is_one_that_systemd_takes():
    if shutil.which("systemd-analyze") is None:
        raise Skipped("systemd-analyze is not installed")
    with folder() as f:
        unit = (harness.root / "hint/pawl-hint.service.in").read_text().replace("@BINDIR@", str(harness.build))
        with open(f"{f}/pawl-hint.service", "w") as file:
            file.write(unit)
        p = run("systemd-analyze", "verify", "--man=no", f"{f}/pawl-hint.service")
        check(p.returncode == 0 and not p.stderr, p.stderr)


@test
def hint_says_when_it_is_ready():
    """As the unit has it: what starts after it finds it."""
    check("Type=notify" in (harness.root / "hint/pawl-hint.service.in").read_text(), "the unit does not wait")
    with service() as _:
        pass  # or it can't be run here at all
    for name in ("{0}/notify", "@{0}/notify"):
        with folder() as f:
            at, path = name.format(f), f"{f}/s"
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("\0" + at[1:] if at[0] == "@" else at)
            s.settimeout(300)
            process = subprocess.Popen([harness.build / "pawl", "hint", "start", "--foreground", "--socket", path], env=environment(NOTIFY_SOCKET=at))
            try:
                check(s.recv(100) == b"READY=1", "it says something else")
                check(ask(path, STATUS)[0] == DONE, "it is not ready")
            finally:
                process.terminate()
                process.wait()
                s.close()


@test
def hint_needs_no_more_than_the_unit_lets_it():
    """With the capabilities of the unit and no others, a user's thread is registered all the same."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("it takes root and setpriv")
    unit = (harness.root / "hint/pawl-hint.service.in").read_text()
    line = next(l for l in unit.splitlines() if l.startswith("CapabilityBoundingSet="))
    kept = ",".join("+" + c.removeprefix("CAP_").lower() for c in line.partition("=")[2].split())
    with service() as _:
        pass  # or it can't be run here at all
    with folder() as f:
        os.chmod(f, 0o755)
        path = f"{f}/s"
        process = subprocess.Popen(["setpriv", "--bounding-set", f"-all,{kept}", "--no-new-privs",
                                    harness.build / "pawl", "hint", "start", "--foreground", "--socket", path])
        try:
            eventually(lambda: process.poll() is not None or os.path.exists(path), "it does not start")
            check(process.poll() is None, "it can't do with so little")
            p = run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "python3", "-c",
                    f"import sys; sys.path[:0] = ['{harness.root}/tests/cli']\n"
                    f"import os, hints\nsys.exit(hints.ask('{path}', 1, os.getpid(), os.getpid())[0])")
            check(p.returncode == DONE, f"{p.returncode} {p.stderr}")
        finally:
            process.terminate()
            process.wait()


@test
def doctor_sees_the_hint():
    def found(hint):
        return {f["name"]: f for f in json.loads(pawl("doctor", "--json", env=environment(PAWL_HINT=hint)).stdout)["findings"]}["hint"]
    off = found("off")
    check(off["offered"] is None and "PAWL_HINT=off" in off["found"], str(off))
    with folder() as f:
        check(found(f"{f}/none")["offered"] is False, "there is none")
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind(f"{f}/silent")
        s.listen()
        silent = found(f"{f}/silent")["found"]
        check("does not answer" in silent, silent)
        s.close()
    with service() as (_, path):
        works = found(path)
        check(works["offered"] is True, str(works))
