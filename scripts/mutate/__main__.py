#!/usr/bin/python3
"""Breaks src/ and preload/ in one place at a time, and lists what no test notices.

    python3 scripts/mutate [OPTION...] [PATH[:LINE]...]

A mutation leaves a statement out, negates a condition, or returns another value. It counts if it compiles and
changes what ships. Outcomes are kept in build-mutate/results.jsonl, by function: those whose text has not changed are
not tried again, unless --again asks for it. A survivor in survivors.txt has a reason. It still counts as a survivor, unless
the reason begins with `equivalent:`.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time

import killers
import mutations
import together
import tree

FOLDER = "build-mutate"
MOST = 100  # cases that a mutation is asked of
HANGS = 2  # seconds that a case may take more than four times what it takes in the unbroken tree
LONG = 0.5  # seconds of a case that is asked after all that take less
LONGEST = 300  # seconds that it may take there


def arguments():
    p = argparse.ArgumentParser(prog="mutate", description=__doc__.split("\n")[0])
    p.add_argument("paths", nargs="*", metavar="PATH[:LINE]", help="files, folders, or lines; src and preload by default")
    p.add_argument("--again", action="store_true", help="try survivors again, and nothing else: there are new tests")
    p.add_argument("--jobs", type=int, default=2 * os.cpu_count(), help="cases that run at once: most of them sleep (two per CPU)")
    p.add_argument("--cases", metavar="TEXT,...", help="of those, the cases whose names have one of these in them; with --tests")
    p.add_argument("--json", action="store_true", help="print outcomes as JSON")
    p.add_argument("--list", action="store_true", help="print the mutations, and try none")
    p.add_argument("--quick", action="store_true", help="leave out the slow tests; --again asks them about survivors")
    p.add_argument("--report", action="store_true", help="print the outcomes so far, and try nothing")
    p.add_argument("--sample", type=int, metavar="N", help="a random N of them")
    p.add_argument("--shard", default="1/1", metavar="K/N", help="the Kth part of N")
    p.add_argument("--tests", metavar="NAME,...", help="try these only, of those in killers.py")
    options = p.parse_args()
    if options.tests:
        killers.choose(options.tests.split(","), options.cases.split(",") if options.cases else None)
    return options


def wanted(options):
    found = []
    for argument in options.paths or ["src", "preload"]:
        path, _, line = argument.partition(":")
        files = [path] if os.path.isfile(path) else sorted(glob.glob(f"{path}/**/*.[ch]", recursive=True))
        for file in files:
            if file not in killers.IGNORED:
                found += [m for m in mutations.find(file) if not line or m.line == int(line)]
    if options.sample is not None:
        found = random.Random(1).sample(found, min(options.sample, len(found)))
    k, n = map(int, options.shard.split("/"))
    return found[k - 1 :: n]


def key(mutation):
    return f"{mutation.name} @{mutation.body}"


def read_outcomes():
    try:
        with open(f"{FOLDER}/results.jsonl") as file:
            return {o["key"]: o for o in map(json.loads, file)}
    except FileNotFoundError:
        return {}


def read_reasons():
    """Two lines each: the mutation's name, and the reason, indented."""
    reasons, name = {}, None
    with open(os.path.join(os.path.dirname(__file__), "survivors.txt")) as file:
        for line in file:
            if line[:1].isspace() and name is not None:
                reasons[name] = (reasons[name] + " " + line.strip()).strip()
            elif line.strip() and not line.startswith("#"):
                name = line.strip()
                reasons[name] = ""
    return reasons


def hopes(limit):
    """The most that a case may take by itself, if it takes so long in the unbroken tree."""
    return HANGS + 4 * limit


