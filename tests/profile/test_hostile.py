"""pawl profile, with programs and surroundings that make it hard"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

from harness import Skipped, check, children, environment, eventually, folder, pawl, run, test
from profiles import culprit, profiled
import harness


def hostile():
    return harness.build / "tests/profile/hostile"


def counts(profile):
    return sorted(p["acquisitions"] for p in profile["processes"])


@test
def profile_survives_a_program_that_closes_all_descriptors():
    with folder() as f:
        check(counts(profiled(f, hostile(), "close", 10)) == [10], "acquisitions")


@test
def profile_follows_a_program_into_another_root_and_its_child():
    if os.getuid() != 0:
        raise Skipped("only root may change its root")
    with folder() as f, folder() as other:
        p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "chroot", 10, cwd=other)
        check(p.returncode == 0, p.stderr)
        parent, child = json.loads(pathlib.Path(f, "p").read_text())["processes"]
        check(parent["acquisitions"] == child["acquisitions"] == 10 and child["parent"] == parent["pid"], str((parent, child)))


@test
def profile_counts_until_a_thread_ends_the_process():
    with folder() as f:
        profile = profiled(f, hostile(), "leave", 100, status=7)
        check(counts(profile)[0] >= 100 and profile["end"] == "exit status 7", str(profile["processes"]))


@test
def profile_holds_ten_thousand_threads_fifty_processes_and_forty_programs():
    with folder() as f:
        check(counts(profiled(f, hostile(), "threads", 10000)) == [10000], "threads")
        check(counts(profiled(f, hostile(), "multiply", 50)) == [1] * 50, "processes")
        profile = profiled(f, hostile(), "exec", 40)
        check(counts(profile) == [1] * 40 and len({p["pid"] for p in profile["processes"]}) == 1, "programs")


@test
def profile_keeps_what_was_preloaded_before():
    with folder() as f:
        harness.preload(f, "other", '#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { write(1, "here\\n", 5); }\n')
        p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "close", 3, env=environment(LD_PRELOAD=f"{f}/other.so"))
        check(p.returncode == 0 and p.stdout.endswith("here\n"), f"{p.stdout}{p.stderr}")
        check(counts(json.loads(pathlib.Path(f, "p").read_text())) == [3], "acquisitions")


@contextlib.contextmanager
def small_disk(f):
    """A file system with room for a page."""
    os.mkdir(f"{f}/disk")
    p = run("mount", "-t", "tmpfs", "-o", "size=4k", "pawl-test", f"{f}/disk")
    if p.returncode != 0:
        raise Skipped(f"no file system can be mounted: {p.stderr.strip()}")
    try:
        yield f"{f}/disk"
    finally:
        run("umount", f"{f}/disk")


@test
def profile_leaves_nothing_on_a_disk_that_is_full():
    with folder() as f, small_disk(f) as disk:
        p = pawl("profile", "--html", f"{disk}/page.html", "--", hostile(), "close", 3)
        check((p.returncode, p.stderr) == (2, f"pawl: --html '{disk}/page.html': No space left on device\n"), p.stderr)
        check(os.listdir(disk) == [], str(os.listdir(disk)))


@test
def a_program_goes_on_when_its_profile_is_killed():
    with folder() as f:
        parent = subprocess.Popen([str(harness.build / "pawl"), "profile", "-o", f"{f}/p", "--", str(culprit()), "forever", "3"])
        eventually(lambda: children(parent.pid), "it did not start")
        child = children(parent.pid)[0]
        eventually(lambda: len(os.listdir(f"/proc/{child}/task")) == 4, "no threads")
        parent.kill()
        parent.wait()

        threads = set(os.listdir(f"/proc/{child}/task"))
        try:  # it makes new ones in each round
            eventually(lambda: set(os.listdir(f"/proc/{child}/task")).isdisjoint(threads - {str(child)}), "it stands still")
        finally:
            os.kill(child, signal.SIGKILL)
