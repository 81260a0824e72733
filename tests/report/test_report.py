"""pawl report, and the files that both it and pawl compare refuse to read"""

import json
import os
import pathlib
import re
import signal
import subprocess

import jsonschema

from harness import check, environment, eventually, folder, output, pawl, refused, root, running, test
import harness
from samples import crowd, every_workload, grid, point, result, schedule, spread, write

HOSTILE = ["<img src=x onerror=window.hacked=1>", "</script><script>window.hacked=1</script>", "<!--<script>", "`touch hacked`'\\"]


def book(path):
    """What the page was given to draw."""
    return json.loads(re.search(r'<script type="application/json" id="data">\n(.*?)\n</script>', path.read_text(), re.DOTALL)[1])


def report(f, files, *options):
    paths = [write(f, name, value) for name, value in files.items()]
    path = paths[0].with_name("page.html")
    check(output("report", *paths, "-o", path, *options) == "", "wrote to standard output")
    return path


def changed(**members):
    return every_workload()["max"] | members


def broken_point(**members):
    r = every_workload()["max"]
    r["points"][3] |= members
    return r


def broken_run(**members):
    r = every_workload()["tail"]
    r["points"][2]["runs"][1] |= members
    return r


def without(value, member):
    return {k: v for k, v in value.items() if k != member}


BAD = {
    "empty": ("", "is empty"),
    "blank": (" \n", "is no JSON"),
    "truncated": (json.dumps(every_workload()["max"])[:5000], "is no JSON, or cut off: line 1"),
    "control": ('{"pawl": "\x01\n"}', "is no JSON"),
    "nul": ('{"pawl": "0.1.0"}\0 ', "is no JSON"),
    "twice": ('{"pawl": "0", "pawl": "0"}', "is no JSON"),
    "huge": ('{"pawl": 1e999}', "is no JSON"),
    "foreign": ({"benchmarks": [1, 2]}, "is no result of pawl bench"),
    "array": ([1, 2], "is no result of pawl bench"),
    "old": ({"benchmark": "mutexbench", "machine": {}, "results": []}, "is no result of pawl bench"),
    "format": (changed(format=2), "is of format 2; this pawl reads format 1"),
    "no-points": (changed(points=[]), "points: is empty"),
    "points-missing": (without(every_workload()["max"], "points"), "points: missing"),
    "unit-missing": (without(every_workload()["max"], "unit"), "unit: missing"),
    "workload": (changed(workload=3), "workload: must be a string"),
    "better": (changed(higher_is_better="yes"), "higher_is_better: must be true or false"),
    "parameters": (changed(parameters=[]), "parameters: must be an object"),
    "nested": (changed(parameters={"a": {"b": 1}}), "parameters: must have"),
    "machine": (changed(machine={"cpu": "two\nlines"}), "machine: must have"),
    "doubts": (changed(doubts=[1]), "doubts: must be an array"),
    "point": (changed(points=[1]), "points[0]: must be an object"),
    "threads": (broken_point(threads=0), "points[3].threads: must be a whole number"),
    "half": (broken_point(threads=1.5), "points[3].threads: must be a whole number"),
    "escape": (broken_point(lock="\x1b[2J"), "points[3].lock: must be a string of one line"),
    "no-runs": (broken_point(runs=[]), "points[3].runs: is empty"),
    "negative": (broken_run(value=-1), "points[2].runs[1].value: must be a number from 0"),
    "text": (broken_run(value="9"), "points[2].runs[1].value"),
    "null": (broken_run(value=None), "points[2].runs[1].value"),
    "unfair": (broken_run(fairness=1.1), "points[2].runs[1].fairness: must be a number from 0 to 1, or null"),
    "calls": (broken_run(futex_wakes_per_1000=-1), "points[2].runs[1].futex_wakes_per_1000: must be a number from 0, or null"),
    "waits": (broken_run(wait_ns=[]), "points[2].runs[1].wait_ns"),
    "few-waits": (broken_run(wait_ns={"p50": 1}), "points[2].runs[1].wait_ns"),
    "schedule": (broken_run(schedule={"repeats": 2}), "points[2].runs[1].schedule: must have shares"),
    "gaps-missing": (broken_run(schedule=without(schedule(2), "gaps")), "points[2].runs[1].schedule: must have the gaps"),
    "gap": (broken_run(schedule=schedule(2) | {"gaps": [{"p50": 1, "p99": 1, "max": -1}] * 2}), "points[2].runs[1].schedule: must have the gaps"),
    "gaps": (broken_run(schedule=schedule(3)), "points[2].runs: must have a schedule with as many gaps"),
    "first": (broken_run(schedule=schedule(2) | {"first": [0, 1, 2]}), "points[2].runs[1].schedule: must have the gaps"),
    "first-text": (broken_run(schedule=schedule(2) | {"first": ["0"]}), "points[2].runs[1].schedule: must have the gaps"),
    "again": (changed(points=every_workload()["max"]["points"] * 2), "points[0] and points[25] are of the same lock under the same load"),
}