class Work:
    """One build, the cases with what they come by, and the outcomes."""

    def __init__(self, place, todo, jobs, quick):
        self.place, self.jobs, self.left = place, jobs, len(todo)
        self.tests = {m.name: killers.for_mutation(m.name, quick) for m in todo}
        self.lock = threading.Lock()
        self.outcomes = {}
        self.kills = collections.defaultdict(collections.Counter)  # by file: how often a case has killed, and by its name
        for o in read_outcomes().values():
            if o["by"] is not None:
                self.count_kill(o["key"].split(":")[0], (o["by"][0], o["by"][1] or None))
        asked = sorted({t for tests in self.tests.values() for t in tests})
        self.woven = together.Woven(place, todo, sorted({t for name in asked for t in killers.TESTS[name].targets}))
        self.seconds, self.reached = {}, {}
        units = [(name, case) for name in asked for case in place.cases(name)]
        print(f"{len(todo)} mutations, {len(units)} cases", file=sys.stderr)
        self.in_parallel(self.record_unit, units)

    def count_kill(self, file, unit):
        self.kills[file].update([unit, unit[1]])

    def in_parallel(self, function, arguments):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for result in [pool.submit(self.in_scratch, function, a) for a in arguments]:
                result.result()

    def in_scratch(self, function, argument):
        with tempfile.TemporaryDirectory(dir=self.place.path, prefix="scratch-", ignore_cleanup_errors=True) as scratch:
            function(argument, scratch)

    def record_unit(self, unit, scratch):
        for attempt in range(3):
            failed, seconds, reached = self.woven.record(unit, scratch, LONGEST)
            if failed is None:
                with self.lock:
                    self.seconds[unit], self.reached[unit] = seconds, reached
                return
        print(f"not asked, because it fails without any mutation: {unit[0]} {unit[1] or ''}", file=sys.stderr)

    def units_for(self, mutation):
        """Those that come by: those that take long last; the ones that have killed most in its file, then those of a program of which few
        come by, then those that come by more often, as a child of fork does by what begins a process, then the quick ones. For a mutation that is not in
        the build, or that no case came by when they were recorded: those that come by its function."""
        numbers = {self.woven.number.get(mutation.name)}
        mine = [u for u in self.seconds if u[0] in self.tests[mutation.name]]
        if not any(self.reached[u].keys() & numbers for u in mine):
            function = mutation.name.split(": ")[0] + ": "
            numbers = {n for name, n in self.woven.number.items() if name.startswith(function)}
        times = {u: sum(self.reached[u].get(n, 0) for n in numbers) for u in mine}
        found = [u for u in mine if times[u]]
        if not found and mutation.name not in self.woven.number:
            found = mine
        kills, rank, asked = self.kills[mutation.file], {}, collections.Counter()
        random.Random(1).shuffle(found)  # so that each library is asked some cases first
        for unit in sorted(found, key=lambda u: -kills[u]):
            rank[unit] = asked[unit[1] or unit[0]]  # a case under one library, before it is asked under another
            asked[unit[1] or unit[0]] += 1
        come = collections.Counter(test for test, _ in found)
        return sorted(found, key=lambda u: (self.seconds[u] > LONG, rank[u], -kills[u[1]], come[u[0]], -times[u].bit_length(), self.seconds[u]))[:MOST]

    def judge(self, mutation, scratch, variables):
        """The case that kills it, and how, or None."""
        for unit in self.units_for(mutation):
            limit = hopes(self.seconds[unit])
            failed, _ = self.place.run(unit, scratch, limit, variables)
            # The second of three failures settles it; a hang does at once.
            if failed and (failed.endswith("(hangs)") or any(self.place.run(unit, scratch, limit, variables)[0] for _ in range(2))):
                self.count_kill(mutation.file, unit)
                return unit[0], unit[1] or "", failed
        return None

    def try_woven(self, mutation, scratch):
        start = time.monotonic()
        by = self.judge(mutation, scratch, self.woven.environment(mutation))
        self.record(mutation, "survived" if by is None else "killed", by, start)

    def try_alone(self, mutation):
        """Built by itself: one that survived, which may change nothing, or one that the build could not have."""
        start, outcome = time.monotonic(), self.outcomes.get(key(mutation))
        shipped = killers.SHIPPED[mutation.file.split("/")[0]]
        self.place.apply(mutation)
        try:
            if not self.place.changes(shipped):
                self.record(mutation, "equivalent", None, start)
            elif outcome is None:
                self.place.build_targets(sorted({t for name in self.tests[mutation.name] for t in killers.TESTS[name].targets}))
                self.in_scratch(lambda m, scratch: self.record(m, *verdict(self.judge(m, scratch, {})), start), mutation)
        except tree.NotBuilt:
            self.record(mutation, "does not compile", None, start)

    def record(self, mutation, verdict, by, start):
        outcome = {"key": key(mutation), "verdict": verdict, "by": by, "seconds": round(time.monotonic() - start, 1)}
        with self.lock:
            self.left -= outcome["key"] not in self.outcomes
            self.outcomes[outcome["key"]] = outcome
            with open(f"{FOLDER}/results.jsonl", "a") as file:
                file.write(json.dumps(outcome) + "\n")
            if verdict != "killed":
                where = f"{mutation.file}:{mutation.line}: {mutation.name.split(': ', 1)[1]}"
                print(f"{where}  {verdict}  [{self.left} left]", file=sys.stderr, flush=True)


