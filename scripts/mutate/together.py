"""All mutations of a file in one build, of which PAWL_MUTANT switches one on.

A build takes longer than most tests. So this is many times as fast as a build for each mutation. What survives is built by
itself afterwards, because it may change nothing.
"""

import re

NUMBER = b"""static int pawl_mutant(void)
{
    extern char *getenv(const char *);
    extern int atoi(const char *);
    static int number = -1;
    if (number < 0) {
        const char *text = getenv("PAWL_MUTANT");
        number = text ? atoi(text) : 0;
    }
    return number;
}
#line 1
"""


def around(number, mutation):
    """What comes before and after its place in the source. A GNU statement expression may jump."""
    kind = mutation.name.split(": ", 1)[1].split(" ", 1)[0]
    if kind == "delete":
        return f"({{ if (pawl_mutant() != {number}) {{ ", "; } })"
    if kind == "negate":
        return "(!!(", f") ^ (pawl_mutant() == {number}))"
    return f"(pawl_mutant() == {number} ? {mutation.text} : (", "))"


def weave(numbered):
    """The source with all of them, which are numbered from 1."""
    inserts = []
    for number, m in numbered:
        before, after = around(number, m)
        inserts.append((m.start, 1, -m.end, number, before))
        inserts.append((m.end, 0, -m.start, -number, after))
    source, at, parts = numbered[0][1].source, 0, [NUMBER]
    for place, *_, text in sorted(inserts):
        parts += [source[at:place], text.encode()]
        at = place
    return b"".join(parts + [source[at:]])


def nest(found):
    """Without those that overlap one another by halves, that do not compile (0 instead of a structure), or whose
    condition is inside a macro: its value may be a pointer."""
    kept = []
    for m in found:
        text = m.source[m.start : m.end]
        is_apart = re.match(rb"\(\w+\)\{", text) or re.match(rb"(?!PAWL_)[A-Z]\w*\(", text)
        if not is_apart and not any(k.start < m.start < k.end < m.end or m.start < k.start < m.end < k.end for k in kept):
            kept.append(m)
    return kept
