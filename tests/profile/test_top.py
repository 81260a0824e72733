"""pawl top, on a program whose hottest lock is known"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import termios
import time

from harness import Skipped, check, children, eventually, folder, output, pawl, refused, run, test
from profiles import culprit, line_of, with_names
import harness


@contextlib.contextmanager
def running(*command):
    """The process of the culprit, which goes on until the end of the block."""
    with folder() as f:
        parent = subprocess.Popen([str(c) for c in command], cwd=f, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield parent
        finally:
            for child in children(parent.pid):
                os.kill(child, 9)
            parent.kill()
            parent.wait()


def look(pid):
    return json.loads(output("top", "--once", "--json", "--interval", "200ms", "-p", pid))


@test
def top_shows_the_hottest_lock_and_who_holds_it_now():
    holder = f"in holder_a (culprit.c:{line_of('/* HOLDER */')})"
    with running(harness.build / "pawl", "profile", "-o", "p", "--", culprit(), "forever", 3) as parent:
        eventually(lambda: children(parent.pid), "it did not start")
        pid = children(parent.pid)[0]
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).returncode == 0, "no tables")

        def is_seen():
            locks = look(pid)["locks"]
            return locks and locks[0]["name"] == "wanted" and locks[0]["waits_per_second"] > 0 \
                and locks[0]["waited_ns_per_second"] > 0 and locks[0]["worst_ns"] >= 10e6 and locks[0]["holder"].endswith(holder)
        eventually(is_seen, "never seen")
        check("wanted" in output("top", "--once", "-p", pid), "the text")


@test
def top_watches_a_program_under_run_stats():
    with running(harness.build / "pawl", "run", "--stats=s", "--", culprit(), "forever", 3) as program:
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", program.pid).returncode == 0, "no tables")
        eventually(lambda: [l["name"] for l in look(program.pid)["locks"]] == ["wanted"], "never seen")


@test
def top_cuts_no_character_and_bears_names_of_any_bytes():
    with folder() as f:
        program, holder, _ = with_names(f)
        with running(harness.build / "pawl", "profile", "-o", "p", "--", program, "stay", "here") as parent:
            eventually(lambda: children(parent.pid), "it did not start")
            pid = children(parent.pid)[0]
            eventually(lambda: pawl("top", "--once", "--json", "--interval", "1ms", "-p", pid).returncode == 0, "no tables")
            eventually(lambda: [l["name"] for l in look(pid)["locks"]] == ["caf\N{REPLACEMENT CHARACTER}"], "never seen", 30)
            eventually(lambda: f" in {holder} (names.c:" in look(pid)["locks"][0]["holder"], "no holder", 30)


ALONE = """
pawl=$1 culprit=$2
$pawl top --once 2>&1
$pawl profile -o p1 -- $culprit forever 3 &
while ! $pawl top --once --interval 1ms >/dev/null 2>&1; do sleep 0.05; done
$pawl top --once --json --interval 1ms >one.json
$pawl profile -o p2 -- $culprit forever 3 &
while $pawl top --once --interval 1ms >/dev/null 2>&1; do sleep 0.05; done
$pawl top --once 2>&1
"""


@test
def top_finds_the_only_process_that_there_is():
    """Among processes of its own: there may be others on this machine."""
    apart = ("unshare", "--pid", "--fork", "--mount-proc")
    if run(*apart, "true").returncode != 0:
        raise Skipped("no name space for processes can be made")
    with folder() as f:
        p = run(*apart, "timeout", 300, "sh", "-c", ALONE, "sh", harness.build / "pawl", culprit(), cwd=f)
        none, several = p.stdout.splitlines()
        check(none == "pawl: no process was started by 'pawl profile' or 'pawl run --stats'", none)
        check(several.startswith("pawl: there are several processes to look at, ") and several.endswith(": choose one with -p"), several)
        check(json.loads(pathlib.Path(f, "one.json").read_text())["program"] == str(culprit()), "the only one")


@contextlib.contextmanager
def viewed(rows, columns):
    """A viewer of the culprit, and the other end of its terminal."""
    with running(harness.build / "pawl", "profile", "-o", "p", "--", culprit(), "forever", 3) as parent:
        eventually(lambda: children(parent.pid), "it did not start")
        pid = children(parent.pid)[0]
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).returncode == 0, "no tables")
        terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        viewer = subprocess.Popen([str(harness.build / "pawl"), "top", "-p", str(pid), "--interval", "50ms"], stdin=other, stdout=other,
                                  env=os.environ | {"TERM": "xterm"})
        os.close(other)
        try:
            yield viewer, terminal
        finally:
            viewer.kill()
            viewer.wait()
            os.close(terminal)


@test
def top_obeys_keys():
    with viewed(40, 160) as (viewer, terminal):
        seen = ""

        def reads(text):
            nonlocal seen
            end = time.monotonic() + 100
            while text not in seen:
                check(time.monotonic() < end, f"'{text}' never came: {seen[-300:]}")
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 65536).decode(errors="replace")
            seen = ""
        reads("by time waited")
        os.write(terminal, b"s")
        reads("by acquisitions")
        os.write(terminal, b"1")
        reads("blocked by holder_a")
        os.write(terminal, b"q")
        end = time.monotonic() + 100
        while viewer.poll() is None and time.monotonic() < end:
            with contextlib.suppress(OSError):  # the other end is closed
                if select.select([terminal], [], [], 0.1)[0]:
                    os.read(terminal, 65536)
        check(viewer.poll() == 0, f"exit {viewer.poll()}")


@test
def top_refuses_what_it_cannot_do():
    refused(["top", "--once", "-p", "4194303"], "-p 4194303: No such process")
    refused(["top", "--once", "-p", str(os.getpid())], "was not started by")
    refused(["top", "--once", "-p", "0"], "--pid '0'")
    refused(["top", "--once", "-p", "x"], "--pid 'x'")
    refused(["top", "--json"], "--json")
    refused(["top", "extra"], "extra")
    refused(["top"], "not a terminal", stdin=subprocess.DEVNULL)
    terminal, other = pty.openpty()
    for term in ("", "dumb"):
        p = subprocess.run([harness.build / "pawl", "top"], stdin=other, stdout=other, stderr=subprocess.PIPE, text=True, env=os.environ | {"TERM": term})
        check(p.returncode == 2 and p.stderr == f"pawl: TERM='{term}': no terminal to draw on; --once shows one interval\n", p.stderr)
    os.close(terminal)
    os.close(other)
    if os.getuid() == 0 and os.path.exists("/usr/bin/setpriv"):
        with running(harness.build / "pawl", "run", "--stats=s", "--", culprit(), "forever", 3) as program:
            eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", program.pid).returncode == 0, "no tables")
            p = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", harness.build / "pawl", "top", "--once", "-p", str(program.pid)],
                               capture_output=True, text=True)
            check(p.returncode in (2, 126, 127) and len(p.stderr.splitlines()) == 1, p.stderr)
            if p.returncode == 2:
                check("Permission denied" in p.stderr or "not permitted" in p.stderr, p.stderr)


@test
def top_fits_into_twenty_columns():
    with viewed(4, 20) as (viewer, terminal):
        seen = ""
        while seen.count("\033[H") < 3:
            check(select.select([terminal], [], [], 100)[0], "nothing came")
            seen += os.read(terminal, 65536).decode(errors="replace")
        for screen in seen.split("\033[H\033[J")[1:]:
            lines = screen.rstrip("\r\n").splitlines()
            check(len([l for l in lines if l]) <= 3 and all(len(l) <= 20 for l in lines), repr(screen))
