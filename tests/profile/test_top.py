"""pawl top, on a program whose hottest lock is known"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from harness import Skipped, check, children, eventually, folder, output, pawl, refused, run, test
from profiles import TABLES, culprit, default_library, line_of, shim, with_names
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
                with contextlib.suppress(ProcessLookupError):  # it has ended
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
        with terminal_of("top", "-p", pid, "--interval", "50ms", rows=rows, columns=columns) as (viewer, terminal):
            yield viewer, terminal


@contextlib.contextmanager
def terminal_of(*arguments, rows=40, columns=160, **variables):
    """A command with a terminal, and the terminal's other end."""
    terminal, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    viewer = subprocess.Popen([str(harness.build / "pawl"), *(str(a) for a in arguments)], stdin=other, stdout=other, stderr=other,
                              env=os.environ | {"TERM": "xterm"} | variables)
    os.close(other)
    try:
        yield viewer, terminal
    finally:
        viewer.kill()
        viewer.wait()
        os.close(terminal)


def read_until(terminal, text):
    seen, end = "", time.monotonic() + 100
    while text not in seen:
        check(time.monotonic() < end, f"'{text}' never came: {seen[-300:]}")
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")


def status_of(viewer, terminal):
    """Its exit status, or None if it does not end."""
    end = time.monotonic() + 100
    while viewer.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):  # the other end is closed
            if select.select([terminal], [], [], 0.1)[0]:
                os.read(terminal, 65536)
    return viewer.poll()


@test
def top_obeys_keys():
    with viewed(40, 160) as (viewer, terminal):
        read_until(terminal, "by time waited")
        os.write(terminal, b"s")
        read_until(terminal, "by acquisitions")
        os.write(terminal, b"1")
        read_until(terminal, "blocked by holder_a")
        os.write(terminal, b"q")
        check(status_of(viewer, terminal) == 0, f"exit {viewer.poll()}")


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
def top_looks_at_a_process_that_is_stopped():
    with running(harness.build / "pawl", "profile", "-o", "p", "--", culprit(), "forever", 3) as parent:
        eventually(lambda: children(parent.pid), "it did not start")
        pid = children(parent.pid)[0]
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).returncode == 0 and look(pid)["locks"], "no tables")
        os.kill(pid, signal.SIGSTOP)
        eventually(lambda: "T" in pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2], "it goes on")
        locks = look(pid)["locks"]
        check([(l["name"], l["acquisitions_per_second"]) for l in locks] == [("wanted", 0)], str(locks))


@test
def top_shows_a_lock_that_nobody_has_got():
    with running(harness.build / "pawl", "profile", "-o", "p", "--", harness.build / "tests/profile/awkward", "orphan", "stay") as parent:
        eventually(lambda: children(parent.pid) and children(children(parent.pid)[0]), "it did not start")
        pid = children(children(parent.pid)[0])[0]
        try:
            eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).returncode == 0, "no tables")
            eventually(lambda: [(l["name"], l["waiting"], l["worst_ns"] >= 10e6) for l in look(pid)["locks"]] == [("mutex", 1, True)], "never seen")
        finally:
            os.kill(pid, 9)


OTHER_VERSION = TABLES + r"""
__attribute__((constructor)) static void begin(void)
{
    char line[1000];
    unsigned long from, to;
    for (FILE *f = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, f) != NULL;)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from >= sizeof(stats_table))
            ((stats_table *)from)->version++;
}
"""


@test
def top_refuses_tables_of_another_version():
    with folder() as f:
        with running(harness.build / "pawl", "profile", "-o", "p", "--", "env", f"LD_PRELOAD={shim(f, OTHER_VERSION)}:{default_library()}", culprit(), "forever", 3) as parent:
            eventually(lambda: children(parent.pid) and os.readlink(f"/proc/{children(parent.pid)[0]}/exe") == str(culprit()), "it did not start")
            pid = children(parent.pid)[0]
            message = f"pawl: -p {pid}: was started by another version of pawl\n"
            eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).stderr == message, "it is read")


