"""Runs of the same round: how pawl report relates them to the C library's"""

import itertools
import math
import random
import statistics

from harness import check, folder, test
from samples import point, result, spread
from test_report import book, report


def pair_means(quotients):
    """The geometric means of any two, also of each with itself, in order."""
    return sorted(math.sqrt(x * y) for x, y in itertools.combinations_with_replacement(quotients, 2))


def median_ratio(ratios):
    """Of two in the middle their geometric mean, so that the other way around it is the reciprocal."""
    return math.sqrt(statistics.median_low(ratios) * statistics.median_high(ratios))


def related(row, quotients):
    """Whether it has the estimate of these, and of all intervals that are 95 % sure the narrowest, or all there is."""
    means, n = pair_means(quotients), len(quotients)
    sums = [sum(rank for rank, above in enumerate(signs, 1) if above) for signs in itertools.product([0, 1], repeat=n)]
    sure = [1 - 2 * sum(s <= left_out for s in sums) / len(sums) for left_out in range(len(means) // 2 + 1)]
    left_out = max((i for i in range(len(sure)) if sure[i] >= 0.95), default=0)
    for name, wanted in [("ratio", median_ratio(means)), ("low", means[left_out]), ("high", means[-1 - left_out]), ("confidence", sure[left_out])]:
        check(math.isclose(row[name], wanted, rel_tol=1e-5, abs_tol=1e-12), f"{name} of {n} quotients is {row[name]}, not {wanted}")


def rows_of(f, *points, **options):
    """The first ranking of a file with these points, by lock."""
    b = book(report(f, {"few": result("mutexbench", points, **options)}))
    return {b["locks"][row["lock"]]["name"]: row for row in b["sections"][0]["rankings"][0]["rows"]}


def speeds(count, seed):
    """Of a machine that is up to four times as fast in one round as in another."""
    generator = random.Random(seed)
    return [1e6 * 4 ** generator.random() for _ in range(count)]


@test
def report_relates_runs_of_one_round():
    for count in [1, 2, 3, 5, 6, 7, 10, 12]:
        machine, noise = speeds(count, count), spread(1.1, count, count)
        with folder() as f:
            rows = rows_of(f, point("mcs", 2, [m * n for m, n in zip(machine, noise)]), point("glibc", 2, machine))
            related(rows["mcs"], noise)
            time = rows_of(f, point("mcs", 2, [m / n for m, n in zip(machine, noise)]), point("glibc", 2, machine), unit="ns", higher_is_better=False)
            related(time["mcs"], noise)


@test
def report_says_the_same_of_two_locks_either_way_around():
    quotients = [0.5, 0.5, 6.0]
    with folder() as f:
        there = rows_of(f, point("mcs", 2, quotients), point("glibc", 2, [1.0] * 3))["mcs"]
        back = rows_of(f, point("mcs", 2, [1.0] * 3), point("glibc", 2, quotients))["mcs"]
    check(math.isclose(there["ratio"], math.sqrt(0.5 * math.sqrt(3)), rel_tol=1e-5), f"{there['ratio']}")
    for one, other in [("ratio", "ratio"), ("low", "high"), ("high", "low")]:
        check(math.isclose(there[one] * back[other], 1, rel_tol=1e-5), f"{one} {there[one]} is not 1 / {back[other]}")


def left_out_exactly(count):
    """How many of the pair means at either end Wilcoxon's test rejects: of all ways to sign the ranks, those with the least sums are 2.5 % together."""
    ways = [1]
    for rank in range(1, count + 1):
        ways = [(ways[s] if s < len(ways) else 0) + (ways[s - rank] if s >= rank else 0) for s in range(len(ways) + rank)]
    below = list(itertools.accumulate(ways))
    check(below[-1] == 2 ** count, "not all ways were counted")
    return max(i for i in range(len(below) // 2) if 40 * below[i] <= below[-1])


@test
def report_relates_many_rounds_as_the_exact_distribution_does():
    """Beyond 60 rounds it approximates, and may be one off."""
    check(left_out_exactly(10) == 8, "the table of Wilcoxon has 8 for 10 at 5 %")
    for count, off in [(59, 0), (60, 0), (61, 1), (64, 1), (80, 1)]:
        noise = [s / 1e6 for s in speeds(count, count)]  # so wide that the page's six digits tell any two means apart
        machine, means, left_out = speeds(count, 1), pair_means(noise), left_out_exactly(count)
        with folder() as f:
            row = rows_of(f, point("mcs", 2, [m * n for m, n in zip(machine, noise)]), point("glibc", 2, machine))["mcs"]
        for got, side in [(row["low"], means), (row["high"], means[::-1])]:
            near = side[left_out - off:left_out + off + 1]
            check(min(near) * (1 - 5e-6) <= got <= max(near) * (1 + 5e-6), f"{count} rounds: {got} is not among {near}")
        check(0.95 <= row["confidence"] < 0.951, f"{row['confidence']}")


def is_unknown(row):
    return [row[k] for k in ["ratio", "low", "high", "confidence"]] == [None] * 4


@test
def report_has_no_ratio_if_the_reference_did_nothing_in_a_round():
    """Of rounds that are left, glibc's are the best: 0.5 from two of seven, where it does 0.57 and mcs 1 on average."""
    with folder() as f:
        seldom = point("glibc", 2, [0, 0, 2.0, 0, 0, 2.0, 0])
        rows = rows_of(f, point("mcs", 2, [1.0] * 7), point("tts", 2, [1.0, 0] * 3 + [1.0]), point("clh", 2, [1.0] * 6), seldom)
        check(all(is_unknown(rows[lock]) for lock in ["mcs", "tts", "clh"]), str(rows))
        check([rows[lock]["runs"] for lock in ["mcs", "clh", "glibc"]] == [7, 6, 7], "it says that there are fewer runs")


@test
def report_knows_that_a_lock_that_did_nothing_is_0_times_as_fast():
    """A mean of any quotient and 0 is 0; of five, none leaves 15 means, of which 5, 9 and 15 are of a 0 if there are 1, 2 and 5."""
    with folder() as f:
        runs = {"mcs": [1.0] * 4 + [0], "tts": [0.0, 1, 1, 1, 0], "ticket": [0.0] * 5, "clh": [1.0] * 5 + [0], "hemlock": [2.0] * 5}
        def points(reference): return [*(point(lock, 2, values) for lock, values in runs.items()), point("glibc", 2, reference)]
        rows = rows_of(f, *points([1.0] * 5))
        got = {lock: [rows[lock][k] for k in ("ratio", "low", "high")] for lock in runs}
        check(got == {"mcs": [1, 0, 1], "tts": [0, 0, 1], "ticket": [0, 0, 0], "clh": [1, 0, 1], "hemlock": [2, 2, 2]}, str(got))
        rows = rows_of(f, *points([1.0] * 5), unit="ns", higher_is_better=False)
        check(all(is_unknown(rows[lock]) for lock in ["mcs", "tts", "ticket", "clh"]) and rows["hemlock"]["ratio"] == 0.5, "it took no time at all")


@test
def report_relates_all_to_glibcs_default_mutex():
    """Whichever of its mutexes comes first in the file."""
    locks = ["glibc_normal", "mcs", "glibc", "pthread"]
    for order in [locks, locks[::-1]]:
        with folder() as f:
            rows = rows_of(f, *(point(lock, 2, [1e6 * (1 + locks.index(lock))] * 5) for lock in order))
        check([lock for lock in locks if rows[lock]["reference"]] == ["glibc"] and rows["mcs"]["ratio"] == 0.666667, f"{order}: {rows}")
        with folder() as f:
            rows = rows_of(f, *(point(lock, 2, [1e6] * 5) for lock in order if lock != "glibc"))
        check([lock for lock in locks if lock in rows and rows[lock]["reference"]] == ["glibc_normal"], f"{order} without glibc: {rows}")


@test
def report_compares_every_run_with_every_run_where_there_are_no_rounds():
    ours, theirs = spread(2e6, "ours", 7), spread(1e6, "theirs", 6)
    with folder() as f:
        row = rows_of(f, point("mcs", 2, ours), point("glibc", 2, theirs))["mcs"]
    ratios = sorted(x / y for x in ours for y in theirs)
    # The table of Mann and Whitney has 6 for 7 against 6 at 5 %.
    for got, wanted in [(row["ratio"], median_ratio(ratios)), (row["low"], ratios[6]), (row["high"], ratios[-7])]:
        check(abs(got / wanted - 1) < 1e-5, f"{got}, not {wanted}")


@test
def report_relates_the_waits_of_a_round():
    def waiting(lock, times, runs=5):
        """Waits of as many times those of the machine."""
        p = point(lock, 4, [1e6] * runs, tail=True)
        for run, by in zip(p["runs"], [1, 3, 0.5, 2, 5]):
            run["wait_ns"] |= {"p99": 1000 * by * times}
        return p

    def untimed(lock, runs=5):
        p = waiting(lock, 0.5, runs)
        p["runs"][-1]["wait_ns"] = None
        return p

    def at_once(lock):
        p = waiting(lock, 0.5)
        p["runs"][0]["wait_ns"]["p99"] = 0
        return p

    with folder() as f:
        row = rows_of(f, waiting("mcs", 0.5), waiting("glibc", 1), waiting("tts", 4), untimed("clh"), untimed("ticket", 4), at_once("hemlock"))
        without = rows_of(f, waiting("mcs", 0.5), untimed("glibc"))
        none = rows_of(f, point("mcs", 4, [1e6]), point("glibc", 4, [1e6]))
    wanted = {"mcs": 2, "tts": 0.25, "glibc": None, "clh": None, "ticket": None, "hemlock": None}
    check({lock: row[lock]["p99_ratio"] for lock in wanted} == wanted, str({lock: r["p99_ratio"] for lock, r in row.items()}))
    check(row["clh"]["ratio"] == 1, "its throughput is known in each round")
    check(without["mcs"]["p99_ratio"] is None, "glibc's was not timed in a round")
    check(none["mcs"]["p99_ratio"] is None, "waits of what was not timed")
