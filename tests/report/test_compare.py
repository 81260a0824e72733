"""pawl compare: verdicts, statistics, exit status"""

import itertools
import json
import math
import random
import statistics

from harness import check, folder, output, pawl, refused, test
from samples import LOCKS, point, result, spread, sweep, write


def compare(f, a, b, *options, status=None):
    p = pawl("compare", write(f, "a", a), write(f, "b", b), "--json", *options)
    check(p.returncode in (0, 1) and not p.stderr, f"exit {p.returncode}: {p.stderr}")
    check(status is None or p.returncode == status, f"exit {p.returncode}, not {status}")
    return json.loads(p.stdout)


def one(values, lock="ticket", **options):
    return result("mutexbench", [point(lock, 2, values)], cs=1, **options)


def brute_p(a, b):
    """The share of all ways to deal the values out whose rank sum is as far from the middle as this one."""
    values = a + b
    ranks = [sum((v < w) + 0.5 * (v == w) for v in values) for w in values]
    middle = sum(ranks) * len(a) / len(values)
    sums = [abs(sum(c) - middle) for c in itertools.combinations(ranks, len(a))]
    far = abs(sum(ranks[:len(a)]) - middle)
    return sum(s >= far - 1e-9 for s in sums) / len(sums)


def near(x, y, tolerance=1e-6):
    return math.isclose(x, y, rel_tol=tolerance, abs_tol=1e-12)


@test
def compare_p_of_two_that_do_not_overlap_is_the_textbooks():
    with folder() as f:
        for n, p in [(3, 2 / 20), (4, 2 / 70), (7, 2 / 3432)]:
            c = compare(f, one([1e6 + i for i in range(n)]), one([2e6 + i for i in range(n)]))
            check(near(c["points"][0]["p"], p), f"{n}: {c['points'][0]['p']}, not {p}")


@test
def compare_p_is_exact_with_and_without_ties():
    generator = random.Random(5)
    with folder() as f:
        for n, m, values in [(5, 4, 1000), (7, 7, 1000), (6, 5, 4), (4, 7, 2), (7, 7, 3), (1, 1, 9), (1, 8, 5)]:
            a, b = [[float(generator.randint(1, values)) for _ in range(k)] for k in (n, m)]
            p = compare(f, one(a), one(b))["points"][0]["p"]
            check(near(p, brute_p(a, b)), f"{a} {b}: {p}, not {brute_p(a, b)}")


@test
def compare_p_of_many_runs_is_the_normal_approximation():
    a, b = [float(10 + 2 * i) for i in range(40)], [float(25 + 2 * i) for i in range(40)]
    u = sum((x > y) for x in a for y in b)
    z = (abs(u - 800) - 0.5) / math.sqrt(40 * 40 * 81 / 12)
    with folder() as f:
        p = compare(f, one(a), one(b))["points"][0]["p"]
    check(near(p, math.erfc(z / math.sqrt(2)), 1e-5), f"{p}")


@test
def compare_speed_is_the_median_ratio_with_the_interval_of_the_test():
    a, b = spread(1e6, "a"), spread(1.2e6, "b")
    ratios = sorted(y / x for x in a for y in b)
    with folder() as f:
        p = compare(f, one(a), one(b))["points"][0]
        check(near(p["speed"], statistics.median(ratios)), f"speed {p['speed']}")
        # The table of Mann and Whitney has 8 for 7 against 7 at 5 %; P(U <= 8) is 65 of 3432.
        check(near(p["low"], ratios[8]) and near(p["high"], ratios[-9]), f"{p['low']} to {p['high']}")
        check(near(p["confidence"], 1 - 2 * 65 / 3432), f"confidence {p['confidence']}")
        few = compare(f, one(a[:3]), one(b[:3]))["points"][0]
        check(near(few["confidence"], 0.9), f"3 runs cannot be {few['confidence']} sure")
        inverse = compare(f, one(a, higher_is_better=False, unit="ns"), one(b, higher_is_better=False, unit="ns"))["points"][0]
        check(near(inverse["speed"], statistics.median([x / y for x in a for y in b])), "less is better, but not faster")


