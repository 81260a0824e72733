#!/usr/bin/env python3
"""predict.py BUILD_DIR - how well pawl sim predicts docs/results.md

Simulates the tables of that page on a model of its machine (vm-2), and shows both rates, their quotient, and the quotient
of both ratios to the lock that is the median of its column: whether locks compare as they did.
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys

PRESETS = ["hapax-fig3-max", "hapax-fig3-moderate", "reciprocating-fig1b"]
WAITS = {1: "spin", 2: "spin", 8: "park"}
PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/results.md"


def measured(preset):
    """{(lock, threads): M/s} of the page's table."""
    table = PAGE.read_text().split(f"<!-- by-threads {preset}-spin {preset}-park -->")[1].split("\n\n")[0]
    found = {}
    for line in table.splitlines():
        row = re.match(r"\| `(\w+)` \| ([\d.]+) .*?\| ([\d.]+) .*?\| ([\d.]+) ", line)
        if row and row[1] != "glibc":
            found |= {(row[1], t): float(row[2 + i]) for i, t in enumerate(WAITS)}
    return found


def simulated(pawl, preset, locks, threads):
    p = subprocess.run([pawl, "sim", "mutexbench", "--machine", "vm-2", "--preset", preset, "--lock", ",".join(locks), "--threads",
                        str(threads), "--wait", WAITS[threads], "--duration", "20ms", "--json"],
                       capture_output=True, text=True, check=True)
    return {(x["lock"], threads): x["median"] / 1e6 for x in json.loads(p.stdout)["points"]}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/predict.py BUILD_DIR")
    pawl = pathlib.Path(sys.argv[1]) / "pawl"
    near = {t: [] for t in WAITS}
    for preset in PRESETS:
        theirs = measured(preset)
        locks = list(dict.fromkeys(lock for lock, _ in theirs))
        print(f"{preset}\n\n{'threads':>7} {'lock':14} {'simulated':>9} {'measured':>9} {'quotient':>8} {'of ratios':>9}")
        for threads in WAITS:
            ours = simulated(pawl, preset, locks, threads)
            usual = statistics.median(ours[k] / theirs[k] for k in ours)
            for lock, _ in ours:
                quotient = ours[lock, threads] / theirs[lock, threads]
                print(f"{threads:7} {lock:14} {ours[lock, threads]:9.3f} {theirs[lock, threads]:9.3f} {quotient:8.2f} "
                      f"{quotient / usual:9.2f}")
                near[threads].append(0.8 <= quotient / usual <= 1.25)
        print()
    for threads, within in near.items():
        print(f"{threads} threads: {sum(within)} of {len(within)} ratios within 25 %")


main()
