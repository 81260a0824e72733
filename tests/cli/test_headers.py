"""The block of properties that opens a lock's header says what its row in the register says.

A property is a list of clauses separated by semicolons. A clause that begins with names in backquotes is about those
locks, and takes precedence over what is said of all locks of the header.
"""

import json
import re

from harness import check, output, root, test

NODE = 128

ORDER = r"(FIFO|LIFO|shuffled|segments|platoons|none)\b"
BYPASS = r"(0|unbounded|once at most by each|B - 1|by time)\b"
WORDS = r"(\d+) words? per lock(, and the inner lock)?"
THREAD = r"(\d+|none)( bytes)?( words?)? per\sthread"
WAITING = r"(global|semi-private|local)\b"


def headers():
    """Of each lock, in the register's order: an #include stands before the rows of its locks."""
    found = []
    for line in (root / "include/pawl/locks.def").read_text().splitlines():
        if m := re.match(r'#include "(.*)"', line):
            header = m[1]
        elif line.startswith("PAWL_LOCK("):
            found.append(header)
    return found


def properties(header):
    block = (root / "include/pawl" / header).read_text().split("*/")[0]
    found, last = {}, None
    for line in block.splitlines()[1:]:
        line = line.removeprefix(" *")
        if m := re.match(r" ([A-Z][a-z]+) {2,}(.*)", line):
            last = m[1]
            found[last] = m[2]
        elif last and re.match(r" {10}", line):
            found[last] += " " + line.strip()
        else:
            last = None
    return found


def said(text, lock, pattern):
    """What the first clause that matches says of the lock."""
    own, common = [], []
    for clause in text.split("; "):
        if not (m := re.match(r"((?:`\w+`(?:, )?)+):? (.*)", clause)):
            common.append(clause)
        elif f"`{lock}`" in m[1]:
            own.append(m[2])
    for clause in own + common:
        if m := re.search(pattern, clause):
            return m
    return None


def expected(block, lock, inner):
    """The row, as the block tells it."""
    def found(name, pattern):
        m = said(block[name], lock, pattern)
        check(m, f"{lock}: no {pattern} in '{name}': {block[name]}")
        return m

    def like_inner(key, pattern, name, value):
        m = said(block[name], lock, pattern)
        return inner[key] if m is None and inner else value(m or found(name, pattern))

    bypass = found("Bypass", "^" + BYPASS)[1]
    words = found("Space", WORDS)
    return {
        "order": found("Admission", "^" + ORDER)[1],
        "bypass": {"0": (0, 0), "unbounded": (None, None), "by time": (None, None), "once at most by each": (1, None), "B - 1": (9, 9)}[bypass],
        "bypass_in_time": bypass == "by time",
        "words": int(words[1]) + (inner["words"] if words[2] else 0),
        "thread_bytes": like_inner("thread_bytes", THREAD, "Space", lambda m: 0 if m[1] == "none" else int(m[1]) * (1 if m[2] else 8)),
        "held_bytes": NODE if said(block["Space"], lock, "a node per lock held") else inner["held_bytes"] if inner else 0,
        "idle_bytes": NODE if said(block["Space"], lock, "a node per lock once used") else 0,
        "constant_time_unlock": like_inner("constant_time_unlock", r"(not )?in constant time", "Unlock", lambda m: m[1] is None),
        "thread_oblivious": like_inner("thread_oblivious", r"by (any thread|its owner)", "Unlock", lambda m: m[1] == "any thread"),
        "prompt_destruction": found("Unlock", r"(does not touch|touches) the lock after")[1] == "does not touch",
        "waiting": found("Waiting", "^" + WAITING)[1],
    }


@test
def headers_say_what_the_register_says():
    registered = {l["name"]: l for l in json.loads(output("list", "--json"))["locks"]}
    differ = []
    check(len(headers()) == len(registered), "not as many rows as locks")
    for header, row in zip(headers(), registered.values()):
        name = row["name"].removeprefix("pawl_")
        row["bypass"] = (row["bypass_each"], row["bypass_total"])
        over = re.match(r"Capacitor over (\w+)", row["title"])
        for key, value in expected(properties(header), name, registered[over[1]] if over else None).items():
            if row[key] != value:
                differ.append(f"{header}: {name}: {key} is {value}, and in the register {row[key]}")
    check(not differ, "\n  ".join(["", *differ]))