@test
def top_follows_a_process_into_another_program_and_names_what_it_loads():
    with folder() as f:
        harness.preload(f, "plugin", "#include <pthread.h>\npthread_mutex_t mutex_of_the_plugin = PTHREAD_MUTEX_INITIALIZER;\n"
                        "void plugged_in(void) { pthread_mutex_lock(&mutex_of_the_plugin); pthread_mutex_unlock(&mutex_of_the_plugin); }\n")
        for how in ["profile", "run"]:
            with running(harness.build / "pawl", how, *(["--stats=s"] if how == "run" else ["-o", "p"]), "--", harness.build / "tests/profile/awkward", "later", f"{f}/plugin.so") as parent:
                find = lambda: ([parent.pid] if how == "run" else children(parent.pid))
                eventually(find, "it did not start")
                pid = find()[0]
                eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", pid).returncode == 0, "no tables")
                with terminal_of("top", "-p", pid, "--interval", "50ms") as (viewer, terminal):
                    read_until(terminal, " mutex\r")
                    os.kill(pid, signal.SIGUSR1)
                    read_until(terminal, " mutex_of_the_plugin\r")
                    os.kill(pid, signal.SIGUSR1)
                    read_until(terminal, " quiet")
                    check(viewer.poll() is None, "it has ended")


# A program that is to be `awkward quiet` starts when there is a file START; and when there is TABLES, its tables are described.
LATE_START = r"""
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(int argc, char **argv)
{
    while (argc > 1 && strcmp(argv[1], "quiet") == 0 && access("FOLDER/START", F_OK) != 0)
        usleep(1000);
}
"""
LATE_TABLES = TABLES + r"""
__attribute__((constructor)) static void begin(int argc, char **argv)
{
    char line[1000];
    unsigned long from, to;
    if (argc < 2 || strcmp(argv[1], "quiet") != 0)
        return;
    for (FILE *f = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, f) != NULL;)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from >= sizeof(stats_table)) {
            ((stats_table *)from)->version = 0;
            fclose(fopen("FOLDER/EMPTY", "w"));
            while (access("FOLDER/TABLES", F_OK) != 0)
                usleep(1000);
            ((stats_table *)from)->version = STATS_VERSION;
        }
}
"""


@contextlib.contextmanager
def late(f):
    """A process that becomes another program with SIGUSR1, late."""
    harness.preload(f, "late", LATE_START.replace("FOLDER", f))
    preloaded = f"{shim(f, LATE_TABLES.replace('FOLDER', f))}:{default_library()}:{f}/late.so"
    with running(harness.build / "pawl", "run", "--stats=s", "--", "env", f"LD_PRELOAD={preloaded}", harness.build / "tests/profile/awkward", "later") as program:
        eventually(lambda: " mutex" in pawl("top", "--once", "--interval", "1ms", "-p", program.pid).stdout, "no tables")
        yield program


def is_other(pid):
    return "quiet" in pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")


@test
def top_waits_for_a_program_that_is_slow_to_start_and_forgets_the_one_before():
    with folder() as f, late(f) as program, terminal_of("top", "-p", program.pid, "--interval", "50ms") as (viewer, terminal):
        read_until(terminal, " mutex\r")
        os.write(terminal, b"1")  # a lock that the next program has not
        os.kill(program.pid, signal.SIGUSR1)
        read_until(terminal, "another program")
        time.sleep(0.5)  # ten intervals
        check(viewer.poll() is None, "it has ended before the program began")
        pathlib.Path(f, "START").touch()
        eventually(pathlib.Path(f, "EMPTY").exists, "no tables")
        time.sleep(0.5)
        check(viewer.poll() is None, "it has ended while there was nothing in the tables")
        pathlib.Path(f, "TABLES").touch()
        read_until(terminal, " quiet")


