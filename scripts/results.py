"""results.py FOLDER - puts what results.sh measured into the tables of docs/results.md

A line `<!-- KIND FILE... -->` of the page stands above the table that is made of FILE.json of the folder. Tables of which
the folder has nothing stay as they are.
"""

import json
import os
import pathlib
import re
import statistics
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "results.md"
ALIKE = [("ticket", "ck_ticket"), ("mcs", "ck_mcs"), ("clh", "ck_clh"), ("tts", "ck_fas")]
USUAL = "parking_lot"  # of the others, mostly the one with the shortest waits: every cell of a grid has it, whoever is best


def millions(value):
    value /= 1e6
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def duration(ns):
    for unit, name in (1e6, "ms"), (1e3, "us"):
        if ns >= unit:
            return f"{ns / unit:.1f} {name}"
    return f"{ns:.0f} ns"


def doubtful(point):
    return "?" if point["doubts"] else ""


def cell(point):
    """Median, quartiles, and whether to doubt them."""
    return "{} ({}-{})".format(*(millions(point[k]) for k in ("median", "q1", "q3"))) + doubtful(point)


def median_of(point, key):
    return statistics.median(run[key] for run in point["runs"])


def table(head, rows, left=1):
    """The first columns are words, the others numbers."""
    rule = "|" + "---|" * left + "--:|" * (len(head) - left)
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def by_threads(studies):
    """A row for each lock, a column for each number of threads; fairness where there are most of them."""
    points = {(p["lock"], p["threads"]): p for s in studies for p in s["points"]}
    locks = list(dict.fromkeys(lock for lock, _ in points))
    threads = sorted({t for _, t in points})
    most = threads[-1]
    fair = points[locks[0], most]["runs"][0]["fairness"] is not None
    head = ["lock", *(f"T={t}" for t in threads)] + ([f"min/max, T={most}"] if fair else [])
    return table(head, [[f"`{lock}`", *(cell(points[lock, t]) for t in threads)] +
                        ([f"{median_of(points[lock, most], 'fairness'):.2f}"] if fair else []) for lock in locks])


def ring(studies):
    return table(["waiting by", "hand-overs, M/s"], [[p["variant"], cell(p)] for p in studies[0]["points"]])


def tail(studies):
    """Medians of the runs' percentiles; the worst wait of all."""
    def row(p):
        waits = [run["wait_ns"] for run in p["runs"]]
        return [f"`{p['lock']}`", str(p["threads"]), millions(p["median"]) + doubtful(p),
                *(duration(statistics.median(w[k] for w in waits)) for k in ("p50", "p99", "p99.9", "p99.99")),
                duration(max(w["max"] for w in waits)), f"{median_of(p, 'fairness'):.2f}"]
    head = ["lock", "threads", "M/s", "p50", "p99", "p99.9", "p99.99", "worst", "min/max"]
    return table(head, [row(p) for p in studies[0]["points"]])


def outside(study):
    steps = study["parameters"]["ncs"]
    return f"[0,{steps})" if study["parameters"]["ncs_random"] else str(steps)


def alike(studies):
    rows = []
    for study in studies:
        points = {(p["lock"], p["threads"]): p for p in study["points"]}
        for t in sorted({t for _, t in points}):
            for ours, theirs in ((points[a, t], points[b, t]) for a, b in ALIKE):
                rows.append([outside(study), str(t), f"`{ours['lock']}`", cell(ours), cell(theirs),
                             f"{ours['median'] / theirs['median']:.2f}"])
    return table(["steps outside", "threads", "lock", "ours, M/s", "Concurrency Kit's, M/s", "ratio"], rows, 3)


def cell_name(point):
    threads = f"{point['threads']} thread{'s' if point['threads'] > 1 else ''}"
    return threads + (", pinned" if point["pin"] != "free" else "") + f", {point['variant']}"


