"""pawl compare of two grids: multiples of the C library's throughput in the same round"""

import statistics

from harness import check, folder, output, pawl, test
from samples import grid, result, sweep, write
from test_compare import compare, near
from test_rounds import speeds


def elsewhere(g, factors):
    """The same on a machine that is so many times as fast in each round."""
    for p in g["points"]:
        for run, by in zip(p["runs"], factors):
            run["value"] *= by
    return g


def without(g, lock):
    return g | {"points": [p for p in g["points"] if p["lock"] != lock]}


def without_rounds(g, *cells):
    """glibc did nothing there."""
    for p in g["points"]:
        if p["lock"] == "glibc" and p["variant"] in cells:
            for run in p["runs"]:
                run["value"] = 0
    return g


def values(g, lock, cell):
    return [r["value"] for p in g["points"] if (p["lock"], p["variant"]) == (lock, cell) for r in p["runs"]]


def changed(c):
    return [(p["lock"], p["variant"], p["verdict"]) for p in c["points"] if p["verdict"] in ("slower", "faster")]


SLOWER = [("pawl_mutex", "cs 1, ncs 0", "slower"), ("pawl_mutex", "cs 20us, ncs 0", "slower")]


@test
def compare_tells_the_cells_of_two_grids_apart():
    with folder() as f:
        c = compare(f, grid(), grid(ours=0.8), status=1)
    check(changed(c) == SLOWER, str(changed(c)))
    check(len(c["points"]) == 11 and not c["only_before"] + c["only_after"], "not all cells were compared")


@test
def compare_of_grids_takes_no_faster_machine_for_a_better_mutex():
    for before, after in [([1] * 7, [2] * 7), ([1] * 7, [0.5] * 7), (speeds(7, 1), speeds(7, 2))]:
        with folder() as f:
            c = compare(f, elsewhere(grid(), before), elsewhere(grid(), after), status=0)
            check(changed(c) == [] and c["reference"] == "glibc", f"{before}, {after}: {changed(c)}")
            c = compare(f, elsewhere(grid(), before), elsewhere(grid(ours=0.8), after), status=1)
            check(changed(c) == SLOWER, f"{before}, {after}: {changed(c)}")


@test
def compare_of_grids_shows_multiples_of_one_round():
    a, b = elsewhere(grid(), speeds(7, 1)), elsewhere(grid(ours=0.8), speeds(7, 2))
    cell = "cs 1, ncs 0"
    with folder() as f:
        c = compare(f, a, b)
    p = next(p for p in c["points"] if (p["lock"], p["variant"]) == ("pawl_mutex", cell))
    x, y = [[ours / theirs for ours, theirs in zip(values(g, "pawl_mutex", cell), values(g, "glibc", cell))] for g in (a, b)]
    for name, wanted in [("before", statistics.median(x)), ("after", statistics.median(y)), ("p", 2 / 3432),
                         ("speed", statistics.median(j / i for i in x for j in y))]:
        check(near(p[name], wanted, 1e-5), f"{name} is {p[name]}, not {wanted}")


@test
def compare_of_grids_does_not_judge_the_reference():
    slow = grid()
    for p in slow["points"]:
        for r in p["runs"]:
            r["value"] *= 0.5 if p["lock"] == "glibc" else 1
    with folder() as f:
        c = compare(f, slow, grid(), status=1)
        mine = [p for p in c["points"] if p["lock"] == "glibc"]
        check({p["verdict"] for p in mine} == {"not judged"} and {p["p"] for p in mine} == {p["p_adjusted"] for p in mine} == {None}, str(mine))
        check(all(near(p["before"], 5e5, 0.05) and near(p["after"], 1e6, 0.05) and near(p["speed"], 2, 0.05) for p in mine), str(mine))
        check((c["slower"], c["faster"], c["not_judged"]) == (7, 0, 4), f"{c['slower']} slower, {c['faster']} faster, {c['not_judged']} not judged")
        compare(f, grid(), slow, status=0)


