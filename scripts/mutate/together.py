"""All mutations in one build, of which PAWL_MUTANT switches one on.

A build takes longer than most tests, and most cases do not come by the place of a mutation. So each case runs once with
all mutations off and notes the places that it comes by, in the file that PAWL_MUTANTS_REACHED names. A mutation has to
survive those cases only.
"""
import os
import re
import sys
from collections import defaultdict

import tree

MOST = 1 << 16  # mutations in a build

# In each file, and once in what is compiled from several. It declares what it calls: the file's headers come later. A
# program's first calls may come before libc knows the environment, none of these may be a cancellation point, tests count
# the calls of libc's syscall(), and what the lab saw here would be data races.
SWITCH = (
    b"""#ifndef PAWL_MUTANTS
#define PAWL_MUTANTS
#define PAWL_UNSEEN __attribute__((no_sanitize_thread))
#include <asm/unistd.h>
#ifdef __x86_64__
PAWL_UNSEEN static long pawl_mutants_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return number;
}
#else
extern long pawl_mutants_call(long, ...) __asm__("syscall");
#endif
extern int pawl_mutants_atoi(const char *) __asm__("atoi");
PAWL_UNSEEN static long pawl_mutants_open(const char *path, int flags)
{
    return pawl_mutants_call(__NR_openat, -100, (long)path, flags, 0, 0, 0);
}
PAWL_UNSEEN static const char *pawl_mutants_variable(const char *name)
{
    static char text[1 << 16];
    long n, size = 0, file = pawl_mutants_open("/proc/self/environ", 0);
    while (file >= 0 && (n = pawl_mutants_call(__NR_read, file, (long)(text + size), sizeof text - 1 - size, 0, 0, 0)) > 0)
        size += n;
    if (file >= 0)
        pawl_mutants_call(__NR_close, file, 0, 0, 0, 0, 0);
    unsigned long length = __builtin_strlen(name);
    for (char *at = text; at < text + size; at += __builtin_strlen(at) + 1)
        if (__builtin_strncmp(at, name, length) == 0)
            return at + length;
    return 0;
}
PAWL_UNSEEN static int pawl_is_mutant(int number)
{
    static int chosen = -1;
    static unsigned char *reached;
    if (chosen < 0) {
        const char *path = pawl_mutants_variable("PAWL_MUTANTS_REACHED=");
        long file = path ? pawl_mutants_open(path, 2) : -1;
        long page = file >= 0 ? pawl_mutants_call(__NR_mmap, 0, %d, 3, 1, file, 0) : -1;
        reached = page > 0 ? (unsigned char *)page : 0;
        if (file >= 0)
            pawl_mutants_call(__NR_close, file, 0, 0, 0, 0, 0);
        const char *text = pawl_mutants_variable("PAWL_MUTANT=");
        chosen = text ? pawl_mutants_atoi(text) : 0;
    }
    if (reached)
        reached[number] += reached[number] < 255;
    return chosen == number;
}
#endif
#line 1
"""
    % MOST
)


def around(number, mutation):
    """What comes before and after its place in the source. A GNU statement expression may jump."""
    kind = mutation.name.split(": ", 1)[1].split(" ", 1)[0]
    if kind == "delete":
        return f"({{ if (!pawl_is_mutant({number})) {{ ", "; } })"
    if kind == "negate":
        return "(!!(", f") ^ pawl_is_mutant({number}))"
    return f"(pawl_is_mutant({number}) ? {mutation.text} : (", "))"


def weave(numbered):
    """The source of a file with these mutations of it."""
    inserts = []
    for number, m in numbered:
        before, after = around(number, m)
        inserts.append((m.start, 1, -m.end, number, before))
        inserts.append((m.end, 0, -m.start, -number, after))
    source, at, parts = numbered[0][1].source, 0, [SWITCH]
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


class Woven:
    """A tree with all these mutations in it, built for these tests. `number` has those that could be built."""

    def __init__(self, place, found, targets):
        self.place = place
        files = defaultdict(list)
        for m in found:
            files[m.file].append(m)
        woven = [m for group in files.values() for m in nest(group)][: MOST - 1]
        while True:
            self.number = {m.name: n for n, m in enumerate(woven, 1)}
            self.write(woven)
            try:
                place.build_targets(targets)
                break
            except tree.NotBuilt as e:
                wrong = {(file, int(line)) for file, line in re.findall(r"([\w./]+\.[ch]):(\d+):\d+: error", e.output)}
                bad = {m.name for m in woven if any(m.file in path and lines(m, line) for path, line in wrong)}
                if not bad:
                    raise SystemExit(f"mutate: {e}")
                print(f"built by themselves: {len(bad)} of {len(woven)}", file=sys.stderr)
                woven = [m for m in woven if m.name not in bad]

    def write(self, woven):
        self.place.mend()
        files = defaultdict(list)
        for m in woven:
            files[m.file].append((self.number[m.name], m))
        for path, numbered in files.items():
            self.place.replace(path, numbered[0][1].source, weave(numbered))

    def environment(self, mutation):
        return {"PAWL_MUTANT": str(self.number[mutation.name])}

    def record(self, unit, scratch, limit):
        """Runs a case with none of them: what fails, its seconds, and how often it comes by each of those it comes by."""
        path = os.path.join(scratch, "reached")
        with open(path, "wb") as file:
            file.truncate(MOST)
        failed, seconds = self.place.run(unit, scratch, limit, {"PAWL_MUTANTS_REACHED": path})
        with open(path, "rb") as file:
            return failed, seconds, {n: times for n, times in enumerate(file.read()) if times}


def lines(mutation, line):
    """Whether it is on that line."""
    last = mutation.line + mutation.source.count(b"\n", mutation.start, mutation.end)
    return mutation.line <= line <= last
