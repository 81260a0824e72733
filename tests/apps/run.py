"""run.py BUILD [--scale N] [--lock NAME,...] [--program NAME,...] [--jobs N]

Runs real programs natively and with locks of Pawl under them, and compares what they produce. A line per failure,
then a summary.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import programs
from stage import Failure, Fixtures, Missing, Stage

LOCKS = ["pawl_mutex", "hapax_vw", "reciprocating", "hemlock", "mcs", "clh", "capacitor_tts"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--scale", type=float, default=1, help="how much work each program has")
    p.add_argument("--lock", default=",".join(LOCKS))
    p.add_argument("--program", default=",".join(f.__name__ for f in programs.all_programs))
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--verbose", action="store_true", help="show how long each run took")
    return p.parse_args()


def one_run(options, fixtures, function, lock):
    """("ok", result), ("failed", why) or ("missing", what)"""
    began = time.monotonic()
    try:
        with Stage(options.build, fixtures, lock, options.scale, timeout=300 + 60 * options.scale) as s:
            outcome = "ok", function(s)
    except Missing as e:
        outcome = "missing", str(e)
    except (Failure, OSError, ValueError) as e:
        outcome = "failed", f"{e or type(e).__name__}"
    if options.verbose:
        print(f"{function.__name__:26} {lock or 'native':16} {time.monotonic() - began:6.2f} s {outcome[0]}", flush=True)
    return outcome


def judge(name, lock, native, outcome):
    """None, or what is wrong."""
    if outcome[0] == "failed":
        return outcome[1]
    if lock is not None and native[0] == "ok" and outcome != native:
        return f"another result than natively: {str(outcome[1])[:200]} instead of {str(native[1])[:200]}"
    return None


def refused(build):
    """Why there is no library for a lock, by name."""
    out = subprocess.run([build / "pawl", "run", "--list", "--json"], capture_output=True, check=True).stdout
    return {l["name"]: l["reason"] for l in json.loads(out)["locks"] if not l["usable"]}


def main():
    options = arguments()
    options.build = options.build.resolve()
    chosen = [f for f in programs.all_programs if f.__name__ in options.program.split(",")]
    passed = failed = skipped = 0
    locks = [None]
    for lock in options.lock.split(","):
        reason = refused(options.build).get(lock)
        if reason is None:
            locks.append(lock)
        else:
            skipped += len(chosen)
            print(f"SKIP {lock}: {reason}")
    with tempfile.TemporaryDirectory(prefix="pawl-apps-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        fixtures = Fixtures(folder, options.scale)
        runs = {(f.__name__, lock): pool.submit(one_run, options, fixtures, f, lock) for f in chosen for lock in locks}
        for (name, lock), run in runs.items():
            outcome, native = run.result(), runs[name, None].result()
            wrong = judge(name, lock, native, outcome)
            if outcome[0] == "missing":
                skipped += 1
                if lock is None:
                    print(f"SKIP {name}: not installed: {outcome[1]}")
            elif wrong is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {name} under {lock or 'glibc'}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
