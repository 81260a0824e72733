#!/usr/bin/env python3
"""predict.py BUILD_DIR [--machine NAME] MEASURED... - how well pawl sim predicts what pawl bench has measured

Takes results of `pawl bench mutexbench --json` of one preset each, made on the machine that is simulated: a file that `pawl
sim machines this` wrote, or by default `this`. Files of one preset are put together. Simulates the same and compares means of runs: a lock that serves in order has
a fast and a slow state, and a median would be one of the two. What is compared is how the locks of one number of threads
relate to each other: simulated over measured, divided by the median of this quotient over the locks.

A few runs of a lock with two states have a mean that chance decides. So runs are drawn with replacement, a thousand times,
the measured and the simulated: that gives each ratio an interval of 95 %. A ratio is met if all of it is within 25 %, missed
if all of it is outside, and open otherwise: more runs would be needed. A ratio that the measured runs alone do not hold to 25 %
(two such drawings of them compared) can't be met by any model.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

LEAST, MOST = 0.8, 1.25
DRAWINGS = 1000


def runs_of(result):
    """{(lock, threads): M/s of each run}"""
    return {(x["lock"], x["threads"]): [r["value"] / 1e6 for r in x["runs"]] for x in result["points"]}


def simulate(pawl, options, result, locks, threads, seconds):
    parameters, runs = result["parameters"], min([options.runs or 1000, *map(len, result["runs"].values())])
    p = subprocess.run([pawl, "sim", "mutexbench", "--machine", options.machine, "--preset", result["preset"], "--lock", ",".join(locks),
                        "--threads", str(threads), "--wait", parameters["wait"], "--duration", f"{seconds * 1e3:g}ms", "--warm-up",
                        f"{min(parameters['warm_up_s'], seconds) * 1e3:g}ms", "--runs", str(runs), "--json"],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        sys.exit(p.stderr.strip())
    return runs_of(json.loads(p.stdout))


def simulated(pawl, options, result):
    """For as long as was measured, or for so many acquisitions."""
    theirs, ours, measured = result["runs"], {}, result["parameters"]["duration_s"]
    for threads in dict.fromkeys(t for _, t in theirs):
        rates = {lock: statistics.mean(theirs[lock, t]) * 1e6 for lock, t in theirs if t == threads}
        fast = [lock for lock in rates if rates[lock] * measured > options.acquisitions]
        slow = [lock for lock in rates if lock not in fast]
        for locks in filter(None, (fast, slow)):
            ours |= simulate(pawl, options, result, locks, threads, min(measured, options.acquisitions / max(rates[lock] for lock in locks)))
    return ours


def ratios(theirs, ours):
    """Of means: {lock: how it compares with the others, over how it did}"""
    quotients = {lock: ours[lock] / theirs[lock] for lock in theirs}
    usual = statistics.median(quotients.values())
    return {lock: quotient / usual for lock, quotient in quotients.items()}


def drawn(runs, draw):
    return {lock: statistics.fmean(draw.choices(values, k=len(values))) for lock, values in runs.items()}


def intervals(theirs, ours):
    """{lock: the middle 95 % of its ratio}"""
    draw = random.Random(1)
    drawings = [ratios(drawn(theirs, draw), drawn(ours, draw)) for _ in range(DRAWINGS)]
    ends = {lock: sorted(d[lock] for d in drawings) for lock in theirs}
    return {lock: (all[DRAWINGS // 40], all[-1 - DRAWINGS // 40]) for lock, all in ends.items()}


def verdict(interval):
    low, high = interval
    return "met" if LEAST <= low and high <= MOST else "missed" if high < LEAST or low > MOST else "open"


def compare(threads, theirs, ours):
    """Prints a column of the matrix, and returns for each lock what came of it."""
    means = {lock: (statistics.fmean(ours[lock]), statistics.fmean(theirs[lock])) for lock in theirs}
    ratio = ratios({lock: m[1] for lock, m in means.items()}, {lock: m[0] for lock, m in means.items()})
    ends, own = intervals(theirs, ours), intervals(theirs, theirs)
    all = []
    for lock, (our, their) in means.items():
        firm = verdict(own[lock]) == "met"
        all.append((LEAST <= ratio[lock] <= MOST, verdict(ends[lock]), firm))
        print(f"{threads:7} {lock:14} {our:9.3f} {their:9.3f} {our / their:8.2f} {ratio[lock]:6.2f} {ends[lock][0]:6.2f} to {ends[lock][1]:6.2f}"
              f"  {verdict(ends[lock])}{'' if firm else ', measured runs differ too much'}")
    return all


def read(path):
    """What was measured, with the runs of each point."""
    try:
        result = json.loads(path.read_text())
        return {"preset": result["preset"], "parameters": result["parameters"], "runs": runs_of(result)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: no result of a preset by pawl bench mutexbench --json: {error}")


def together(results):
    """One for each preset."""
    all = {}
    for result in results:
        first = all.setdefault(result["preset"], result | {"runs": {}})
        for point, runs in result["runs"].items():
            first["runs"].setdefault(point, []).extend(runs)
    return all.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--machine", default="this")
    parser.add_argument("--runs", type=int, help="simulate fewer runs than were measured")
    parser.add_argument("--acquisitions", type=float, default=500e3, help="simulate fast locks for so many only")
    parser.add_argument("measured", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    for result in together(map(read, options.measured)):
        theirs = result["runs"]
        if min(map(len, theirs.values())) < 2:
            sys.exit(f"{result['preset']}: at least two runs of each point are needed (--runs)")
        ours = simulated(options.build / "pawl", options, result)
        print(f"{result['preset']}\n\n{'threads':>7} {'lock':14} {'simulated':>9} {'measured':>9} {'quotient':>8} {'ratio':>6}   of 95 %")
        sums = []
        for threads in dict.fromkeys(t for _, t in theirs):
            locks = [lock for lock, t in theirs if t == threads]
            sums.append((threads, compare(threads, {lock: theirs[lock, threads] for lock in locks}, {lock: ours[lock, threads] for lock in locks})))
        print()
        for threads, all in sums:
            met, missed = (sum(v == word for _, v, _ in all) for word in ("met", "missed"))
            firm = [near for near, _, firm in all if firm]
            print(f"{threads:2} threads: {sum(near for near, _, _ in all)} of {len(all)} ratios within 25 %: {met} met, {missed} missed, "
                  f"{len(all) - met - missed} open; {sum(firm)} of the {len(firm)} that the measured runs hold to 25 %")
        print(flush=True)


main()
