"""bench.py BUILD [--lock NAME,...] [--runs N] [--scale N]

Throughput of programs with four threads, natively and with locks of Pawl under them; the runs take turns, each time in
the other order, so that what else happens on the machine happens to all. Shows medians, the extremes, and the ratio to
glibc's.
"""

import argparse
import os
import pathlib
import statistics
import sys

import programs
from stage import Failure, Missing, Stage

# How much work is about a second; unbound's threads and its clients meet in the kernel, which takes more to even out.
WORK = [(programs.sqlite_private, 2.5, "rows/s"), (programs.leveldb_readrandom, 6, "reads/s"),
        (programs.leveldb_fillrandom, 12, "writes/s"), (programs.unbound, 18, "answers/s")]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--lock", default="pawl_mutex")
    p.add_argument("--program", default=",".join(f.__name__ for f, _, _ in WORK))
    p.add_argument("--runs", type=int, default=7)
    p.add_argument("--scale", type=float, default=1)
    return p.parse_args()


def rate(options, function, lock, scale):
    with Stage(options.build, None, lock, options.scale * scale, timeout=300) as s:
        function(s)
        return s.speed[-1]


def measure(options, function, scale, unit, locks):
    rates = {lock: [] for lock in locks}
    for lock in locks:
        rate(options, function, lock, scale / 10)  # warm up
    for run in range(options.runs):
        for lock in locks if run % 2 == 0 else reversed(locks):
            rates[lock].append(rate(options, function, lock, scale))
    native = statistics.median(rates[None])
    for lock in locks:
        median = statistics.median(rates[lock])
        print(f"{function.__name__:20} {lock or 'glibc':16} {median:12.0f} {min(rates[lock]):12.0f} "
              f"{max(rates[lock]):12.0f} {median / native:6.2f}  {unit}", flush=True)


def main():
    options = arguments()
    options.build = options.build.resolve()
    locks = [None, *options.lock.split(",")]
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, median of {options.runs}")
    print(f"{'program':20} {'lock':16} {'median':>12} {'min':>12} {'max':>12} {'ratio':>6}")
    for function, scale, unit in WORK:
        if function.__name__ in options.program.split(","):
            try:
                measure(options, function, scale, unit, locks)
            except Missing as e:
                print(f"{function.__name__:20} not installed: {e}")
            except Failure as e:
                sys.exit(f"{function.__name__}: {e}")


if __name__ == "__main__":
    main()
