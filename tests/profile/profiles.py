"""What the tests of profiles share: programs with a known culprit, and ways to ask a profile about it."""

import contextlib
import functools
import json
import os
import pathlib
import subprocess

import jsonschema

from harness import Skipped, check, folder, pawl, root, run
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
    return read(f"{f}/p.json")


def read(path):
    """A profile, as its schema says."""
    profile = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    jsonschema.validate(profile, json.loads((root / "profile/profile.schema.json").read_text()))
    return profile


def default_library():
    """Of the lock that is put under a program if none is named."""
    return next(l["library"] for l in json.loads(harness.output("run", "--list", "--json"))["locks"] if l["default"])


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


# Names of 401 bytes and more, of two each; a lock and a thread whose names are no UTF-8.
NAMES = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "asleep.h"
pthread_mutex_t m __asm__("caf\xe9") = PTHREAD_MUTEX_INITIALIZER;
sem_t ready;
volatile pid_t waiter;
__attribute__((noinline)) void HOLDER(void)
{
    pthread_mutex_lock(&m);
    sem_post(&ready);
    while (waiter == 0 || !is_asleep(waiter))
        nap(1);
}
__attribute__((noinline)) void *WAITER(void *p)
{
    prctl(PR_SET_NAME, "w\xff");
    sem_wait(&ready);
    waiter = gettid();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, WAITER, NULL);
    HOLDER();
    while (argc > 2)
        pause();
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
}
"""


def with_names(f):
    """A program with such names, and the first 400 bytes of those of its functions, if no character is cut."""
    names = {"HOLDER": "h" + "\N{LATIN SMALL LETTER E WITH ACUTE}" * 300, "WAITER": "w" + "\N{LATIN SMALL LETTER O WITH DIAERESIS}" * 300}
    code = NAMES
    for word, name in names.items():
        code = code.replace(word, name)
    pathlib.Path(f, "names.c").write_text(code, encoding="utf-8")
    p = run("cc", "-w", "-g", "-O1", f"-I{root}/tests/profile", "-o", f"{f}/names", f"{f}/names.c", "-lpthread")
    check(p.returncode == 0, p.stderr)
    return f"{f}/names", *(n[:200] for n in names.values())


# ---- libraries that write to the tables of the program that they are put under, or of pawl

TABLES = r"""
#define _GNU_SOURCE
#include "preload/stats/table.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((unused)) static void ruin(stats_table *t)
{
    for (int i = 1; i < STATS_STACKS; i++) {
        t->stacks[i].first = 0xffffffffu - 3;
        t->stacks[i].depth = 8;
        t->stacks[i].ready = 1;
    }
}
"""


def shim(f, code):
    pathlib.Path(f, "shim.c").write_text(code)
    p = run("cc", "-w", "-shared", "-fPIC", f"-I{root}", f"-I{root}/include", "-o", f"{f}/shim.so", f"{f}/shim.c", "-ldl")
    check(p.returncode == 0, p.stderr)
    return f"{f}/shim.so"


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
        return read(f"{f}/p")


def hottest(profile, name):
    return bool(profile["locks"]) and profile["locks"][0]["name"] == name and profile["locks"][0]["contended"] >= 4
