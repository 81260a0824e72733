"""Made-up results, as pawl bench writes them: the same every time, small, and with every kind of member."""

import json
import pathlib
import random

PERCENTILES = ["p50", "p90", "p99", "p99.9", "p99.99", "max"]

CALLS = {"membarriers_per_1000": 0, "futex_waits_per_1000": 41.5, "futex_waits_void_per_1000": 0.25, "futex_wakes_per_1000": 40}

BYPASSES = ["0", "1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "more than 64"]


def schedule(threads, count=128):
    """To and fro: who is at an end waits longest."""
    way = [*range(threads), *range(threads - 2, 0, -1)]
    return {"admissions": 65536, "period": len(way), "repeats": 0.99, "palindromes": 0.95, "bypass_mean": 2, "bypass_most": 4, "bypass_each": 1,
            "bypass": dict.fromkeys(BYPASSES, 0) | {"0": 0.75, "1": 0.25},
            "gaps": [{"p50": threads, "p99": threads + 1, "max": len(way) - min(i, threads - 1 - i)} for i in range(threads)],
            "first": [way[i % len(way)] for i in range(count)]}


COSTS = {"switches_per_1000": 1.5, "migrations_per_1000": 0.5, "cpu_ns_per_acquisition": 150}


def run(value, waits=None, **members):
    return {"value": value, "fairness": 0.9, "jain": 0.99, "starvation_ns": 5e4, "worst_wait_ns": 1e5, "cpu_s": 1.5,
            "voluntary_switches": 12, "involuntary_switches": 3, "migrations": 4, **COSTS, **CALLS,
            "perf": {"cycles": 1e9, "instructions": 5e8, "cache_misses": 1e5}, "wait_ns": waits} | members


def waits(base, threads):
    return dict(zip(PERCENTILES, [base, base * 2, base * 9, base * 80, base * 700, base * 9000])) | {
        "threads": [{"p50": base, "p99": base * (9 + i), "max": base * 9000} for i in range(threads)]}


def point(lock, threads, values, variant=None, pin="free", doubts=(), tail=False, **members):
    """Its values are in the order of the rounds, as in a file."""
    peer = lock.startswith(("glibc", "ck_", "nsync", "absl"))
    members = dict.fromkeys(CALLS) | members if peer else members
    runs = [run(v, waits(150 * threads + i, threads) if tail else None, **members) for i, v in enumerate(values)]
    values = sorted(values)
    return {"lock": lock, "family": "peer" if peer else "pawl",
            "threads": threads, "pin": pin, "variant": variant, "runs": runs, "median": values[len(values) // 2],
            "min": values[0], "max": values[-1], "q1": values[len(values) // 4], "q3": values[3 * len(values) // 4],
            "doubts": list(doubts)}


def result(workload, points, unit="acquisitions/s", higher_is_better=True, preset=None, doubts=(), machine=None, **parameters):
    return {"pawl": "0.1.0", "format": 1, "workload": workload, "preset": preset,
            "parameters": {"duration_s": 1, "warm_up_s": 0.1, "processes": 7, "pin": "free"} | parameters,
            "date": "2026-11-16T01:00:00Z",
            "machine": {"cpu": "Testor 9000", "cpus": 2, "sockets": 1, "cores": 2, "numa_nodes": 1, "kernel": "Linux 6.1",
                        "libc": "glibc 2.36", "compiler": "gcc 12.2.0", "commit": "c0ffee1", "topology": "1 package, 2 cores",
                        "perf": "no permission"} | (machine or {}),
            "harness_ns": 1.3 if higher_is_better else None, "unit": unit, "higher_is_better": higher_is_better,
            "points": points, "doubts": list(doubts)}


def spread(value, seed, count=7):
    """Runs within 2 % of the value."""
    generator = random.Random(seed)
    return [value * generator.uniform(0.98, 1.02) for _ in range(count)]


def sweep(locks, threads=(1, 2, 4, 8), **options):
    return [point(lock, t, spread(4e7 / (1 + i) / t, f"{lock} {t}"), **options) for t in threads for i, lock in enumerate(locks)]


LOCKS = ["ticket", "mcs", "reciprocating", "pawl_mutex", "glibc", "ck_mcs"]


def grid(ours=1, **options):
    """Two cells in which pawl_mutex is `ours` times 4 and 1/4 of glibc, one with waits, and a queue that `ck_mcs` has none of."""
    cells = [("cs 1, ncs 0", 16, 4 * ours, {"workload": "mutexbench", "cs": 1, "ncs": 0}, {}),
             ("cs 20us, ncs 0", 4, 0.25 * ours, {"workload": "mutexbench", "cs_ns": 20000, "ncs": 0}, {}),
             ("occasional: one of them every 1ms, cs 1, ncs 0", 16, 1, {"workload": "occasional", "period_ns": 1000000}, {"tail": True}),
             ("condvar: 4 producers, 4 consumers, 64 places", 8, 0.5, {"workload": "condvar", "places": 64}, {"worst_wait_ns": None})]
    points = []
    for name, threads, times, cell, members in cells:
        for lock, value in [("pawl_mutex", times), ("glibc", 1), ("ck_mcs", 2)]:
            if lock != "ck_mcs" or cell["workload"] != "condvar":
                points.append(point(lock, threads, spread(1e6 * value, f"{lock} {name}", **options), variant=name, **members) | {"cell": cell})
    return result("grid", points, unit="operations/s")


def every_workload():
    """A file of each workload, by name."""
    nothing = {"fairness": None, "jain": None, "starvation_ns": None, "worst_wait_ns": None, "perf": None}
    over = [(1, 2), (2, 4), (8, 16), (32, 64)]
    return {
        "max": result("mutexbench", sweep(LOCKS) + [point("mcs", 16, [1e5], doubts=["more threads than CPUs"])], preset="max",
                      doubts=["other programs were running"], cs=1, ncs=0, wait="park"),
        "moderate": result("mutexbench", [p for pin in ["compact", "scatter"] for p in sweep(LOCKS[:5], pin=pin)],
                           preset="moderate", cs=5, ncs="random:400", wait="park"),
        "atomic-struct": result("atomic-struct", [p for v in ["exchange", "cas"] for p in sweep(["mcs", "glibc"], (1, 2), variant=v)],
                                unit="operations/s"),
        "leveldb": result("leveldb", sweep(["ticket", "glibc"], (1, 2), **nothing), unit="reads/s"),
        "multiwait": result("multiwait", sweep(["mcs", "hemlock", "glibc"], (2, 4), **nothing), unit="steps/s"),
        "ring": result("ring", [point("ring", t, spread(2e7 / t / (i + 1), v), variant=v, **nothing)
                                for t in [2, 4, 8] for i, v in enumerate(["load", "cas", "swap", "faa"])], unit="hops/s"),
        "pingpong": result("pingpong", [point("line", 2, spread(50, "near"), variant="CPU 0 and 1", **nothing),
                                        point("line", 2, spread(90, "far"), variant="CPU 0 and 2", **nothing)],
                           unit="ns", higher_is_better=False),
        "occasional": result("occasional", sweep(["pawl_mutex", "glibc"], (4, 16), tail=True), cs_ns=10000, ncs=0, period_ns=1000000),
        "condvar": result("condvar", sweep(["pawl_mutex", "glibc"], (8,), **nothing), unit="items/s", producers=4, consumers=4, places=64),
        "schedule": result("schedule", [p for t in (1, 2, 6) for p in sweep(["mcs", "reciprocating", "glibc"], (t,), schedule=schedule(t))],
                           cs=1, ncs=0, wait="park"),
        "grid": grid(),
        "tail": result("tail", [p for ratio, t in over for p in sweep(["mcs", "pawl_mutex", "glibc"], (t,), tail=True,
                                                                      variant=f"oversubscription {ratio}")]),
    }


def crowd():
    """More locks than there are colours, dashes and marks of their own."""
    return result("mutexbench", sweep([f"lock_{i}" for i in range(50)] + ["glibc", "ticket"], (1, 2)), preset="crowd", cs=1, ncs=0)


def write(folder, name, value):
    path = pathlib.Path(folder) / f"{name}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path
