#!/usr/bin/env python3
"""walk.py - follows the walk at the head of preload/mutex/slow.c, from pthread_mutex_lock() to the lock's own text

Each function must call the next one, in the preprocessed source, and there may be at most six calls.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 6
LIBRARIES = {"mutex": ("REQUEUING_MUTEX", "HOLED"), "mcs": ("LOCK", "PLAIN"), "hapax_vw": ("LOCK", "HOLED_CONTEXT")}


def walk():
    """The names, in order."""
    head = (ROOT / "preload/mutex/slow.c").read_text().split("*/")[0]
    steps = re.findall(r"^ \*   (?:(\d)  )?(\w+)  +\S+\.[ch]\b", head, re.M)
    if [number for number, _ in steps] != ["", *map(str, range(1, len(steps)))]:
        sys.exit(f"walk.py: no walk in slow.c: {steps}")
    return [name for _, name in steps]


def functions(lock, form, room):
    """The text of each function of pthread.c and slow.c."""
    command = [*os.environ.get("CC", "cc").split(), "-E", "-P", "-std=gnu11", "-D_GNU_SOURCE", "-DPAWL_IN_PTHREAD_MUTEX", "-DPAWL_NO_HOOKS"]
    command += [f"-DPRELOAD_LOCK={lock}", f"-DPRELOAD_FORM=PAWL_FORM_{form}", f"-DPRELOAD_ROOM=PAWL_{room}"]
    command += [f"-I{ROOT}/include", f"-I{ROOT}", f"-I{ROOT}/preload/mutex"]
    found = {}
    for name in ("pthread.c", "slow.c"):
        text = subprocess.run([*command, f"{ROOT}/preload/mutex/{name}"], check=True, capture_output=True, text=True).stdout
        for match in re.finditer(r"(\w+) ?\([^;{}()]*\)\s*\{(.*?)^\}", text, re.S | re.M):
            found.setdefault(match[1], match[2])
    return found


def main():
    names = walk()
    failed = len(names) - 1 > MOST
    if failed:
        print(f"FAIL {len(names) - 1} calls, {MOST} are the most")
    for lock, columns in LIBRARIES.items():
        text = functions(lock, *columns)
        steps = [name.replace("X", lock) for name in names]
        for caller, callee in zip(steps, steps[1:]):
            if not re.search(rf"\b{callee} ?\(", text.get(caller, "")):
                print(f"FAIL {lock}: {caller}() does not call {callee}()")
                failed = True
    print(f"the walk of a lock call: {len(names) - 1} calls, {'failed' if failed else 'passed'}")
    sys.exit(failed)


main()
