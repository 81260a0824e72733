#!/usr/bin/env python3
"""predict.py BUILD_DIR [--machine NAME] MEASURED... - how well pawl sim predicts what pawl bench has measured

Takes results of `pawl bench mutexbench --json` of one preset each, made on the machine that is simulated: a file that `pawl
sim machines this` wrote, or by default `this`. Simulates as many runs, as long, and compares means: a lock that serves in
order has a fast and a slow state, and a median of a few runs would be one of the two. (Fast ones are simulated for two million
acquisitions only.) Shows both rates, their quotient, and
that divided by the median of its column: whether locks compare as they did. In the end also how often one half of the
measured runs predicts the other as well.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys


def rates(result, of=lambda runs: runs):
    """{(lock, threads): M/s}, of all runs or of some"""
    return {(x["lock"], x["threads"]): statistics.mean(r["value"] for r in of(x["runs"])) / 1e6 for x in result["points"]}


def simulate(pawl, options, result, locks, threads, seconds):
    parameters, runs = result["parameters"], min(len(result["points"][0]["runs"]), options.runs or 1000)
    p = subprocess.run([pawl, "sim", "mutexbench", "--machine", options.machine, "--preset", result["preset"], "--lock", ",".join(locks),
                        "--threads", str(threads), "--wait", parameters["wait"], "--duration", f"{seconds * 1e3:g}ms", "--warm-up",
                        f"{min(parameters['warm_up_s'], seconds) * 1e3:g}ms", "--runs", str(runs), "--json"],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        sys.exit(p.stderr.strip())
    return rates(json.loads(p.stdout))


def simulated(pawl, options, result):
    """For as long as was measured, or for two million acquisitions."""
    theirs, ours, measured = rates(result), {}, result["parameters"]["duration_s"]
    for threads in dict.fromkeys(t for _, t in theirs):
        fast = [lock for lock, t in theirs if t == threads and theirs[lock, t] * measured > 2]
        slow = [lock for lock, t in theirs if t == threads and lock not in fast]
        for locks in filter(None, (fast, slow)):
            rate = max(theirs[lock, threads] for lock in locks)
            ours |= simulate(pawl, options, result, locks, threads, min(measured, 2 / rate))
    return ours


def of_ratios(threads, theirs, ours):
    """{lock: how it compares with the others, over how it did}"""
    quotients = {lock: ours[lock, t] / theirs[lock, t] for lock, t in theirs if t == threads}
    usual = statistics.median(quotients.values())
    return {lock: quotient / usual for lock, quotient in quotients.items()}


def near(ratios):
    return [0.8 <= r <= 1.25 for r in ratios.values()]


def compare(threads, theirs, ours):
    """Prints a column, and returns whether each lock is near."""
    ratios = of_ratios(threads, theirs, ours)
    for lock, ratio in ratios.items():
        our, their = ours[lock, threads], theirs[lock, threads]
        print(f"{threads:7} {lock:14} {our:9.3f} {their:9.3f} {our / their:8.2f} {ratio:9.2f}{'' if near({lock: ratio})[0] else ' *'}")
    return near(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--machine", default="this")
    parser.add_argument("--runs", type=int, help="simulate fewer runs than were measured")
    parser.add_argument("measured", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    simulations, halves = {}, {}
    for path in options.measured:
        try:
            result = json.loads(path.read_text())
            preset, theirs = result["preset"], rates(result)
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: no result of a preset by pawl bench mutexbench --json: {error}")
        if min(len(x["runs"]) for x in result["points"]) < 2:
            sys.exit(f"{path}: at least two runs of each point are needed (--runs)")
        ours = simulated(options.build / "pawl", options, result)
        odd, even = rates(result, lambda runs: runs[::2]), rates(result, lambda runs: runs[1::2])
        print(f"{preset}\n\n{'threads':>7} {'lock':14} {'simulated':>9} {'measured':>9} {'quotient':>8} {'of ratios':>9}")
        for threads in dict.fromkeys(t for _, t in theirs):
            simulations.setdefault(threads, []).extend(compare(threads, theirs, ours))
            halves.setdefault(threads, []).extend(near(of_ratios(threads, odd, even)))
        print()
    for threads, within in simulations.items():
        print(f"{threads} threads: {sum(within)} of {len(within)} ratios within 25 %; of two halves of the measured runs, {sum(halves[threads])}")


main()