@test
def compare_interval_of_many_runs_is_that_of_the_exact_distribution():
    """Beyond 60 runs together it approximates, and may be one off."""
    n = 31
    ways = [[1] + [0] * (n * n)] + [[0] * (n * n + 1) for _ in range(n)]  # [how many of a][U]: of all ways to mix a and b
    for rank in range(1, 2 * n + 1):
        for chosen in range(min(rank, n), 0, -1):
            by = rank - chosen  # how many of b are before it
            if by <= n:
                for u in range(n * n, by - 1, -1):
                    ways[chosen][u] += ways[chosen - 1][u - by]
    below, all_ways = list(itertools.accumulate(ways[n])), math.comb(2 * n, n)
    check(below[-1] == all_ways, f"{below[-1]} ways of {all_ways}")
    left_out = max(u for u in range(n * n // 2) if 40 * below[u] <= all_ways)
    generator = random.Random(31)
    a, b = [[1e6 * 4 ** generator.random() for _ in range(n)] for _ in range(2)]
    ratios = sorted(y / x for x in a for y in b)
    with folder() as f:
        p = compare(f, one(a), one(b))["points"][0]
    for got, side in [(p["low"], ratios), (p["high"], ratios[::-1])]:
        wanted = side[left_out - 1:left_out + 2]
        check(any(near(got, w, 5e-6) for w in wanted), f"{got} is not among {wanted}")
    check(0.95 <= p["confidence"] < 0.951, f"{p['confidence']}")


@test
def compare_says_the_same_of_two_files_either_way_around():
    a, b = one([1.0, 1.0]), one([0.5, 6.0])
    with folder() as f:
        there, back = [compare(f, *files)["points"][0]["speed"] for files in [(a, b), (b, a)]]
    check(near(there, math.sqrt(3), 1e-5) and near(there * back, 1, 1e-5), f"{there} and {back}")


@test
def compare_adjusts_for_the_number_of_points():
    names = [f"lock_{i}" for i in range(12)]
    a = result("mutexbench", [point(n, 1, spread(1e6, n)) for n in names])
    b = result("mutexbench", [point(n, 1, spread(1e6 * (1 + i / 200), n + "b")) for i, n in enumerate(names)])
    with folder() as f:
        points = compare(f, a, b)["points"]
    ps = [p["p"] for p in points]
    for p in points:  # the least over all larger ones of p times how many there are over its place
        expected = min(min(1, q * len(ps) / sum(r <= q for r in ps)) for q in ps if q >= p["p"])
        check(near(p["p_adjusted"], expected), f"{p['p']}: {p['p_adjusted']}, not {expected}")


@test
def compare_says_what_got_slower_and_faster_and_exits_accordingly():
    def changed(factors):
        return result("mutexbench", [point(l, 2, spread(factors.get(l, 1) * 1e6, l + "after")) for l in LOCKS], cs=1)

    before = changed({})
    before["points"] = [point(l, 2, spread(1e6, l)) for l in LOCKS]
    with folder() as f:
        check(compare(f, before, changed({}), status=0)["slower"] == 0, "noise is slower")
        noisy = compare(f, one([90, 100, 120, 150, 160, 180, 200]), one([80, 90, 105, 110, 130, 140, 170]), status=0)["points"][0]
        check(noisy["speed"] < 0.9 and noisy["verdict"] == "no change", f"noise of a large size is a change: {noisy}")
        c = compare(f, before, changed({"mcs": 0.8, "ticket": 1.3}), status=1)
        verdicts = {p["lock"]: p["verdict"] for p in c["points"]}
        check(verdicts == {l: {"mcs": "slower", "ticket": "faster"}.get(l, "no change") for l in LOCKS}, str(verdicts))
        check((c["slower"], c["faster"]) == (1, 1), "sums")
        compare(f, before, changed({"ticket": 1.3}), status=0)
        compare(f, before, changed({"mcs": 0.8}), "--threshold", "25", status=0)
        compare(f, before, changed({"mcs": 0.8}), "--threshold=15%", status=1)
        compare(f, before, changed({"mcs": 0.97}), status=0)
        compare(f, before, changed({"mcs": 0.94}), "-t", "0", status=1)


@test
def compare_knows_that_less_can_be_better():
    with folder() as f:
        nanoseconds = {"higher_is_better": False, "unit": "ns"}
        c = compare(f, one(spread(50, 1), **nanoseconds), one(spread(80, 2), **nanoseconds), status=1)
        check(c["points"][0]["verdict"] == "slower", "more nanoseconds are not slower")
        compare(f, one(spread(80, 1), **nanoseconds), one(spread(50, 2), **nanoseconds), status=0)


@test
def compare_notices_a_lock_that_stopped():
    with folder() as f:
        c = compare(f, one(spread(1e6, 1)), one([0.0] * 7), status=1)
        check(c["points"][0]["verdict"] == "slower", str(c["points"]))
        c = compare(f, one([0.0] * 7), one(spread(1e6, 1)), status=0)
        check(c["points"][0]["verdict"] == "faster" and c["points"][0]["speed"] is None, str(c["points"]))
        compare(f, one([0.0] * 7), one([0.0] * 7), status=0)


@test
def compare_has_a_threshold_where_a_run_did_nothing():
    before, after = [0, 101, 101.1, 101.2, 101.3, 101.4, 101.5], [100, 100.1, 100.2, 100.3, 100.4, 100.5, 100.6]
    with folder() as f:
        p = compare(f, one(before), one(after), status=0)["points"][0]
        check(p["p_adjusted"] < 0.05 and p["speed"] is None and p["verdict"] == "no change", f"0.9 % less: {p}")
        check(compare(f, one(before), one(after), "--threshold", "0.5", status=1)["slower"] == 1, "0.9 % is above half a percent")
        check(compare(f, one(before), one([v * 0.9 for v in after]), status=1)["slower"] == 1, "10 % less")
        check(compare(f, one([0] + [v * 0.9 for v in before[1:]]), one(after), status=0)["faster"] == 1, "10 % more")
        nanoseconds = {"higher_is_better": False, "unit": "ns"}
        compare(f, one(after, **nanoseconds), one(before, **nanoseconds), status=0)
        compare(f, one(after, **nanoseconds), one([v * 1.1 for v in before], **nanoseconds), status=1)
        check(compare(f, one(before, **nanoseconds), one([0.0] * 7, **nanoseconds), status=0)["faster"] == 1, "no time at all")


@test
def compare_admits_when_the_runs_are_too_few():
    with folder() as f:
        check("too few runs" in compare(f, one([1.0, 1.1, 1.2]), one([5.0, 5.1, 5.2]), status=0)["notes"][0], "3 runs")
        many = result("mutexbench", sweep([f"lock_{i}" for i in range(50)], (1, 2)))
        check("at least 2 points" in compare(f, many, many, status=0)["notes"][0], "100 points")
        check(compare(f, one(spread(1, 1)), one(spread(1, 2)))["notes"] == [], "7 runs, 1 point")


@test
def compare_matches_by_lock_threads_pin_and_variant():
    runs = spread(1e6, 1)
    a = [point("mcs", 1, runs), point("mcs", 2, runs), point("mcs", 2, runs, pin="compact"), point("mcs", 2, runs, variant="x"),
         point("clh", 2, runs)]
    b = [point("mcs", 2, runs), point("mcs", 2, runs, variant="y"), point("ticket", 2, runs)]
    with folder() as f:
        c = compare(f, result("mutexbench", a), result("mutexbench", b), status=0)
        check([(p["lock"], p["threads"], p["pin"], p["variant"]) for p in c["points"]] == [("mcs", 2, "free", None)], str(c["points"]))
        check(len(c["only_before"]) == 4 and {"lock": "clh", "threads": 2, "pin": "free", "variant": None} in c["only_before"], "before")
        check([(p["lock"], p["variant"]) for p in c["only_after"]] == [("mcs", "y"), ("ticket", None)], "after")
        text = output("compare", f"{f}/a.json", f"{f}/b.json")
        check(f"only in {f}/a.json: mcs, 2 threads, compact\n" in text and f"only in {f}/b.json: mcs, 2 threads, free, y\n" in text, text)


@test
def compare_flags_other_machines_and_doubts():
    with folder() as f:
        other = {"cpu": "Testor 1", "cpus": 64}
        c = compare(f, one(spread(1, 1)), one(spread(1, 1), machine=other, doubts=["it was hot"]))
        check(any("different machines" in n and "Testor 9000" in n and "Testor 1," in n for n in c["notes"]), str(c["notes"]))
        check(any(n.endswith("b.json: it was hot") for n in c["notes"]), str(c["notes"]))


@test
def compare_marks_what_was_in_doubt():
    a = result("mutexbench", [point("mcs", 2, spread(1e6, 1)), point("clh", 2, spread(1e6, 2)), point("tts", 2, spread(1e6, 3), doubts=["hot"])])
    b = result("mutexbench", [point("mcs", 2, spread(5e5, 1), doubts=["cold", "dark"]), point("clh", 2, spread(5e5, 2)), point("tts", 2, spread(5e5, 3))])
    with folder() as f:
        c = compare(f, a, b, status=1)
        doubts = {p["lock"]: (p["doubts_before"], p["doubts_after"]) for p in c["points"]}
        check(doubts == {"mcs": ([], ["cold", "dark"]), "clh": ([], []), "tts": (["hot"], [])}, str(doubts))
        rows = [l.split() for l in pawl("compare", f"{f}/a.json", f"{f}/b.json").stdout.splitlines() if l.startswith("slower")]
        check({r[1] for r in rows if r[-1] == "?"} == {"mcs", "tts"} and len(rows) == 3, str(rows))


@test
def compare_table_shows_changes_and_all_on_request():
    a, b = [result("mutexbench", [point("mcs", 2, spread(v, v)), point("clh", 2, spread(1e6, v))]) for v in (1e6, 5e5)]
    with folder() as f:
        p = pawl("compare", write(f, "a", a), write(f, "b", b))
        check(p.returncode == 1 and p.stderr == "", p.stderr)
        rows = [l.split() for l in p.stdout.splitlines()]
        check([r[:3] for r in rows if r[:1] == ["slower"]] == [["slower", "mcs", "2"]], p.stdout)
        check("no change" not in p.stdout and p.stdout.splitlines()[-1].startswith("1 slower, 0 faster, 1 without"), p.stdout)
        p = pawl("compare", "--all", f"{f}/a.json", f"{f}/b.json")
        check("no change  clh" in p.stdout, p.stdout)
        check(pawl("compare", "-o", f"{f}/out", f"{f}/a.json", f"{f}/b.json").stdout == "", "-o wrote to standard output")
        check("slower" in open(f"{f}/out").read(), "-o")


@test
def compare_refuses_what_cannot_be_compared():
    with folder() as f:
        a = write(f, "a", one([1.0], wait="park"))
        for name, other, named in [
            ("tail", result("tail", [point("ticket", 2, [1.0])]), "is of 'tail'"),
            ("unit", one([1.0], unit="ns", wait="park"), "is in ns"),
            ("way", one([1.0], higher_is_better=False, wait="park"), "is in"),
            ("wait", one([1.0], wait="spin"), "'wait'"),
            ("less", one([1.0]), "'wait'"),
            ("more", one([1.0], wait="park", ncs=3), "'ncs'"),
            ("none", one([1.0], lock="mcs", wait="park"), "no point in common"),
        ]:
            refused(["compare", a, write(f, name, other)], named)
        longer = one([1.0], wait="park", duration_s=9, processes=3)
        check(pawl("compare", a, write(f, "longer", longer)).returncode == 0, "another duration is another load")
    for arguments, named in [([], "two files"), (["x"], "two files"), (["x", "y", "z"], "'z'"), (["--threshold", "x", "a", "b"], "'x'"),
                             (["--threshold", "-1", "a", "b"], "'-1'"), (["--threshold", "101", "a", "b"], "'101'"),
                             (["--threshold", "nan", "a", "b"], "'nan'"), (["--threshold", "", "a", "b"], "''"),
                             (["--nonsense", "a", "b"], "--nonsense")]:
        refused(["compare", *arguments], named)