def verdict(by):
    return ("survived" if by is None else "killed"), by


def try_all(todo, jobs, quick):
    place = tree.Tree(FOLDER)
    work = Work(place, todo, jobs, quick)
    woven = [m for m in todo if m.name in work.woven.number]
    random.Random(1).shuffle(woven)  # if the run is ended early, it is a sample
    work.in_parallel(work.try_woven, woven)
    place.mend()
    rest = [m for m in todo if work.outcomes.get(key(m), {}).get("verdict") != "killed"]
    for folder in {m.file.split("/")[0] for m in rest}:
        place.note_objects(killers.SHIPPED[folder])
    for mutation in rest:
        work.try_alone(mutation)
    place.mend()
    return work.outcomes


def summarize(all_of_them, outcomes, reasons):
    rows = collections.defaultdict(collections.Counter)
    for m in all_of_them:
        outcome = outcomes.get(key(m))
        if outcome is None:
            continue
        verdict = outcome["verdict"]
        reason = reasons.get(m.name, "")
        if verdict == "survived":
            if reason.startswith("equivalent:"):
                verdict = "equivalent"
            else:
                print(f"{m.file}:{m.line}: {m.name.split(': ', 1)[1]}" + (f"\n    {reason}" if reason else ""))
                rows[m.file]["unexplained"] += not reason
        elif outcome["by"] and outcome["by"][-1].endswith("(hangs)"):
            rows[m.file]["hangs"] += 1
        rows[m.file][verdict] += 1
    print(f"\n{'file':<28}{'killed':>8}{'by time':>8}{'survived':>9}{'no reason':>10}{'score':>7}")
    total = sum(rows.values(), collections.Counter())
    folders = {}
    for file in sorted(rows):
        folders.setdefault(file.split("/")[0] + "/", collections.Counter()).update(rows[file])
    for name, row in [*sorted(rows.items()), *folders.items()]:
        counted = row["killed"] + row["survived"]
        if counted:
            score = f"{100 * row['killed'] / counted:.1f}%"
            print(f"{name:<28}{row['killed']:>8}{row['hangs']:>8}{row['survived']:>9}{row['unexplained']:>10}{score:>7}")
    print(f"not counted: {total['does not compile']} that do not compile, {total['equivalent']} that change nothing")


def main():
    options = arguments()
    all_of_them = wanted(options)
    if options.list:
        for m in all_of_them:
            print(f"{m.file}:{m.line}: {m.name.split(': ', 1)[1]}")
        return
    os.makedirs(FOLDER, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, tree.end_all)
    outcomes = read_outcomes()
    survived = {k for k, o in outcomes.items() if o["verdict"] == "survived"}
    todo = [m for m in all_of_them if (key(m) in survived if options.again else key(m) not in outcomes)]
    if todo and not options.report:
        outcomes.update(try_all(todo, options.jobs, options.quick))
    if options.json:
        tried = [m for m in all_of_them if key(m) in outcomes]
        json.dump([outcomes[key(m)] | {"file": m.file, "line": m.line, "name": m.name} for m in tried], sys.stdout, indent=1)
    else:
        summarize(all_of_them, outcomes, read_reasons())


main()
