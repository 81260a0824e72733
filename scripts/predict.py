#!/usr/bin/env python3
"""predict.py BUILD_DIR [--machine NAME] MEASURED... - how well pawl sim predicts what pawl bench has measured

Takes results of `pawl bench mutexbench --json` of one preset each, made on the machine that is simulated: a file that `pawl
sim machines this` wrote, or by default `this`. Shows both rates, their quotient, and that divided by the median of its
column: whether locks compare as they did. In the end also how often one measured run predicts another as well.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys


def rates(result):
    """{(lock, threads): M/s}"""
    return {(x["lock"], x["threads"]): x["median"] / 1e6 for x in result["points"]}


def simulated(pawl, machine, preset, parameters, measured):
    """For as long as was measured: locks that serve in order sooner or later fall from a fast state into a slow one."""
    locks, threads = (list(dict.fromkeys(column)) for column in zip(*measured))
    p = subprocess.run([pawl, "sim", "mutexbench", "--machine", machine, "--preset", preset, "--lock", ",".join(locks), "--threads",
                        ",".join(map(str, threads)), "--wait", parameters["wait"], "--duration", f"{parameters['duration_s'] * 1e3:g}ms",
                        "--warm-up", f"{parameters['warm_up_s'] * 1e3:g}ms", "--json"],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        sys.exit(p.stderr.strip())
    return rates(json.loads(p.stdout))


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
        print(f"{threads:7} {lock:14} {our:9.3f} {their:9.3f} {our / their:8.2f} {ratio:9.2f}")
    return near(ratios)


def compare_runs(threads, result):
    """The same for every two runs of the measurement: how near could a prediction be?"""
    points = {(x["lock"], x["threads"]): [r["value"] for r in x["runs"]] for x in result["points"]}
    count = min(len(values) for values in points.values())
    runs = [{point: values[i] for point, values in points.items()} for i in range(count)]
    return [n for a, b in itertools.permutations(runs, 2) for n in near(of_ratios(threads, a, b))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--machine", default="this")
    parser.add_argument("measured", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    simulations, runs = {}, {}
    for path in options.measured:
        try:
            result = json.loads(path.read_text())
            preset, parameters, theirs = result["preset"], result["parameters"], rates(result)
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: no result of a preset by pawl bench mutexbench --json: {error}")
        ours = simulated(options.build / "pawl", options.machine, preset, parameters, theirs)
        print(f"{preset}\n\n{'threads':>7} {'lock':14} {'simulated':>9} {'measured':>9} {'quotient':>8} {'of ratios':>9}")
        for threads in dict.fromkeys(t for _, t in theirs):
            simulations.setdefault(threads, []).extend(compare(threads, theirs, ours))
            runs.setdefault(threads, []).extend(compare_runs(threads, result))
        print()
    for threads, within in simulations.items():
        own = sum(runs[threads]) / len(runs[threads]) if runs[threads] else 1
        print(f"{threads} threads: {sum(within)} of {len(within)} ratios within 25 %; of two measured runs, {own * len(within):.0f}")


main()
