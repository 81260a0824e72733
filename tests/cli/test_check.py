"""pawl check"""

import json
import tempfile
import pathlib

from harness import check, output, pawl, refused, test

SCENARIOS = {"orphan", "contend", "two-locks", "alternate", "trylock", "retry", "try-held", "exit", "destroy", "hand-off",
             "crowd"}


@test
def check_reports_each_lock():
    report = json.loads(output("check", "--quick", "--budget", "8s", "--lock", "tts,ticket", "--json"))
    check(report["ok"] is True, "not ok")
    check([l["lock"] for l in sorted(report["locks"], key=lambda l: l["lock"])] == ["ticket", "tts"], "locks")
    for lock in report["locks"]:
        names = {c["scenario"].split("/")[0] for c in lock["cases"]}
        check(names == SCENARIOS, f"{lock['lock']}: scenarios {names}")
        for case in lock["cases"]:
            check(case["verdict"] == "ok", f"{lock['lock']} {case['scenario']}: {case['verdict']}")
            check(case["executions"] > 0 and type(case["exhaustive"]) is bool, "numbers")


@test
def check_table_has_a_line_per_lock_and_a_summary():
    lines = output("check", "--quick", "--lock", "tts", "--scenario", "contend").splitlines()
    check(lines[0].split() == ["lock", "scenarios", "executions", "exhaustive", "seconds", "verdict"], lines[0])
    check(lines[1].split()[0] == "tts" and lines[1].endswith("ok"), lines[1])
    check("0 violations" in lines[-1], lines[-1])


@test
def check_gives_the_same_executions_for_the_same_seed():
    def executions():
        report = json.loads(output("check", "--quick", "--exhaustive", "--lock", "clh", "--scenario", "contend",
                                   "--json"))
        return [c["executions"] for l in report["locks"] for c in l["cases"] if c["exhaustive"]]

    first = executions()
    check(first and first == executions(), "they differ")


@test
def check_runs_what_is_asked_for():
    report = json.loads(output("check", "--quick", "--lock", "hapax", "--scenario", "contend", "--threads", "2",
                               "--iterations", "2", "--locks", "2", "--slots", "1", "--seed", "7", "--json"))
    cases = report["locks"][0]["cases"]
    check(all(c["threads"] == 2 and c["scenario"].startswith("contend") for c in cases), str(cases))


@test
def check_exhaustive_means_exhaustive():
    report = json.loads(output("check", "--quick", "--exhaustive", "--lock", "tts", "--scenario", "contend", "--json"))
    check(all(c["exhaustive"] for c in report["locks"][0]["cases"]), "not exhaustive")


@test
def check_budget_is_for_everything_together():
    report = json.loads(output("check", "--deep", "--budget", "3s", "--jobs", "8", "--lock", "hapax_vw2", "--json"))
    seconds = sum(c["seconds"] for c in report["locks"][0]["cases"])
    check(0.5 < seconds < 5, f"{seconds} s of CPU time")


@test
def check_semaphore_is_a_subject():
    report = json.loads(output("check", "--quick", "--lock", "semaphore", "--json"))
    names = {c["scenario"].split("/")[0] for c in report["locks"][0]["cases"]}
    check(names == {"as-lock", "trytake", "post-many", "destroy", "two-posters", "timed"}, str(names))


@test
def check_seqlock_is_a_subject():
    report = json.loads(output("check", "--quick", "--lock", "seqlock", "--json"))
    names = {c["scenario"].split("/")[0] for c in report["locks"][0]["cases"]}
    check(report["ok"] and names == {"overlap", "one-writer", "turns"}, str(names))


@test
def check_shared_locks_are_subjects():
    report = json.loads(output("check", "--quick", "--lock", "mutex_shared,hapax_shared", "--json"))
    for lock in report["locks"]:
        names = {c["scenario"] for c in lock["cases"]}
        check({"contend", "trylock", "destroy", "death/step=1", "death/step=18"} <= names, str(names))


@test
def check_replays_an_execution():
    p = pawl("check", "--lock", "ticket", "--replay", "contend:0:0:0:0:4096:2:2:1:1:p2.s1.i0.w0.t1:A1")
    check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
    check(p.stdout.strip() == "ticket, contend: ok", p.stdout)
    again = pawl("check", "--lock", "ticket", "--replay", "contend:0:0:0:0:4096:2:2:1:1:p2.s1.i0.w0.t1:A1")
    check(p.stdout == again.stdout, "another outcome")


@test
def check_mutate_shows_that_orders_are_needed():
    report = json.loads(output("check", "--quick", "--mutate", "--lock", "ticket", "--json"))
    mutations = report["locks"][0]["mutations"]
    check(len(mutations) >= 3 and all(m["killed"] for m in mutations), str(mutations))
    check(report["stale"] == [], str(report["stale"]))


@test
def check_mutate_knows_equal_code_of_two_locks_apart():
    # retrograde locks as ticket does; a compiler that merged the two would leave nothing here to weaken
    report = json.loads(output("check", "--quick", "--mutate", "--lock", "retrograde", "--scenario", "contend", "--json"))
    mutations = report["locks"][0]["mutations"]
    check({m["op"] for m in mutations} == {"load", "store"}, str(mutations))
    check(all("retrograde.h" in m["site"] and m["killed"] for m in mutations), str(mutations))


@test
def check_refuses_bad_input():
    refused(["check", "--lock", "nosuch"], "nosuch")
    refused(["check", "--scenario", "nosuch"], "nosuch")
    refused(["check", "--threads", "0"], "0")
    refused(["check", "--threads", "1000000000"], "1000000000")
    refused(["check", "--slots", "3"], "3")
    refused(["check", "--budget", "soon"], "soon")
    refused(["check", "--replay", "nonsense"], "nonsense")
    refused(["check", "--lock", "ticket", "--replay", "nonsense"], "nonsense")
    refused(["check", "--lock", "ticket", "--replay", "contend:0:0:0:0:3:2:2:1:1:A1"], "contend")
    refused(["check", "--nosuch"], "--nosuch")
    with tempfile.TemporaryDirectory() as d:
        refused(["check", "--lock", "tts", "-o", f"{d}/no/file"], f"{d}/no/file")
        check(not list(pathlib.Path(d).iterdir()), "something was left behind")


@test
def check_help_names_every_option():
    text = output("check", "--help")
    for option in ["--all", "--lock", "--quick", "--threads", "--iterations", "--locks", "--slots", "--seed",
                   "--exhaustive", "--budget", "--replay", "--mutate", "--json"]:
        check(option in text, option)


@test
def a_scenario_that_concerns_nobody_is_no_success():
    refused(["check", "--lock", "semaphore", "--scenario", "retry"], "does not concern semaphore")
    lines = output("check", "--quick", "--lock", "semaphore,tts", "--scenario", "retry").splitlines()
    check(lines[1].endswith("not concerned") and lines[2].endswith("ok"), str(lines))
