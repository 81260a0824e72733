#!/usr/bin/env python3
"""predict.py BUILD_DIR [--machine NAME] MEASURED... - how well pawl sim predicts what pawl bench has measured

Takes results of `pawl bench mutexbench --json` of one preset each, made on the machine that is simulated: a file that `pawl
sim machines this` wrote, or by default `this`. Files of one preset are put together. Simulates the same and compares means of runs: a lock that serves in order has
a fast and a slow state, and a median would be one of the two. What is compared is how the locks of one number of threads
relate to each other: simulated over measured, divided by the median of this quotient over the locks.

A few runs of a lock with two states have a mean that chance decides. So runs are drawn with replacement, a thousand times,
the measured and the simulated: that gives each ratio an interval of 95 %. A ratio is met if all of it is within 25 %, missed
if all of it is outside, and open otherwise: more runs would be needed. A lock whose measured mean does not repeat within 25 %
(two such drawings of its runs compared) can't be predicted by any model: the median is that of the others.

--promise 1,8 makes the exit status 1 if a ratio of a lock that does repeat is missed with 1 or 8 threads. --again FILE compares
with a second measurement instead of a simulation: nothing simulated can do better than that.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

LEAST, MOST = 0.8, 1.25
LEAST_FIRM = 3
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
    """Each lock for as long as was measured, or for so many acquisitions."""
    theirs, measured = result["runs"], result["parameters"]["duration_s"]

    def one(point):
        lock, threads = point
        rate = statistics.mean(theirs[point]) * 1e6
        return simulate(pawl, options, result, [lock], threads, max(1e-3, min(measured, options.acquisitions / rate)))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {point: runs for ours in pool.map(one, theirs) for point, runs in ours.items()}


def ratios(theirs, ours, firm):
    """Of means: {lock: how it compares with the firm ones, over how it did}"""
    quotients = {lock: ours[lock] / theirs[lock] for lock in theirs}
    usual = statistics.median(quotients[lock] for lock in firm)
    return {lock: quotient / usual for lock, quotient in quotients.items()}


def mean_of_drawn(values, draw):
    return statistics.fmean(draw.choices(values, k=len(values)))


def drawn(runs, draw):
    return {lock: mean_of_drawn(values, draw) for lock, values in runs.items()}


def middle(drawings):
    """95 % of them."""
    ends = sorted(drawings)
    return ends[DRAWINGS // 40], ends[-1 - DRAWINGS // 40]


def repeats(values):
    draw = random.Random(1)
    return verdict(middle([mean_of_drawn(values, draw) / mean_of_drawn(values, draw) for _ in range(DRAWINGS)])) == "met"


def intervals(theirs, ours, firm):
    """{lock: the middle 95 % of its ratio}"""
    draw = random.Random(1)
    drawings = [ratios(drawn(theirs, draw), drawn(ours, draw), firm) for _ in range(DRAWINGS)]
    return {lock: middle([d[lock] for d in drawings]) for lock in theirs}


def verdict(interval):
    low, high = interval
    return "met" if LEAST <= low and high <= MOST else "missed" if high < LEAST or low > MOST else "open"


def compare(threads, theirs, ours):
    """Prints a column of the matrix, and returns for each lock what came of it."""
    firm = [lock for lock in theirs if repeats(theirs[lock])]
    means = {lock: (statistics.fmean(ours[lock]), statistics.fmean(theirs[lock])) for lock in theirs}
    reference = firm or list(theirs)
    ratio = ratios({lock: m[1] for lock, m in means.items()}, {lock: m[0] for lock, m in means.items()}, reference)
    ends = intervals(theirs, ours, reference)
    all = []
    for lock, (our, their) in means.items():
        all.append((LEAST <= ratio[lock] <= MOST, verdict(ends[lock]), lock in firm))
        print(f"{threads:7} {lock:14} {our:9.3f} {their:9.3f} {our / their:8.2f} {ratio[lock]:6.2f} {ends[lock][0]:6.2f} to {ends[lock][1]:6.2f}"
              f"  {verdict(ends[lock])}{'' if lock in firm else ', does not repeat'}")
    return all


def read(path):
    """What was measured, with the runs of each point."""
    try:
        result = json.loads(path.read_text())
        runs, how = runs_of(result), {key: result["parameters"][key] for key in ("duration_s", "warm_up_s", "wait")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: no result of a preset by pawl bench mutexbench --json: {error!r}")
    if not runs or min(min(values, default=0) for values in runs.values()) <= 0:
        sys.exit(f"{path}: nothing is related to a lock that nobody got, or to none")
    return {"path": path, "preset": result["preset"], "parameters": how, "runs": runs}


def together(results):
    """One for each preset."""
    all = {}
    for result in results:
        first = all.setdefault(result["preset"], result | {"runs": {}})
        if result["parameters"] != first["parameters"]:
            sys.exit(f"{result['path']}: measured otherwise than {first['path']}")
        for point, runs in result["runs"].items():
            first["runs"].setdefault(point, []).extend(runs)
    for result in all.values():
        if min(map(len, result["runs"].values())) < 2:
            sys.exit(f"{result['path']}: at least two runs of each point are needed (--runs)")
    return all


def numbers(text):
    try:
        return [int(t) for t in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not numbers of threads: {text}") from error


def check_promise(threads, columns):
    """Related to two others at least, or a ratio is met because it is related to itself."""
    for t in threads:
        firm = sum(firm for _, _, firm in columns.get(t, []))
        if firm < LEAST_FIRM:
            sys.exit(f"with {t} threads, {firm} locks repeat, which are too few for a promise")


def sums(threads, all):
    met, missed = (sum(v == word for _, v, firm in all if firm) for word in ("met", "missed"))
    firm = sum(firm for _, _, firm in all)
    near = sum(near for near, _, firm in all if firm)
    print(f"{threads:2} threads: of {len(all)} locks {firm} repeat; of these, {near} within 25 %: {met} met, {missed} missed, {firm - met - missed} open; "
          f"of the others, {sum(near for near, _, firm in all if not firm)} within 25 %")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--machine", default="this")
    parser.add_argument("--runs", type=int, help="simulate fewer runs than were measured")
    parser.add_argument("--acquisitions", type=float, default=500e3, help="simulate fast locks for so many only")
    parser.add_argument("--promise", type=numbers, default=[], metavar="THREADS",
                        help="fail if a ratio that repeats is missed with so many threads")
    parser.add_argument("--again", type=pathlib.Path, help="a second measurement, instead of a simulation")
    parser.add_argument("measured", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if not options.again and not (options.build / "pawl").is_file():
        parser.error(f"{options.build}: no pawl is there")
    if options.runs is not None and options.runs < 1:
        parser.error("--runs: at least one")
    broken, again = 0, together([read(options.again)]) if options.again else None
    for preset, result in together(map(read, options.measured)).items():
        theirs = result["runs"]
        if again and (preset not in again or again[preset]["parameters"] != result["parameters"] or not theirs.keys() <= again[preset]["runs"].keys()):
            sys.exit(f"{options.again}: has not all that {preset} has, or was measured otherwise")
        ours = again[preset]["runs"] if again else simulated(options.build / "pawl", options, result)
        print(f"{result['preset']}\n\n{'threads':>7} {'lock':14} {'again' if options.again else 'simulated':>9} {'measured':>9} {'quotient':>8} {'ratio':>6}   of 95 %")
        columns = {threads: compare(threads, *({lock: of[lock, threads] for lock, t in theirs if t == threads} for of in (theirs, ours)))
                   for threads in dict.fromkeys(t for _, t in theirs)}
        print()
        check_promise(options.promise, columns)
        for threads, all in columns.items():
            missed = sums(threads, all)
            broken += missed if threads in options.promise else 0
        print(flush=True)
    sys.exit(f"the promise is broken {broken} times" if broken else 0)


main()