@test
def top_begins_when_there_is_something_in_the_tables():
    with folder() as f, late(f) as program:
        pathlib.Path(f, "START").touch()
        os.kill(program.pid, signal.SIGUSR1)
        eventually(pathlib.Path(f, "EMPTY").exists, "no tables")
        once = subprocess.Popen([harness.build / "pawl", "top", "--once", "--interval", "1ms", "-p", str(program.pid)], stdout=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            check(once.poll() is None, f"exit {once.poll()}")
            pathlib.Path(f, "TABLES").touch()
            check(once.wait(300) == 0, f"exit {once.poll()}")
        finally:
            once.kill()
            once.wait()


@test
def top_obeys_keys_and_signals_while_the_next_program_starts():
    for how in ["q", signal.SIGINT, signal.SIGTERM]:
        with folder() as f, late(f) as program, terminal_of("top", "-p", program.pid, "--interval", "3600s") as (viewer, terminal):
            read_until(terminal, " mutex\r")
            os.kill(program.pid, signal.SIGUSR1)
            eventually(lambda: is_other(program.pid), "it goes on")
            os.write(terminal, b"s")  # it looks
            read_until(terminal, "another program")
            os.write(terminal, b"q") if how == "q" else viewer.send_signal(how)
            check(status_of(viewer, terminal) == 0, f"{how}: exit {viewer.poll()}")


@test
def top_ends_with_the_process_whatever_the_interval():
    with running(harness.build / "pawl", "run", "--stats=s", "--", culprit(), "forever", 3) as program:
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", program.pid).returncode == 0, "no tables")
        with terminal_of("top", "-p", program.pid, "--interval", "3600s") as (viewer, terminal):
            read_until(terminal, "by time waited")
            once = subprocess.Popen([harness.build / "pawl", "top", "--once", "--interval", "3600s", "-p", str(program.pid)], stderr=subprocess.PIPE, text=True)
            try:
                eventually(lambda: "pidfd" in descriptors(once.pid), "it does not look")
                program.kill()  # there is a zombie until the end of the block
                check(status_of(viewer, terminal) == 0, f"exit {viewer.poll()}")
                check(once.communicate(timeout=100)[1] == f"pawl: -p {program.pid}: it has ended\n" and once.returncode == 2, "--once")
            finally:
                once.kill()
                once.communicate()


def descriptors(pid):
    found = []
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(os.readlink(link))
    return " ".join(found)


# For pawl: an interval is over when there is a file GO; of time between two looks at a program that starts, there is none if so wanted.
INTERVAL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int ppoll(struct pollfd *events, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    struct timespec none = {0};
    if (time->tv_sec == 0 && getenv("HURRY") != NULL)
        time = &none;
    if (time->tv_sec != 0) {
        char naps[300];
        snprintf(naps, sizeof naps, "FOLDER/NAPS.%d", (int)getpid());
        fclose(fopen(naps, "w"));
        while (access("FOLDER/GO", F_OK) != 0)
            usleep(1000);
        time = &none;
    }
    return ((int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))dlsym(RTLD_NEXT, "ppoll"))(events, count, time, mask);
}
"""


def interval(f):
    harness.preload(f, "interval", INTERVAL.replace("FOLDER", f))
    return f"{f}/interval.so"


@contextlib.contextmanager
def looking_once(f, pid, **variables):
    """pawl top --once, whose interval ends at the end of the block; what it says then is in the list."""
    said = []
    once = subprocess.Popen([harness.build / "pawl", "top", "--once", "--interval", "3600s", "-p", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=os.environ | variables)
    try:
        eventually(pathlib.Path(f, f"NAPS.{once.pid}").exists, "it does not look")
        yield said
        pathlib.Path(f, "GO").touch()
        said += once.communicate(timeout=300)
    finally:
        once.kill()
        once.communicate()


@test
def top_once_shows_an_interval_of_the_program_that_the_process_has_become():
    with folder() as f, late(f) as program:
        for name in ("START", "TABLES"):
            pathlib.Path(f, name).touch()
        with looking_once(f, program.pid, LD_PRELOAD=interval(f)) as said:
            os.kill(program.pid, signal.SIGUSR1)
            eventually(lambda: " quiet" in pawl("top", "--once", "--interval", "1ms", "-p", program.pid).stdout, "it goes on")
        check(" quiet" in said[0] and not said[1], str(said))


BARE = 'while ! [ -e "$0" ]; do sleep 0.05; done; exec env -i sleep 1000'


@test
def top_gives_up_a_program_that_never_has_tables():
    with folder() as f, running(harness.build / "pawl", "run", "--stats=s", "--", "sh", "-c", BARE, f"{f}/bare") as program:
        message = f"pawl: -p {program.pid}: has become a program without tables"
        surroundings = {"LD_PRELOAD": interval(f), "HURRY": "1"}
        eventually(lambda: pawl("top", "--once", "--interval", "1ms", "-p", program.pid).returncode == 0, "no tables")
        with terminal_of("top", "-p", program.pid, "--interval", "3600s", **surroundings) as (viewer, terminal):
            read_until(terminal, "by time waited")
            with looking_once(f, program.pid, **surroundings) as said:
                pathlib.Path(f, "bare").touch()
                eventually(lambda: pathlib.Path(f"/proc/{program.pid}/cmdline").read_text().startswith("sleep\0"), "it goes on")
            check(said == ["", f"{message}\n"], str(said))
            read_until(terminal, f"\033[?1049l{message}\r\n")  # not on the screen that is left
            check(status_of(viewer, terminal) == 2, f"exit {viewer.poll()}")


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
