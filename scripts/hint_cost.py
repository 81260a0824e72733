#!/usr/bin/env python3
"""hint_cost.py PAWL [SECONDS]: what the service of `pawl hint` costs each context switch; needs root, two CPUs and quiet

Two threads yield to each other on one CPU, and then two wake each other, all the time. Meanwhile the service is started
and stopped on another. So all differences but the one in question are the same for both.
"""

import bisect
import os
import statistics
import subprocess
import sys
import tempfile
import time

SWITCHES = r"""
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 500 }; /* switches by each thread between two lines of output */
static atomic_int turn;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *run(void *first)
{
    for (double start = now(), end;; start = end) {
        for (int i = 0; i < SLICE; i++) {
#ifdef WAKE
            int mine = first != NULL;
            while (atomic_load(&turn) != mine)
                syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
            atomic_store(&turn, !mine);
            syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
            sched_yield();
#endif
        }
        end = now();
        if (first != NULL)
            printf("%.0f %.1f\n", end, (end - start) / (2 * SLICE));
    }
}

int main(void)
{
    pthread_t other;
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_create(&other, NULL, run, NULL);
    run(&other);
}
"""


def measure(pawl, seconds, folder, *options):
    program, lines, spans = f"{folder}/switches", f"{folder}/lines", []
    with open(f"{program}.c", "w") as f:
        f.write(SWITCHES)
    subprocess.run(["cc", "-O2", *options, "-pthread", "-o", program, f"{program}.c"], check=True)
    mine, its = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, {mine})
    with open(lines, "w") as f:
        switches = subprocess.Popen(["taskset", "-c", str(its), program], stdout=f)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            for runs in (False, True):
                service = subprocess.Popen([pawl, "hint", "start", "--foreground", "--socket", f"{folder}/socket"]) if runs else None
                time.sleep(0.4)  # it starts
                begin = time.monotonic_ns()
                time.sleep(0.3)
                spans.append((begin, time.monotonic_ns(), runs))
                if runs:
                    service.terminate()
                    if service.wait() != 0:
                        sys.exit(f"{pawl} hint start has failed")
    finally:
        switches.kill()
        switches.wait()
        os.sched_setaffinity(0, {mine, its})
    times, costs = zip(*([float(n) for n in line.split()] for line in open(lines).readlines()[:-1]))
    undisturbed = {False: [], True: []}
    for begin, stop, runs in spans:  # interrupts, and other machines on the same host, only add
        undisturbed[runs].append(statistics.quantiles(costs[bisect.bisect(times, begin):bisect.bisect(times, stop)], n=10)[0])
    least = {runs: sorted(costs)[:max(2, len(costs) // 4)] for runs, costs in undisturbed.items()}
    error = sum(statistics.variance(l) / len(l) for l in least.values()) ** 0.5
    return statistics.mean(least[False]), statistics.mean(least[True]), error, len(spans) // 2


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    seconds = float(sys.argv[2]) if len(sys.argv) == 3 else 60
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (("a switch", []), ("a wake-up and a switch", ["-DWAKE"])):
            without, having, error, times = measure(sys.argv[1], seconds / 2, folder, *options)
            print(f"{name}: {without:.0f} ns, with the service {having - without:.0f} +- {error:.0f} more ({times} times each, the least disturbed quarter)",
                  flush=True)


main()
