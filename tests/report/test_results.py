"""scripts/results.py: the tables of docs/results.md that are made of grids"""

import importlib.util

import harness
from harness import check, test
from samples import grid

spec = importlib.util.spec_from_file_location("results", harness.root / "scripts/results.py")
results = importlib.util.module_from_spec(spec)
spec.loader.exec_module(results)


def measured(worst, rare):
    """A grid with parking_lot, and such waits of each lock in each run."""
    g = grid()
    for p in g["points"]:
        p["lock"] = p["lock"].replace("ck_mcs", "parking_lot")
        for i, run in enumerate(p["runs"]):
            run["cpu_ns_per_acquisition"] = 200 if p["lock"] == "glibc" else 50
            if run["worst_wait_ns"] is not None:
                run["worst_wait_ns"] = worst[p["lock"]] * (1 + 9 * (i == 3))  # in one run it is ten times as long
            if run["wait_ns"] is not None:
                run["wait_ns"] |= {"p50": rare[p["lock"]], "p99": 10 * rare[p["lock"]], "max": worst[p["lock"]] * (1 + i)}
    return g


def rows_of(text):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


ONE = measured({"pawl_mutex": 1e6, "parking_lot": 2e6, "glibc": 3e6}, {"pawl_mutex": 100, "parking_lot": 200, "glibc": 300})
OTHER = measured({"pawl_mutex": 4e6, "parking_lot": 5e6, "glibc": 6e6}, {"pawl_mutex": 1000, "parking_lot": 2000, "glibc": 3000})


@test
def a_grids_table_has_parking_lots_waits_beside_ours():
    head, _, *rows = rows_of(results.grid([ONE, OTHER], True))
    cell = dict(zip([f"{i} {name}" for i, name in enumerate(head)], next(row for row in rows if row[0] == "16 threads, cs 1, ncs 0")))
    check(cell[f"{len(head) - 1} CPU time"] == "0.25", str(cell))
    check(cell["1 `pawl_mutex`"].startswith(("3.9", "4.0")) and cell["4 `parking_lot`"][:3] in ("1.9", "2.0"), str(cell))
    # Of 14 runs, 6 have the one wait, 6 the other, and 2 ten times as much.
    check([cell[k] for k in ("5 longest waits", "7 `parking_lot`'s", "8 glibc's")] == ["4.0 ms / 40.0 ms", "5.0 ms / 50.0 ms", "6.0 ms / 60.0 ms"], str(cell))
    queue = next(row for row in rows_of(results.grid([ONE], True) + results.grid([ONE], False)) if "condvar" in row[0])
    check(queue[4:9] == ["-"] * 5, f"a queue that parking_lot has none of, and that is not timed: {queue}")


@test
def a_grids_table_of_the_rare_thread_has_its_percentiles():
    head, rule, *rows = rows_of(results.rare([ONE]))
    check(head == ["cell", "p50", "`parking_lot`'s", "glibc's", "p99", "`parking_lot`'s", "glibc's", "longest", "`parking_lot`'s", "glibc's"], str(head))
    check(rows == [["16 threads, occasional: one of them every 1ms, cs 1, ncs 0", "100 ns", "200 ns", "300 ns", "1.0 us", "2.0 us", "3.0 us",
                    "7.0 ms", "14.0 ms", "21.0 ms"]], str(rows))
    alone = ONE | {"points": [p for p in ONE["points"] if p["lock"] != "parking_lot"]}
    check(rows_of(results.rare([alone]))[2][2::3] == ["-"] * 3 and rows_of(results.rare([alone]))[2][1] == "100 ns", "without parking_lot")
