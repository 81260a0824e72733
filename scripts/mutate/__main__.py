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
import glob
import json
import os
import queue
import random
import signal
import sys
import threading
import time

import killers
import mutations
import together
import tree

FOLDER = "build-mutate"
KEPT = 3  # cases that are tried first


def arguments():
    p = argparse.ArgumentParser(prog="mutate", description=__doc__.split("\n")[0])
    p.add_argument("paths", nargs="*", metavar="PATH[:LINE]", help="files, folders, or lines; src and preload by default")
    p.add_argument("--again", action="store_true", help="try survivors again: there are new tests")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="trees to work in (one per CPU)")
    p.add_argument("--json", action="store_true", help="print outcomes as JSON")
    p.add_argument("--list", action="store_true", help="print the mutations, and try none")
    p.add_argument("--quick", action="store_true", help="leave out the slow tests; --again asks them about survivors")
    p.add_argument("--report", action="store_true", help="print the outcomes so far, and try nothing")
    p.add_argument("--sample", type=int, metavar="N", help="a random N of them")
    p.add_argument("--shard", default="1/1", metavar="K/N", help="the Kth part of N")
    p.add_argument("--together", action="store_true", help="all mutations of a file in one build: faster, if they compile")
    p.add_argument("--tests", metavar="NAME,...", help="try these only, of those in killers.py")
    options = p.parse_args()
    if options.tests:
        killers.CHOICE.insert(0, ("", options.tests.split(",")))
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


class Work:
    """What the trees share: the mutations that are left, the outcomes, and which tests killed what."""

    def __init__(self, todo, by_file):
        self.lock = threading.Lock()
        self.functions = queue.SimpleQueue()
        groups = collections.defaultdict(list)
        for m in todo:
            groups[m.file, by_file or m.function].append(m)
        for group in groups.values():
            self.functions.put(group)
        self.left = len(todo)
        self.outcomes = {}
        self.last = collections.defaultdict(list)  # by file: what killed last
        self.failure = None

    def record(self, mutation, verdict, by, seconds):
        outcome = {"key": key(mutation), "verdict": verdict, "by": by, "seconds": round(seconds, 1)}
        with self.lock:
            self.left -= 1
            self.outcomes[outcome["key"]] = outcome
            with open(f"{FOLDER}/results.jsonl", "a") as file:
                file.write(json.dumps(outcome) + "\n")
            if verdict == "survived":
                print(f"{mutation.file}:{mutation.line}: {mutation.name.split(': ', 1)[1]}  [{self.left} left]", file=sys.stderr)


def judge(place, mutation, tests, recent):
    """Those that killed a neighbour first, by case, and then all."""
    for test, case in recent[:KEPT]:
        if test in tests and killers.TESTS[test].cases is not None and case:
            place.build_for(test, mutation)
            if (failed := place.run(test, [case])) is not None and place.fails_again(test, failed):
                return test, failed
    order = sorted(tests, key=lambda t: next((i for i, (test, _) in enumerate(recent) if test == t), len(recent)))
    for test in order:
        place.build_for(test, mutation)
        if (failed := place.run(test)) is not None and place.fails_again(test, failed):
            return test, failed
    return None


def try_one(place, mutation, tests, recent):
    place.apply(mutation)
    try:
        if not place.changes(killers.SHIPPED[mutation.file.split("/")[0]]):
            return "equivalent", None
        by = judge(place, mutation, tests, recent)
    except tree.NotBuilt:
        return "does not compile", None
    return ("survived" if by is None else "killed"), by


class Woven:
    """A tree with a file in which all mutations are. Tests are built once."""

    def __init__(self, place, group):
        self.place = place
        self.number = {key(m): n for n, m in enumerate(together.nest(group), 1)}
        place.mend()
        place.write(group[0].file, together.weave([(self.number[key(m)], m) for m in group if key(m) in self.number]))
        place.seconds = {}
        self.run, self.fails_again = place.run, place.fails_again

    def build_for(self, test, mutation):
        if test not in self.place.seconds:
            self.place.environment = {}
            self.place.prepare(test)
        self.place.environment = {"PAWL_MUTANT": str(self.number[key(mutation)])}

    def end(self, mutation):
        self.place.environment = {}
        self.place.seconds = {}
        self.place.write(mutation.file, mutation.source)


def note_killer(recent, by):
    case = by[1].removesuffix(" (hangs)") if not by[1].startswith(("(", "exit")) else ""
    return [(by[0], case)] + [r for r in recent if r != (by[0], case)]


def work_together(place, work, group, quick):
    """Records those that are killed; returns the others, and the tests that they have not been asked of."""
    woven, left, recent = Woven(place, group), [], []
    for mutation in group:
        start, by, tests = time.monotonic(), None, killers.for_mutation(mutation.name, quick)
        if key(mutation) in woven.number:
            by, tests = judge(woven, mutation, tests, recent), []
        if by is None:
            left.append((mutation, tests))
        else:
            recent = note_killer(recent, by)
            work.record(mutation, "killed", by, time.monotonic() - start)
    woven.end(group[0])
    return left


def work_in(place, work, quick, by_file):
    while work.failure is None:
        try:
            group = work.functions.get_nowait()
        except queue.Empty:
            break
        if by_file:
            for mutation, tests in work_together(place, work, group, quick):
                place.mend()
                place.note_objects(killers.SHIPPED[mutation.file.split("/")[0]])
                start = time.monotonic()
                verdict, by = try_one(place, mutation, tests, [])
                work.record(mutation, verdict, by, time.monotonic() - start)
            place.mend()
            continue
        place.mend()
        place.note_objects(killers.SHIPPED[group[0].file.split("/")[0]])
        recent = list(work.last[group[0].file])
        for mutation in group:
            start = time.monotonic()
            verdict, by = try_one(place, mutation, killers.for_mutation(mutation.name, quick), recent)
            if by is not None:
                recent = note_killer(recent, by)
                work.last[mutation.file] = recent[:KEPT]
            work.record(mutation, verdict, by, time.monotonic() - start)
    place.mend()


def try_all(todo, jobs, quick, by_file):
    work = Work(todo, by_file)

    def worker():
        try:
            work_in(tree.Tree(FOLDER), work, quick, by_file)
        except BaseException as e:  # also SystemExit: the others end, too
            work.failure = e

    threads = [threading.Thread(target=worker) for _ in range(min(jobs, len(todo)))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if work.failure is not None:
        raise work.failure
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
        elif outcome["by"] and outcome["by"][1].endswith("(hangs)"):
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
    done = {k for k, o in outcomes.items() if not (options.again and o["verdict"] == "survived")}
    if not options.report:
        outcomes.update(try_all([m for m in all_of_them if key(m) not in done], options.jobs, options.quick, options.together))
    if options.json:
        tried = [m for m in all_of_them if key(m) in outcomes]
        json.dump([outcomes[key(m)] | {"file": m.file, "line": m.line, "name": m.name} for m in tried], sys.stdout, indent=1)
    else:
        summarize(all_of_them, outcomes, read_reasons())


main()