class Cell:
    """One cell of several grids, measured on different days or machines: ratios are made within each."""

    def __init__(self, of_grids):
        self.of_grids = of_grids  # for each, points by lock

    def times(self, lock):
        """Of glibc's throughput in the same round, the median in each grid."""
        return [statistics.median(ours["value"] / theirs["value"] for ours, theirs in zip(points[lock]["runs"], points["glibc"]["runs"]))
                for points in self.of_grids if lock in points]

    def figure(self, lock):
        return statistics.median(self.times(lock))

    def best(self):
        peers = {lock for points in self.of_grids for lock, p in points.items() if p["family"] == "peer"}
        return max(sorted(peers), key=self.figure)

    def runs(self, lock):
        return [run for points in self.of_grids if lock in points for run in points[lock]["runs"]]

    def longest(self, lock):
        """Of the longest wait in each run, the median and the maximum."""
        waits = [run["worst_wait_ns"] for run in self.runs(lock)]
        return "-" if None in waits or not waits else f"{duration(statistics.median(waits))} / {duration(max(waits))}"

    def percentile(self, lock, name):
        """The median of the runs'; of the longest waits, the longest."""
        waits = [run["wait_ns"][name] for run in self.runs(lock)]
        return duration((max if name == "max" else statistics.median)(waits)) if waits else "-"

    def jain(self, lock):
        values = [median_of(points[lock], "jain") for points in self.of_grids
                  if lock in points and points[lock]["runs"][0]["jain"] is not None]
        return f"{statistics.median(values):.2f}" if values else "-"

    def cpu_time(self, lock):
        """For each operation, of what glibc takes."""
        return statistics.median(ours["cpu_ns_per_acquisition"] / theirs["cpu_ns_per_acquisition"]
                                 for points in self.of_grids if lock in points
                                 for ours, theirs in zip(points[lock]["runs"], points["glibc"]["runs"]))

    def row(self, name):
        best = self.best()
        usual = f"{self.figure(USUAL):.2f}" if self.times(USUAL) else "-"
        return [name, ", ".join(f"{t:.2f}" for t in self.times("pawl_mutex")), f"`{best}`", f"{self.figure(best):.2f}", usual,
                *(self.longest(lock) for lock in ("pawl_mutex", best, USUAL, "glibc")),
                *(self.jain(lock) for lock in ("pawl_mutex", best)), f"{self.cpu_time('pawl_mutex'):.2f}"]


def cells_of(studies, wanted=lambda point: True):
    names = [cell_name(p) for p in studies[0]["points"] if p["lock"] == "pawl_mutex" and wanted(p)]
    return {name: Cell([{p["lock"]: p for p in s["points"] if cell_name(p) == name} for s in studies]) for name in names}


def grid(studies, ahead):
    """The cells in which pawl_mutex is ahead of all others, or behind one of them, clearest first."""
    cells = cells_of(studies)
    leads = {name: c.figure("pawl_mutex") / c.figure(c.best()) for name, c in cells.items()}
    head = ["cell", "`pawl_mutex`", "best other", "its", f"`{USUAL}`", "longest waits", "the best's", f"`{USUAL}`'s", "glibc's", "Jain", "the best's",
            "CPU time"]
    return table(head, [cells[name].row(name) for name in sorted(cells, key=leads.get, reverse=ahead)
                        if (leads[name] >= 1) == ahead])


def rare(studies):
    """What the thread waits that rarely asks."""
    cells = cells_of(studies, lambda p: p["cell"]["workload"] == "occasional")
    head = ["cell", *(text for name in ("p50", "p99", "longest") for text in (name, f"`{USUAL}`'s", "glibc's"))]
    return table(head, [[name, *(cell.percentile(lock, p) for p in ("p50", "p99", "max") for lock in ("pawl_mutex", USUAL, "glibc"))]
                        for name, cell in cells.items()])


KINDS = {"by-threads": by_threads, "ring": ring, "tail": tail, "alike": alike,
         "grid-ahead": lambda studies: grid(studies, True), "grid-behind": lambda studies: grid(studies, False),
         "grid-rare": rare}


def filled(match, folder):
    kind, *files = match[2].split()
    files = [folder / f"{f}.json" for f in files]
    if not any(f.exists() for f in files):
        return match[0]
    return match[1] + KINDS[kind]([json.loads(f.read_text()) for f in files])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 scripts/results.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    try:
        page = re.sub(r"(<!-- (.*) -->\n)(?:\|.*\n)*", lambda m: filled(m, folder), PAGE.read_text())
    except (OSError, ValueError, LookupError, ArithmeticError) as e:
        sys.exit(f"results: {e}")
    new = PAGE.with_suffix(".new")
    new.write_text(page)
    os.replace(new, PAGE)


if __name__ == "__main__":
    main()