@test
def compare_of_grids_counts_only_what_it_judges():
    few = grid()
    for p in few["points"]:
        p["runs"] = p["runs"][:4]
    with folder() as f:
        check("and 7 points: no change can be told from chance unless at least 4 points" in compare(f, few, few, status=0)["notes"][0], "7 of 11 are judged")
        stuck = without_rounds(grid(), "cs 1, ncs 0")
        for p in stuck["points"]:
            p["runs"] = p["runs"][:3]
        check("too few runs" in compare(f, stuck, stuck, status=0)["notes"][1], "5 of 11 are judged, and 10 would have to change")


@test
def compare_of_grids_does_not_judge_where_the_reference_did_nothing():
    stuck = without_rounds(grid(ours=0.8), "cs 1, ncs 0")
    with folder() as f:
        for one, other in [(grid(), stuck), (stuck, grid())]:
            c = compare(f, one, other)
            check([v for _, v, _ in changed(c)] == ["cs 20us, ncs 0"] and c["not_judged"] == 6, str(changed(c)))
            p = next(p for p in c["points"] if (p["lock"], p["variant"]) == ("pawl_mutex", "cs 1, ncs 0"))
            check(p["verdict"] == "not judged" and min(p["before"], p["after"]) > 3e6, f"its runs are not shown: {p}")


@test
def compare_of_grids_does_not_judge_where_the_reference_did_nothing_in_a_round():
    once = grid(ours=0.8)
    next(p for p in once["points"] if (p["lock"], p["variant"]) == ("glibc", "cs 1, ncs 0"))["runs"][3]["value"] = 0
    with folder() as f:
        for one, other in [(grid(), once), (once, grid())]:
            c = compare(f, one, other)
            check([v for _, v, _ in changed(c)] == ["cs 20us, ncs 0"] and c["not_judged"] == 6, str(changed(c)))


@test
def compare_of_grids_does_not_judge_points_whose_runs_are_not_of_the_references_rounds():
    """Nor reads beyond them: a file may come from anywhere."""
    slower = [(lock, cell, verdict) for lock, cell, verdict in SLOWER if cell != "cs 1, ncs 0"]
    for lock, runs in [("pawl_mutex", 6), ("pawl_mutex", 1), ("glibc", 6), ("glibc", 1)]:
        def cut(g):
            p = next(p for p in g["points"] if (p["lock"], p["variant"]) == (lock, "cs 1, ncs 0"))
            p["runs"] = p["runs"][:runs]
            return g

        with folder() as f:
            for a, b in [(grid(), cut(grid(ours=0.8))), (cut(grid()), grid(ours=0.8)), (cut(grid()), cut(grid(ours=0.8)))]:
                c = compare(f, a, b, status=1)
                check(changed(c) == slower, f"{lock} has {runs} runs: {changed(c)}")
                p = next(p for p in c["points"] if (p["lock"], p["variant"]) == ("pawl_mutex", "cs 1, ncs 0"))
                check(p["verdict"] == "not judged" and p["p"] is None and min(p["before"], p["after"]) > 3e6, str(p))
                check(c["not_judged"] == (5 if lock == "pawl_mutex" else 6), f"{c['not_judged']} not judged")
            alone = cut(grid(ours=0.8))
            alone["points"] = [p for p in alone["points"] if p["variant"] != "cs 20us, ncs 0"]
            compare(f, grid(), alone, status=0)


@test
def compare_of_grids_says_how_many_points_it_does_not_judge():
    def once(g, *cells):
        for p in g["points"]:
            if p["lock"] == "glibc" and p["variant"] in cells:
                p["runs"][3]["value"] = 0
        return g

    cells = [p["variant"] for p in grid()["points"] if p["lock"] == "glibc"]
    with folder() as f:
        c = compare(f, grid(), once(grid(ours=0.1), *cells[:3]), status=0)
        check(c["not_judged"] == 10 and c["notes"] == ["6 points are not judged: glibc's runs do not fit"], f"{c['not_judged']}: {c['notes']}")
        check("\nnote: 6 points are not judged: " in output("compare", f"{f}/a.json", f"{f}/b.json"), "the text does not say it")
        check("1 point is not judged: glibc's runs do not fit" in compare(f, once(grid(), cells[3]), grid(), status=0)["notes"], "a queue that ck_mcs has none of")
        check(compare(f, once(grid(), *cells), grid(), status=0)["reference"] is None, "then all are")


