"""What the tests share: a way to run the command, and a way to be run."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
build = None  # set by run.py
tests = []
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it, and so would all that is run here


def test(function):
    tests.append(function)
    return function


class Skipped(Exception):
    """Says why a test can't run here. It counts as neither passed nor failed."""


def run_all():
    failed = skipped = 0
    for function in tests:
        try:
            function()
        except Skipped as e:
            skipped += 1
            print(f"SKIP {function.__name__}: skipped: {e}")
        except Exception as e:  # a failed test must not keep the others from running
            failed += 1
            print(f"FAILED {function.__name__}: {e or type(e).__name__}")
    print(f"{len(tests) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return failed


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def run(*command, **options):
    options = {"capture_output": True, "text": True, "timeout": 600} | options
    return subprocess.run([str(c) for c in command], **options)


def pawl(*arguments, **options):
    return run(build / "pawl", *arguments, **options)


def output(*arguments, **options):
    """Standard output of a command that must succeed and say nothing else."""
    p = pawl(*arguments, **options)
    check(p.returncode == 0, f"{arguments}: exit {p.returncode}: {p.stderr.strip()}")
    unexpected = [l for l in p.stderr.splitlines() if not re.match(r"pawl: warning: \d+ of \d+ points are in doubt: ", l)]
    check(not unexpected, f"{arguments}: unexpected: {unexpected}")
    return p.stdout


def refused(arguments, named, **options):
    """The command must exit with 2, print nothing, and name the culprit in one line."""
    p = pawl(*arguments, **options)
    check(p.returncode == 2, f"{arguments}: exit {p.returncode}, not 2")
    check(not p.stdout, f"{arguments}: wrote to standard output")
    lines = p.stderr.splitlines()
    check(len(lines) == 1, f"{arguments}: {len(lines)} lines of error: {p.stderr.strip()}")
    check(lines[0].startswith("pawl: "), f"{arguments}: {lines[0]}")
    check(named in lines[0], f"{arguments}: '{named}' is not in: {lines[0]}")


def registered():
    """The names of the locks, in the register's order."""
    return run(root / "scripts/names.sh", check=True).stdout.split()


def folder():
    return tempfile.TemporaryDirectory(prefix="pawl-test-")


def environment(**variables):
    return os.environ | variables


def preload(folder, name, code):
    """Makes NAME.so there."""
    with open(f"{folder}/{name}.c", "w") as file:
        file.write(code)
    p = run("cc", "-shared", "-fPIC", "-o", f"{folder}/{name}.so", f"{folder}/{name}.c", "-ldl")
    check(p.returncode == 0, p.stderr)


def children(pid):
    """Of a process, those that are still running."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it ended
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(process.name))
    return found


def running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def eventually(condition, message, seconds=300):
    """Soon on an idle machine; there is no hurry on another."""
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, message)
        time.sleep(0.02)