@test
def files_that_are_no_results_are_refused_in_one_line_and_nothing_is_written():
    with folder() as f:
        good = write(f, "good", every_workload()["max"])
        os.mkdir(f"{f}/directory")
        cases = [(write(f, name, value), why) for name, (value, why) in BAD.items()]
        cases += [(f"{f}/absent", "No such file"), (f"{f}/directory", "Is a directory")]
        before = sorted(os.listdir(f))
        for path, why in cases:
            refused(["report", good, path, "-o", f"{f}/page.html", "--figures", f"{f}/figures"], f"{path}: {why}")
            refused(["compare", good, path], f"{path}: {why}")
            refused(["compare", path, good], f"{path}: {why}")
        check(sorted(os.listdir(f)) == before, f"left behind: {set(os.listdir(f)) - set(before)}")


@test
def report_refuses_bad_arguments():
    with folder() as f:
        good = write(f, "good", every_workload()["max"])
        for arguments, named in [([], "no file"), ([good, "--format", "gif"], "'gif'"), ([good, "--format", "svg"], "--figures"),
                                 ([good, "--nonsense"], "--nonsense"), ([good, "-o", f"{f}/none/x"], f"{f}/none/x"),
                                 ([good, "-o", f], f"'{f}'"), ([good, "--figures", f"{f}/none/x"], f"{f}/none/x"),
                                 ([good, "--figures", good], "good.json")]:
            refused(["report", *arguments], named, cwd=f)
        check(os.listdir(f) == ["good.json"], f"left behind: {os.listdir(f)}")


@test
def files_that_are_read_are_not_overwritten():
    with folder() as f:
        good, other = [write(f, name, every_workload()["max"]) for name in ["good", "other"]]
        os.symlink(good, f"{f}/link")
        for path in [good, f"{f}/link"]:
            refused(["report", other, good, "-o", path], f"--output '{path}': is a file that is read")
            refused(["compare", other, good, "-o", path], f"--output '{path}': is a file that is read")
        json.loads(good.read_text())


@test
def report_writes_where_it_says():
    with folder() as f:
        write(f, "good", every_workload()["max"])
        check(output("report", "good.json", cwd=f) == "report.html\n", "the default is not named")
        check(sorted(os.listdir(f)) == ["good.json", "report.html"], str(os.listdir(f)))
        page = open(f"{f}/report.html").read()
        check(output("report", "good.json", "-o", "/dev/stdout", cwd=f) == page, "another page on standard output")