@test
def compare_of_grids_says_where_glibc_alone_changed():
    cell, rest = "cs 20us, ncs 0", "4 threads, free, cs 20us, ncs 0"
    note = "glibc's own runs got significantly faster or slower, and fewer than half of the other locks' went the same way, so what changed may be glibc itself, in: %s"

    def changed(g, **factors):
        for p in g["points"]:
            if p["variant"] == cell:
                for run in p["runs"]:
                    run["value"] *= factors.get(p["lock"], 1)
        return g

    with folder() as f:
        c = compare(f, grid(), changed(grid(), glibc=1.3), status=1)
        check(c["slower"] == 2 and c["notes"] == [note % rest], f"{c['slower']} slower, {c['notes']}")
        c = compare(f, changed(grid(), glibc=1.3), grid(), status=0)
        check(c["faster"] == 2 and c["notes"] == [note % rest], f"{c['faster']} faster, {c['notes']}")
        check(compare(f, grid(), changed(grid(), glibc=1.3, ck_mcs=0.7), status=1)["notes"] == [note % rest], "another lock changed, the other way")
        for what, factors in [("the machine", {"glibc": 1.3, "pawl_mutex": 1.3, "ck_mcs": 1.3}), ("half of the others, too", {"glibc": 1.3, "ck_mcs": 1.3}),
                              ("1 %", {"glibc": 1.045}), ("others alone", {"pawl_mutex": 1.3})]:
            check(compare(f, grid(), changed(grid(), **factors))["notes"] == [], what)
        every = grid()
        for p in every["points"]:
            for run in p["runs"]:
                run["value"] *= 0.5 if p["lock"] == "glibc" else 1
        check(compare(f, grid(), every, status=0)["notes"][0].endswith(f" in: 16 threads, free, cs 1, ncs 0; {rest}; 16 threads, free, occasional: one of them every 1ms, "
              "cs 1, ncs 0; 8 threads, free, condvar: 4 producers, 4 consumers, 64 places"), "in all cells")


@test
def compare_of_grids_notices_a_lock_that_stopped():
    stuck = grid()
    for p in stuck["points"]:
        if p["lock"] == "pawl_mutex":
            for r in p["runs"]:
                r["value"] = 0
    with folder() as f:
        c = compare(f, grid(), stuck, status=1)
        check(len(changed(c)) == 4 == c["slower"], str(changed(c)))
        check(compare(f, stuck, grid(), status=0)["faster"] == 4, "which runs again")


@test
def compare_of_grids_without_glibc_in_both_is_one_of_runs():
    twice = elsewhere(grid(), [2] * 7)
    only = [without(without(g, "pawl_mutex"), "ck_mcs") for g in (grid(), twice)]
    with folder() as f:
        for a, b, faster in [(without(grid(), "glibc"), without(twice, "glibc"), 7), (grid(), without(twice, "glibc"), 7),
                             (without(grid(), "glibc"), twice, 7), (*only, 4)]:
            c = compare(f, a, b, status=0)
            check(c["reference"] is None and (c["faster"], c["not_judged"]) == (faster, 0), f"{c['faster']} faster, {c['not_judged']} not judged")


@test
def compare_of_grids_says_if_glibc_is_of_no_use():
    note = "no lock can be compared as a multiple of glibc in the same round: runs are compared, and if the machine was faster, so are all locks"
    stuck = without_rounds(grid(), *(p["variant"] for p in grid()["points"]))
    alone = without(without(grid(), "pawl_mutex"), "ck_mcs")
    with folder() as f:
        for a, b, points in [(stuck, stuck, 11), (grid(), stuck, 11), (stuck, grid(), 11), (alone, alone, 4), (grid(), alone, 4)]:
            c = compare(f, a, b)
            check(c["notes"] == [note] and c["reference"] is None and c["not_judged"] == 0 and len(c["points"]) == points, f"{c['notes']}")
            text = pawl("compare", f"{f}/a.json", f"{f}/b.json").stdout
            check(text.startswith("grid in operations/s\n") and f"\nnote: {note}\n" in text and "not judged" not in text, text)
        check(compare(f, grid(), grid(), status=0)["notes"] == [], "there is a glibc to be of use")


