"""What the tests of profiles share: programs with a known culprit, and ways to ask a profile about it."""

import contextlib
import functools
import json
import pathlib
import subprocess

from harness import Skipped, check, folder, pawl, root
import harness


def culprit():
    return harness.build / "tests/profile/culprit"


def line_of(mark, source="culprit.c"):
    """The line that has the mark."""
    lines = (root / "tests/profile" / source).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if mark in line)


def profiled(f, program, *arguments, status=0, options=()):
    """The profile of a program's run."""
    p = pawl("profile", "--json", f"{f}/p.json", *options, "--", program, *arguments)
    check(p.returncode == status, f"{arguments}: exit {p.returncode}: {p.stderr}")
    return json.loads((pathlib.Path(f) / "p.json").read_text())


def frames(profile, stack):
    return [] if stack is None else [profile["frames"][i] for i in profile["stacks"][stack]["frames"]]


def site(profile, stack):
    """The frame that is blamed: its function and line."""
    if stack is None:
        return None
    frame = profile["frames"][profile["stacks"][stack]["frames"][profile["stacks"][stack]["site"]]]
    return frame.get("function"), frame.get("line")


def blamed(profile, kind="mutex"):
    """The pairs of waiter and holder for locks of a kind, longest first."""
    return [(site(profile, w["waiter"]), site(profile, w["holder"]), w) for w in profile["waits"]
            if profile["locks"][w["lock"]]["kind"] == kind]


def check_culprit(profile, kind="mutex", name="wanted"):
    """All waits are for one lock; two functions waited, and one is to blame."""
    pairs = blamed(profile, kind)
    holder = ("holder_a", line_of("/* HOLDER */"))
    check(pairs and all(h == holder for _, h, _ in pairs), f"blamed: {[h for _, h, _ in pairs]}")
    waiters = {w for w, _, _ in pairs}
    check(waiters == {("waiter_b", line_of("WAITER_B")), ("waiter_c", line_of("WAITER_C"))}, f"waited: {waiters}")
    check(profile["locks"][0]["name"] == name, f"the lock is {profile['locks'][0]['name']}")
    for _, _, wait in pairs:
        check(wait["worst_ns"] >= 10e6, f"waited {wait['worst_ns']} ns")
        wrapper = frames(profile, wait["holder"])[0]["function"]
        check(wrapper == "lock_it", f"called by {wrapper}")


# ---- processes that run already

@contextlib.contextmanager
def running(*command):
    process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@functools.cache
def obstacle():
    """Why no process can be watched here, or None."""
    with running("sleep", 600) as other:
        p = pawl("profile", "-p", other.pid, "--for", "1ms", "-o", "/dev/null")
        return None if p.returncode == 0 else p.stderr.strip()


def attached(pid, *options):
    if obstacle():
        raise Skipped(obstacle())
    with folder() as f:
        p = pawl("profile", "-p", pid, "--for", "500ms", "--json", f"{f}/p", *options)
        check(p.returncode == 0 and p.stderr == "", f"exit {p.returncode}: {p.stderr}")
        return json.loads(pathlib.Path(f, "p").read_text())


def hottest(profile, name):
    return bool(profile["locks"]) and profile["locks"][0]["name"] == name and profile["locks"][0]["contended"] >= 4