@test
def report_page_is_whole_and_asks_nobody():
    with folder() as f:
        page = report(f, every_workload()).read_text()
        check(page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>"), "it is cut off")
        check("{{" not in page.split('id="data"')[0][:2000], "a part is missing")
        check("default-src 'none'" in page and "The MIT License" in page, "policy or license is missing")
        outside = re.findall(r"""(?:src|href)\s*=\s*["']?(https?:|//)[^"'>]*|@import|sourceMappingURL""", page)
        check(not outside, f"it asks for {outside}")


@test
def report_has_charts_of_every_workload():
    with folder() as f:
        sections = {(s["workload"], s["preset"]): s for s in book(report(f, every_workload()))["sections"]}
    kinds = {key: [c["kind"] for c in s["charts"]] for key, s in sections.items()}
    everything = ["value", "handover", "fairness", "jain", "starvation", "worst-wait"]
    check(kinds["mutexbench", "max"] == everything, str(kinds["mutexbench", "max"]))
    check(kinds["mutexbench", "moderate"] == [k for k in everything if k != "handover" for _ in range(2)], "a chart per pinning")
    check(kinds["atomic-struct", None].count("value") == 2, "a chart per variant")
    check(kinds["leveldb", None] == kinds["multiwait", None] == kinds["ring", None] == ["value"], "what is null was drawn")
    check(kinds["pingpong", None] == kinds["condvar", None] == kinds["grid", None] == [], "charts of one number of threads")
    check(kinds["occasional", None].count("waits") == 2, "a chart of waits per number of threads")
    order = kinds["schedule", None]
    check(order.count("bypass") == 3 and {"period", "repeats", "palindromes"} <= set(order) and "waits" not in order, str(order))
    check([order.count(k) for k in ["order", "gaps", "longest-gaps"]] == [2, 2, 2], f"of two and six threads, not of one: {order}")
    check(kinds["tail", None].count("waits") == 4 and "p999" in kinds["tail", None] and kinds["tail", None].count("value") == 1, str(kinds["tail", None]))


@test
def report_draws_medians_and_extremes_in_readable_units():
    with folder() as f:
        b = book(report(f, {"max": every_workload()["max"], "pingpong": every_workload()["pingpong"]}))
    names = [l["name"] for l in b["locks"]]
    value, handover = b["sections"][0]["charts"][:2]
    check(value["y"]["title"] == "million acquisitions/s" and value["y"]["log"] and value["x"]["labels"] is None, str(value["y"]))
    line = next(s for s in value["series"] if names[s["lock"]] == "mcs")["marks"]
    check([m[0] for m in line] == [1, 2, 4, 8, 16], "threads are not in order")
    runs = sorted(spread(4e7 / 2 / 2, "mcs 2"))
    for got, wanted in zip(line[1][1:4], [runs[3], runs[0], runs[6]]):
        check(abs(got * 1e6 / wanted - 1) < 1e-5, f"{got}, not {wanted}")
    check(line[1][4] == 7 and line[4][4] == 1, "numbers of runs")
    near = sorted(spread(50, "near"))[3]
    check(abs(b["pingpong_ns"] / near - 1) < 1e-5, f"pingpong {b['pingpong_ns']}")
    over = next(s for s in handover["series"] if names[s["lock"]] == "mcs")["marks"]
    check([m[0] for m in over] == [2, 4, 8, 16] and abs(over[0][1] / (1e9 / runs[3] / near) - 1) < 1e-5, str(over[0]))


@test
def report_draws_the_order_of_admissions_and_the_gaps_of_each_thread():
    with folder() as f:
        charts = book(report(f, {"schedule": every_workload()["schedule"]}))["sections"][0]["charts"]
    order, gaps, longest = [next(c for c in charts if c["kind"] == k and c["title"].endswith(": 6 threads")) for k in ["order", "gaps", "longest-gaps"]]
    check(order["y"]["threads"] == 6 and order["x"]["even"] and len(order["series"]) == 3, str(order["y"]))
    for line in order["series"]:
        check([m[:2] for m in line["marks"]] == [[i + 1, who] for i, who in enumerate(schedule(6)["first"])], str(line["marks"][:9]))
    check([m[:2] + m[4:] for m in gaps["series"][0]["marks"]] == [[t, 6, 7] for t in range(6)], str(gaps["series"][0]))
    check([m[1] for m in longest["series"][0]["marks"]] == [10, 9, 8, 8, 9, 10] and longest["y"]["log"], str(longest["series"][0]))


@test
def report_draws_schedules_that_were_measured_and_simulated():
    brief = ["--lock", "mcs,tts", "--threads", "3", "--runs", "1", "--json"]

    def drawn():
        with folder() as f:
            for name, options in [("bench", ["--duration", "20ms", "--warm-up", "1ms"]), ("sim", ["--machine", "x5-2", "--duration", "1ms"])]:
                write(f, name, output(name, "schedule", *brief, *options))
            page = f"{f}/page.html"
            output("report", f"{f}/bench.json", f"{f}/sim.json", "-o", page)
            sections = book(pathlib.Path(page))["sections"]
        kinds = [[c["kind"] for c in s["charts"] if len(c["series"]) == 2] for s in sections]
        check(sections[1]["machine"]["simulated"], "it was not simulated")
        check({"order", "gaps", "longest-gaps", "bypass"} <= set(kinds[1]), str(kinds[1]))
        return {"order", "gaps", "longest-gaps", "bypass"} <= set(kinds[0])

    eventually(drawn, "nobody was admitted")


@test
def report_ranks_with_ratios_to_glibc():
    with folder() as f:
        b = book(report(f, {"max": every_workload()["max"]}))
    section = b["sections"][0]
    check(section["reference"] == "glibc", str(section["reference"]))
    check([r["threads"] for r in section["rankings"]] == [1, 2, 4, 8, 16], "loads")
    rows = section["rankings"][1]["rows"]
    check([b["locks"][r["lock"]]["name"] for r in rows] == ["ticket", "mcs", "reciprocating", "pawl_mutex", "glibc", "ck_mcs"], "order")
    check(abs(rows[0]["ratio"] / 5 - 1) < 0.02, f"{rows[0]['ratio']}; test_rounds.py knows it exactly")
    check(rows[4]["reference"] and rows[4]["ratio"] is None, "glibc is compared with itself")
    check(section["rankings"][4]["rows"][0]["ratio"] is None, "compared with a glibc that was not measured")


@test
def report_has_the_kernel_calls_of_files_that_have_them():
    new, old = every_workload()["max"], every_workload()["max"]
    for p in old["points"]:
        p["runs"] = [{k: v for k, v in r.items() if not k.endswith("_per_1000")} for r in p["runs"]]
    with folder() as f:
        b = book(report(f, {"new": new, "old": old}))
        output("compare", f"{f}/new.json", f"{f}/old.json")
    calls = lambda section, row: [b["sections"][section]["rankings"][1]["rows"][row][k] for k in ["membarriers", "futex_waits", "futex_waits_void", "futex_wakes"]]
    check(calls(0, 0) == [0, 41.5, 0.25, 40], f"ticket: {calls(0, 0)}")
    check(calls(0, 4) == calls(1, 0) == [None] * 4, f"glibc, and an old ticket: {calls(0, 4)}, {calls(1, 0)}")


@test
def report_ranks_every_cell_of_a_grid():
    with folder() as f:
        b = book(report(f, {"grid": grid()}))
    section, names = b["sections"][0], [l["name"] for l in b["locks"]]
    found = {r["variant"].split(":")[0]: {names[row["lock"]]: row for row in r["rows"]} for r in section["rankings"]}
    check(list(found) == ["cs 1, ncs 0", "cs 20us, ncs 0", "occasional", "condvar"], str(list(found)))
    for cell, times in [("cs 1, ncs 0", 4), ("cs 20us, ncs 0", 0.25), ("condvar", 0.5)]:
        check(abs(found[cell]["pawl_mutex"]["ratio"] / times - 1) < 0.05, f"{cell}: {found[cell]['pawl_mutex']['ratio']}")
    check("ck_mcs" not in found["condvar"] and found["condvar"]["glibc"]["worst_wait_ns"] is None, "a queue that was not measured")
    check(found["occasional"]["glibc"]["p99_ns"] > 0 and found["cs 1, ncs 0"]["glibc"]["p99_ns"] is None, "waits")
    costs = [found["cs 1, ncs 0"]["glibc"][k] for k in ["switches_each", "migrations_each", "cpu_ns_each"]]
    check(costs == [1.5, 0.5, 150], str(costs))


@test
def report_shows_machine_parameters_and_every_doubt():
    with folder() as f:
        b = book(report(f, {"max": every_workload()["max"], "other": result("ring", [point("x", 2, [1.0])], machine={"cpu": "Testor 1"})}))
    section = b["sections"][0]
    check(section["machine"]["commit"] == "c0ffee1" and section["parameters"]["cs"] == 1, "machine or parameters")
    check(section["doubts"] == [{"text": "other programs were running", "where": []},
                                {"text": "more threads than CPUs", "where": [["mcs", 16]]}], str(section["doubts"]))
    check(b["doubts"] == ["The files are from different machines."], str(b["doubts"]))


@test
def report_says_if_what_hand_overs_are_compared_with_is_in_doubt():
    line = result("pingpong", [point("line", 2, [50.0], doubts=["other programs used 80 % of the CPUs"])], unit="ns", higher_is_better=False)
    with folder() as f:
        b = book(report(f, {"max": every_workload()["max"], "pingpong": line}))
    check(b["doubts"] == ["The pingpong that hand-overs are compared with is itself in doubt."], str(b["doubts"]))


@test
def report_shows_few_of_many_locks_at_first():
    with folder() as f:
        locks = book(report(f, {"crowd": crowd()}))["locks"]
        few = book(report(f, {"max": every_workload()["max"]}))["locks"]
    shown = [l["name"] for l in locks if l["shown"]]
    check(len(locks) == 52 and len(shown) <= 14 and {"glibc", "ticket", "lock_0"} <= set(shown), str(shown))
    check(shown == [l["name"] for l in locks[:len(shown)]], "those that are shown do not get the first colours")
    check(all(l["shown"] for l in few), "few, and not all of them shown")


@test
def report_keeps_hostile_names_as_text():
    hostile = result("mutexbench", [point(n, t, [1e6], doubts=[n]) for n in HOSTILE for t in (1, 2)], preset=HOSTILE[1], cs=1, ncs=0,
                     machine={"cpu": HOSTILE[0]})
    with folder() as f:
        path = report(f, {"hostile": hostile})
        text = path.read_text()
        check(text.count("</script>") == 3, "a name ended a script")
        check("<img" not in text and text.count("<!--") == 0, "a name became markup")
        check({l["name"] for l in book(path)["locks"]} == set(HOSTILE), "names differ")
        p = pawl("report", f"{f}/hostile.json", "-o", f"{f}/x.html", "--figures", f"{f}/figures", cwd=f)
        check(p.returncode == 0, p.stderr)
        check(os.listdir(f"{f}/figures"), "no figure was drawn")
        check(not [p for p, _, files in os.walk(f) if "hacked" in files], "a name was run")


@test
def figures_are_drawn_for_every_chart():
    with folder() as f:
        page = report(f, every_workload(), "--figures", f"{f}/svg")
        charts = [c for s in book(page)["sections"] for c in s["charts"]]
        figures = sorted(os.listdir(f"{f}/svg"))
        check(len(figures) == len(charts), f"{len(figures)} figures of {len(charts)} charts")
        check("01-mutexbench-max-value.svg" in figures and not [n for n in figures if n.startswith(".")], str(figures))
        svg = open(f"{f}/svg/01-mutexbench-max-value.svg").read()
        for word in ["million acquisitions/s", "threads", "reciprocating", "pawl_mutex", "glibc"]:
            check(f">{word}<" in svg, f"no '{word}' in the figure")
        output("report", f"{f}/max.json", "-o", page, "--figures", f"{f}/png", "--format", "png")
        check(all(open(f"{f}/png/{n}", "rb").read(8) == b"\x89PNG\r\n\x1a\n" for n in os.listdir(f"{f}/png")), "no PNG")


@test
def figures_without_gnuplot_are_refused_and_nothing_is_written():
    with folder() as f:
        good = write(f, "good", every_workload()["max"])
        os.mkdir(f"{f}/bin")
        refused(["report", good, "-o", f"{f}/page.html", "--figures", f"{f}/figures"], "gnuplot is not installed", env=environment(PATH=f"{f}/bin"))
        open(f"{f}/bin/gnuplot", "w").write("#!/bin/sh\nexit 3\n")
        os.chmod(f"{f}/bin/gnuplot", 0o755)
        refused(["report", good, "-o", f"{f}/page.html", "--figures", f"{f}/figures"], "gnuplot failed", env=environment(PATH=f"{f}/bin"))
        check(sorted(os.listdir(f)) == ["bin", "good.json"], f"left behind: {os.listdir(f)}")


def stand_in(f, script):
    """A gnuplot of our own, for a path."""
    os.makedirs(f"{f}/bin", exist_ok=True)
    open(f"{f}/bin/gnuplot", "w").write(f"#!/bin/sh\n{script}\n")
    os.chmod(f"{f}/bin/gnuplot", 0o755)
    return environment(PATH=f"{f}/bin:{os.environ['PATH']}")


@test
def figures_have_the_axes_of_the_papers():
    with folder() as f:
        good = write(f, "good", every_workload()["max"])
        env = stand_in(f, f"cp script {f}/script; exit 1")
        refused(["report", good, "-o", f"{f}/page.html", "--figures", f"{f}/figures"], "gnuplot failed", env=env)
        charts = open(f"{f}/script").read().split("reset\n")[1:]
    check(len(charts) == 5 and all("set logscale x 2\n" in c for c in charts), "threads")
    check(["set logscale y 10\n" in c for c in charts] == [True, False, False, True, True], "throughput and times, but no shares")


@test
def an_interrupted_report_leaves_nothing_behind():
    with folder() as f:
        good = write(f, "good", every_workload()["max"])
        env = stand_in(f, f"echo $$ >{f}/bin/pid; exec sleep 60")
        for sign in [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]:
            p = subprocess.Popen([harness.build / "pawl", "report", good, "-o", f"{f}/page.html", "--figures", f"{f}/figures"],
                                 env=env)
            eventually(lambda: os.path.exists(f"{f}/bin/pid") and open(f"{f}/bin/pid").read().endswith("\n"), "gnuplot was not started")
            p.send_signal(sign)
            check(p.wait(300) == -sign, f"exit {p.returncode}")
            gnuplot = int(open(f"{f}/bin/pid").read())
            eventually(lambda: not running(gnuplot), "gnuplot goes on")
            eventually(lambda: sorted(os.listdir(f)) == ["bin", "good.json"], f"left behind: {os.listdir(f)}")
            os.unlink(f"{f}/bin/pid")


@test
def files_may_have_any_name():
    with folder() as f:
        write(f, "a", every_workload()["max"])
        for name in [b"\xff\xfe.json", "µ \"<b>.json".encode(), b"-.json"]:
            os.rename(os.fsencode(f) + b"/a.json", os.fsencode(f) + b"/" + name)
            path = os.fsdecode(os.fsencode(f) + b"/" + name)
            output("report", path, "-o", f"{f}/page.html", "--figures", f"{f}/figures")
            shown = book(pathlib.Path(f"{f}/page.html"))["sections"][0]["file"]
            check(shown == name.replace(b"\xff\xfe", b"??").decode().join([f + "/", ""]), shown)
            output("compare", path, path)
            json.loads(output("compare", "--json", path, path))
            os.rename(path, f"{f}/a.json")


@test
def samples_are_what_pawl_bench_would_write():
    schema = json.loads((root / "bench/result.schema.json").read_text())
    for value in [*every_workload().values(), crowd()]:
        jsonschema.validate(value, schema)


@test
def what_pawl_bench_writes_can_be_reported_and_compared():
    brief = ["--duration", "5ms", "--warm-up", "1ms", "--runs", "2", "--json"]
    with folder() as f:
        for name, workload in [("a", ["mutexbench", "--lock", "mcs,glibc", "--threads", "1,2"]), ("b", ["mutexbench", "--lock", "mcs,glibc", "--threads", "1,2"]),
                               ("tail", ["tail", "--lock", "mcs,glibc", "--oversubscription", "1,2"]), ("ring", ["ring", "--threads", "1,2"])]:
            p = pawl("bench", *workload, *brief, "-o", f"{f}/{name}.json")
            check(p.returncode == 0, p.stderr)
        output("report", f"{f}/a.json", f"{f}/tail.json", f"{f}/ring.json", "-o", f"{f}/page.html")
        check([len(s["charts"]) > 0 for s in book(pathlib.Path(f"{f}/page.html"))["sections"]] == [True] * 3, "no charts")
        p = pawl("compare", f"{f}/a.json", f"{f}/b.json", "--json")
        check(p.returncode == 0 and len(json.loads(p.stdout)["points"]) == 4, f"exit {p.returncode}: {p.stderr}")