@test
def compare_of_grids_with_different_references_is_one_of_runs():
    renamed = elsewhere(grid(), [2] * 7)
    for p in renamed["points"]:
        p["lock"] = p["lock"].replace("glibc", "glibc_normal")
    with folder() as f:
        c = compare(f, grid(), renamed, status=0)
    check(c["reference"] is None and c["faster"] == 7, f"{c['reference']}, {c['faster']} faster")


@test
def compare_of_grids_says_that_they_share_no_reference():
    def renamed(name):
        return grid() | {"points": [p | {"lock": p["lock"].replace("glibc", name)} for p in grid()["points"]]}

    without_it = without(grid(), "glibc")
    with folder() as f:
        for a, b, these in [(grid(), renamed("glibc_normal"), ("glibc", "glibc_normal")), (renamed("pthread"), grid(), ("pthread", "glibc")),
                            (without_it, grid(), ("none", "glibc")), (grid(), without_it, ("glibc", "none")), (without_it, without_it, ("none", "none"))]:
            notes = compare(f, a, b, status=0)["notes"]
            check(notes == ["the files are not related to the same mutex of the C library (%s and %s): runs are compared, and if the machine was faster, so are all locks" % these], str(notes))
        less = [g | {"unit": "ns", "higher_is_better": False} for g in (grid(), without_it)]
        check(compare(f, *less, status=0)["notes"] == [], "times were never multiples")
        model = without_it | {"machine": without_it["machine"] | {"simulated": True}}
        check(compare(f, model, model, status=0)["notes"] == [], "a model does not get faster")
        check(any("C library (none and glibc)" in n for n in compare(f, model, grid())["notes"]), "a model and a machine")


@test
def compare_of_grids_in_which_less_is_better_is_one_of_runs():
    a, b = [g | {"unit": "ns", "higher_is_better": False} for g in (grid(), elsewhere(grid(), [2] * 7))]
    with folder() as f:
        c = compare(f, a, b, status=1)
    check(c["reference"] is None and c["slower"] == 11, f"{c['reference']}, {c['slower']} slower")


@test
def compare_of_other_workloads_is_one_of_runs():
    a, b = [result("mutexbench", sweep(["mcs", "glibc"], (1, 2))) for _ in range(2)]
    with folder() as f:
        c = compare(f, a, elsewhere(b, [2] * 7), status=0)
        check(c["reference"] is None and c["faster"] == 4, str(changed(c)))
        text = output("compare", f"{f}/a.json", f"{f}/b.json")
    check(text.startswith("mutexbench in acquisitions/s\n") and "judged" not in text, text)


@test
def compare_of_grids_says_what_it_compares():
    other = {"libc": "glibc 2.41"}
    with folder() as f:
        p = pawl("compare", "--all", write(f, "a", grid()), write(f, "b", grid(ours=0.8) | {"machine": grid()["machine"] | other}))
        lines = p.stdout.splitlines()
        check(lines[0] == "grid in operations/s, as multiples of those of glibc in the same round", lines[0])
        check(lines[-1] == "2 slower, 0 faster, 5 without a change of 5 % or more that is significant; "
              "not judged, and not multiples: 4, of glibc itself or where its runs do not fit", lines[-1])
        check(lines[-2] == "note: glibc, which others are multiples of, is of glibc 2.36 and of glibc 2.41", lines[-2])
        rows = [line.split() for line in lines if line.startswith("not judged")]
        check([(r[2], r[-1]) for r in rows] == [("glibc", "-")] * 4, p.stdout)
        check("not judged  " not in pawl("compare", f"{f}/a.json", f"{f}/b.json").stdout, "what is not judged, unasked")
        check(compare(f, grid(), grid())["notes"] == [], "a note that both are of one library")
        for libc in [None, "absent"]:
            unknown = grid()
            unknown["machine"]["libc"] = libc
            if libc:
                del unknown["machine"]["libc"]
            check(compare(f, grid(), unknown)["notes"] == compare(f, unknown, grid())["notes"] == [], f"it knows of another library where it is {libc}")
