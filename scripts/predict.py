#!/usr/bin/env python3
"""predict.py BUILD_DIR [--machine NAME] MEASURED... - how well pawl sim predicts what pawl bench has measured

Takes results of `pawl bench mutexbench --json` of one preset each, made on the machine that is simulated: a file that `pawl
sim machines this` wrote, or by default `this`. Shows both rates, their quotient, and that divided by the median of its
column: whether locks compare as they did.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys


def rates(result):
    """{(lock, threads): M/s}"""
    return {(x["lock"], x["threads"]): x["median"] / 1e6 for x in result["points"]}


def simulated(pawl, machine, preset, wait, measured):
    locks, threads = (list(dict.fromkeys(column)) for column in zip(*measured))
    p = subprocess.run([pawl, "sim", "mutexbench", "--machine", machine, "--preset", preset, "--lock", ",".join(locks), "--threads",
                        ",".join(map(str, threads)), "--wait", wait, "--duration", "20ms", "--json"],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        sys.exit(p.stderr.strip())
    return rates(json.loads(p.stdout))


def compare(threads, theirs, ours):
    """Prints a column, and returns whether each lock is near."""
    quotients = {lock: ours[lock, t] / theirs[lock, t] for lock, t in theirs if t == threads}
    usual = statistics.median(quotients.values())
    for lock, quotient in quotients.items():
        print(f"{threads:7} {lock:14} {ours[lock, threads]:9.3f} {theirs[lock, threads]:9.3f} {quotient:8.2f} {quotient / usual:9.2f}")
    return [0.8 <= quotient / usual <= 1.25 for quotient in quotients.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--machine", default="this")
    parser.add_argument("measured", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    near = {}
    for path in options.measured:
        try:
            result = json.loads(path.read_text())
            preset, wait, theirs = result["preset"], result["parameters"]["wait"], rates(result)
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: no result of a preset by pawl bench mutexbench --json: {error}")
        ours = simulated(options.build / "pawl", options.machine, preset, wait, theirs)
        print(f"{preset}\n\n{'threads':>7} {'lock':14} {'simulated':>9} {'measured':>9} {'quotient':>8} {'of ratios':>9}")
        for threads in dict.fromkeys(t for _, t in theirs):
            near.setdefault(threads, []).extend(compare(threads, theirs, ours))
        print()
    for threads, within in near.items():
        print(f"{threads} threads: {sum(within)} of {len(within)} ratios within 25 %")


main()
