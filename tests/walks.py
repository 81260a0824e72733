#!/usr/bin/env python3
"""walks.py - follows the walks in docs/architecture.md: each function is in its file and calls the next one, and no
walk goes through more files than it says (```walk N). An indented function is called on the way, and returns."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def body(function, file):
    """The text of a function, or of the macro that makes it."""
    text = (ROOT / file).read_text()
    if found := re.findall(rf"^\w[^;\n]*\b{function}\([^;{{]*\)\n\{{\n(.*?)^\}}", text, re.M | re.S):
        return "".join(found)
    if made := re.search(rf"^(PAWL_\w+)\({function},", text, re.M):
        return re.search(rf"^#define {made[1]}\(.*?[^\\]$", text, re.M | re.S)[0]
    return None


def follow(most, lines):
    """What is wrong with a walk, or None."""
    steps, caller = [line.split() for line in lines.splitlines()], None
    for line, (function, file) in zip(lines.splitlines(), steps):
        text = body(function, file)
        if text is None:
            return f"{file} has no {function}()"
        if caller and not re.search(rf"\b{function}\(", body(*caller)):
            return f"{caller[0]}() does not call {function}()"
        caller = caller if line.startswith(" ") else (function, file)
    files = {file for _, file in steps}
    return f"{len(files)} files" if len(files) > most else None


def main():
    walks = re.findall(r"^```walk (\d+)\n(.*?)^```", (ROOT / "docs/architecture.md").read_text(), re.M | re.S)
    wrong = 0 if walks else 1
    for most, lines in walks:
        if problem := follow(int(most), lines):
            print(f"FAIL walks/{lines.split()[0]}: {problem}")
            wrong += 1
    print(f"{len(walks) - wrong} passed, {wrong} failed")
    sys.exit(wrong != 0)


main()
