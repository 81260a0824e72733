"""What the tests of pawl bench have in common."""

import json
import statistics

import jsonschema

from harness import check, output, root, run

SCHEMA = json.loads((root / "bench/result.schema.json").read_text())
BRIEF = ["--duration", "5ms", "--warm-up", "1ms", "--runs", "1"]
QUICK = ["bench", "mutexbench", "--duration", "20ms", "--runs", "1"]


def results(*arguments, **options):
    b = json.loads(output("bench", *arguments, "--json", **options))
    jsonschema.validate(b, SCHEMA)
    for p in b["points"]:
        values = [r["value"] for r in p["runs"]]
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        for name, expected in zip(["min", "q1", "median", "q3", "max"], [min(values), *quartiles, max(values)]):
            check(abs(p[name] - expected) <= 1e-7 * max(values), f"{p['lock']}: {name} of {values} is not {p[name]}")  # they are rounded
        check(len(p["runs"]) == b["parameters"]["processes"], f"{p['lock']}: runs")
    return b


def bench(*arguments, **options):
    return results("mutexbench", *QUICK[2:], *arguments, **options)


def points(b):
    return [(p["lock"], p["threads"], p["variant"]) for p in b["points"]]


def something_was_done(*arguments, **options):
    """On a busy machine a moment may pass without that."""
    return any(p["median"] > 0 for p in results(*arguments, **options)["points"])


def all_locks():
    return [p["lock"] for p in results("mutexbench", *BRIEF, "--threads", "1")["points"]]


def caught(lock, *command):
    """Tries until two threads were inside, as on a busy machine they may never run at once."""
    for _ in range(300):
        p = run(*command)
        if p.returncode != 0:
            break
    check(p.returncode == 1 and p.stdout == "", f"{command}: exit {p.returncode}: {p.stdout}{p.stderr}")
    check("threads held the lock at once\n" in p.stderr and p.stderr.startswith(f"pawl: {lock}: two of "), p.stderr)
