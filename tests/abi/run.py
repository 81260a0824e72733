#!/usr/bin/env python3
"""run.py BUILD [--update] - the binary interface: what libpawl.so exports, what inlined code needs of it, and whether
types, symbols and inline text are as the dumps beside this file say

--update writes the dumps anew. Raise PAWL_TEXT_NUMBER (include/pawl/detail/atomic.h) first if code that was compiled
with the headers before the change would not work with the library after it (docs/embedding.md)."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parents[1]
CC = os.environ.get("CC", "cc").split()
passed = failed = 0


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def must(*command, **options):
    p = run(*command, **options)
    assert p.returncode == 0, f"{command[0]}: {p.stdout}{p.stderr}"
    return p.stdout


def promise(function):
    """Runs a test, and counts it."""
    global passed, failed
    try:
        function()
        passed += 1
    except (AssertionError, OSError, subprocess.TimeoutExpired) as e:
        failed += 1
        print(f"FAIL abi/{function.__name__}\n    {e}")


def defined(library, version):
    """The names that a library exports with a version."""
    lines = must("nm", "-D", "--defined-only", "--with-symbol-versions", library).split("\n")
    names = [line.split()[-1].split("@@") for line in lines if "@" in line]
    return {name for name, of in names if of == version}


def needed(file):
    return {line.split()[-1] for line in must("nm", "-u", file).splitlines() if "pawl_" in line}


def compile_interface(work, include=root / "include", name="interface", *options):
    """An object file of interface.c, and a shared library of it with its types."""
    must(*CC, "-O0", "-g", "-fPIC", f"-ffile-prefix-map={root}/=", *options, "-I", include, "-c", here / "interface.c",
         "-o", work / f"{name}.o")
    must(*CC, "-shared", work / f"{name}.o", "-o", work / f"{name}.so")
    return work / f"{name}.o", work / f"{name}.so"


def headers_with(work, name, file, old, new):
    """A copy of the headers with one change."""
    copy = work / name
    shutil.copytree(root / "include", copy)
    text = (copy / file).read_text()
    assert old in text, f"{file} has no {old}"
    (copy / file).write_text(text.replace(old, new))
    return copy


def number(text):
    return f"#define PAWL_TEXT_NUMBER {text}"


def dump(library, to):
    must("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--drop-undefined-syms",
         "--out-file", to, library)


def differs(old, new):
    """What abidiff says, or nothing."""
    p = run("abidiff", "--no-show-locs", old, new)
    return "" if p.returncode == 0 else p.stdout + p.stderr


def text_of_headers():
    """A line for each header: its digest without comments and layout."""
    lines = []
    for path in sorted((root / "include").rglob("*")):
        if path.suffix in (".h", ".hpp", ".def"):
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)
            digest = hashlib.sha256(" ".join(text.replace("\\\n", " ").split()).encode()).hexdigest()[:16]
            lines.append(f"{digest} {path.relative_to(root / 'include')}\n")
    return "".join(lines)


ATOMIC = "include/pawl/detail/atomic.h"

# A thread with one text waits, asleep, for a lock that the other text holds, and gets it: both ways, for every lock.
SIDES = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
typedef struct lock { const char *name; size_t size; void (*use)(void *lock, void (*inside)(void)); } lock;
extern const lock old_locks[], new_locks[];
static _Alignas(128) char memory[1024];
static const lock *waits;
static pthread_t thread;
static int tid, entered; /* atomic */
static char state(void)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "r");
    if (f != NULL) {
        if (fgets(line, sizeof line, f) == NULL)
            line[0] = 0;
        fclose(f);
    }
    char *end = strrchr(line, ')');
    return end != NULL ? end[2] : 0;
}
static void enter(void) { __atomic_store_n(&entered, 1, __ATOMIC_SEQ_CST); }
static void *wait(void *unused)
{
    __atomic_store_n(&tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    waits->use(memory, enter);
    return unused;
}
static void hold(void)
{
    tid = entered = 0;
    if (pthread_create(&thread, NULL, wait, NULL) != 0)
        abort();
    while (__atomic_load_n(&tid, __ATOMIC_SEQ_CST) == 0 || (state() != 'S' && !__atomic_load_n(&entered, __ATOMIC_SEQ_CST)))
        sched_yield();
    if (__atomic_load_n(&entered, __ATOMIC_SEQ_CST)) {
        printf("%s: two owners\\n", waits->name);
        exit(1);
    }
}
int main(void)
{
    for (int i = 0; old_locks[i].name != NULL; i++)
        for (int turn = 0; turn < 2; turn++) {
            const lock *holds = turn ? &new_locks[i] : &old_locks[i];
            waits = turn ? &old_locks[i] : &new_locks[i];
            if (strcmp(holds->name, waits->name) != 0 || holds->size != waits->size) {
                printf("%s: %zu bytes, or %zu\\n", holds->name, holds->size, waits->size);
                return 1;
            }
            memset(memory, 0, sizeof memory);
            printf("%s, turn %d\\n", holds->name, turn);
            fflush(stdout);
            holds->use(memory, hold);
            pthread_join(thread, NULL);
        }
    return 0;
}
"""


def side_of(side, names):
    """A table of functions that use these locks."""
    text, table = "#include <pawl.h>\n", ""
    for name in sorted(names):
        plain = name.removeprefix("pawl_")
        own, and_own = ("", "") if name != plain else (f"pawl_{plain}_ctx c; ", ", &c")
        text += f"static void use_{plain}(void *l, void (*inside)(void)) {{ {own}pawl_{plain}_lock(l{and_own}); inside(); " \
                f"pawl_{plain}_unlock(l{and_own}); }}\n"
        table += f'{{"{name}", sizeof(pawl_{plain}), use_{plain}}}, '
    return text + f"const struct {{ const char *name; size_t size; void (*use)(void *, void (*)(void)); }} {side}_locks[] = {{{table}{{0}}}};\n"


def names_in(include):
    """The locks of a register, as the command calls them."""
    mutexes = {"mutex", "fairmutex"}
    found = re.findall(r"^PAWL_LOCK\((\w+),", (include / "pawl/locks.def").read_text(), re.M)
    return {"pawl_" + name if name in mutexes else name for name in found}


def first_line(p):
    return p.stdout.partition("\n")[0] if p.returncode == 0 else ""


def main():
    build, update = pathlib.Path(sys.argv[1]).resolve(), "--update" in sys.argv
    library, archive = build / "src/libpawl.so", build / "src/libpawl.a"
    current = re.search(number(r"(\d+)"), (root / "include/pawl/detail/atomic.h").read_text())[1]
    temporary = tempfile.TemporaryDirectory(prefix="pawl-abi-")
    work = pathlib.Path(temporary.name)
    plain, types = compile_interface(work)
    hooked, _ = compile_interface(work, root / "include", "hooked", "-DPAWL_DEBUG")
    functions, inlined = defined(library, "PAWL_0"), defined(library, f"PAWL_TEXT_{current}")

    if update:
        dump(library, here / "libpawl.abi")
        dump(types, here / "types.abi")
        (here / "text.txt").write_text(f"{current} PAWL_TEXT_NUMBER\n{text_of_headers()}")
        return

    @promise
    def every_exported_function_is_documented():
        page = (root / "docs/embedding.md").read_text()
        assert len(functions) >= 7 and not (hidden := [f for f in functions if f"`{f}`" not in page]), hidden

    @promise
    def exports_nothing_else_but_what_inlined_code_needs():
        wanted = (needed(plain) | needed(hooked)) - functions
        assert inlined == wanted, f"not needed: {inlined - wanted}; missing: {wanted - inlined}"
        all_names = {l.split()[-1] for l in must("nm", "-D", "--defined-only", library).splitlines()}
        assert len(all_names) == len(functions) + len(inlined) + 2, all_names

    @promise
    def soname_is_that_of_the_policy():
        assert "[libpawl.so.0]" in must("readelf", "-d", library)

    @promise
    def every_lock_needs_a_symbol_with_the_number():
        names = must(root / "scripts/names.sh").split()
        assert len(names) > 30
        text = "#include <pawl.h>\n"
        for name in names:
            plain_name = name.removeprefix("pawl_")
            for function in ["lock", "unlock"]:
                uses = f"static pawl_{plain_name} l; pawl_{plain_name}_{function}(&l);" if name != plain_name else \
                    f"static pawl_{name} l; pawl_{name}_ctx c; pawl_{name}_{function}(&l, &c);"
                text += f"void use_{name}_{function}(void) {{ {uses} }}\n"
        (work / "all.c").write_text(text)
        nothing = False
        for freestanding in [[], ["-DPAWL_FREESTANDING"]]:
            # One compilation; then the linker throws away all but one function and what it needs.
            must(*CC, "-O1", "-ffunction-sections", "-fdata-sections", *freestanding, "-I", root / "include", "-c", work / "all.c", "-o", work / "all.o")
            for use in [(name, function) for name in names for function in ["lock", "unlock"]]:
                must("ld", "-static", "--gc-sections", "--unresolved-symbols=ignore-all", "-e", "use_" + "_".join(use), work / "all.o", "-o", work / "one")
                of = needed(work / "one")
                nothing |= not of
                assert of or freestanding or use[1] == "unlock", f"{use} needs nothing"
                assert not of or any(n.endswith(f"_text{current}") for n in of), f"{use}: {of}"
        assert nothing, "the linker throws nothing away"

    @promise
    def current_number_is_documented():
        for file in ["docs/embedding.md", "debian/libpawl0.symbols"]:
            said = set(re.findall(r"(?:PAWL_TEXT_|_text)(\d+)", (root / file).read_text()))
            assert said == {current}, f"{file}: {said}"

    other = headers_with(work, "other", "pawl/detail/atomic.h", number(current), number(99))
    program = "#include <pawl.h>\nint main(void) { static pawl_mutex m; pawl_mutex_lock(&m); pawl_mutex_unlock(&m); return 0; }\n"
    caller = program.replace("lock(&", "lock_call(&").replace("pawl.h", "pawl/mutex.h")
    (work / "program.c").write_text(program)
    (work / "caller.c").write_text(caller)

    @promise
    def other_inline_text_does_not_link():
        must(*CC, "-I", other, "-c", work / "program.c", "-o", work / "program.o")
        for with_library in [library, archive]:
            p = run(*CC, work / "program.o", with_library, "-pthread", "-o", work / "program")
            assert p.returncode != 0 and "_text99" in p.stderr, p.stderr

    @promise
    def program_with_other_inline_text_does_not_start_and_one_that_calls_does():
        # A library of another text, to link programs with; then ours takes its place.
        objects = work / "objects"
        objects.mkdir()
        sources = list((root / "src").rglob("*.c"))
        script = (build / "src/libpawl.map").read_text().replace(f"TEXT_{current}", "TEXT_99").replace(f"_text{current}", "_text99")
        (work / "other.map").write_text(script)
        must(*CC, "-O0", "-D_GNU_SOURCE", "-DPAWL_NO_HOOKS", "-fPIC", "-shared", "-I", other, *sources, "-pthread",
             "-Wl,-soname,libpawl.so.0", f"-Wl,--version-script={work / 'other.map'}", "-o", objects / "libpawl.so.0")
        for name in ["program", "caller"]:
            must(*CC, "-I", other, work / f"{name}.c", objects / "libpawl.so.0", "-o", work / name)
            must(work / name, env=os.environ | {"LD_LIBRARY_PATH": str(objects)})
        ours = os.environ | {"LD_LIBRARY_PATH": str(library.parent)}
        p = run(work / "program", env=ours)
        assert p.returncode != 0 and "PAWL_TEXT_99" in p.stderr, p.stderr
        must(work / "caller", env=ours)

    # Really older ones, of this number and of another, as far as the history is here.
    change = shutil.which("git") and first_line(run("git", "-C", root, "log", "--format=%H", "-G", number(""), "--", ATOMIC))
    headers = {}
    for commit in [change, f"{change}^"]:
        at = work / f"older-{commit}"
        if change and run("git", "-C", root, "archive", "-o", f"{at}.tar", commit, "include").returncode == 0:
            at.mkdir()
            must("tar", "-C", at, "-xf", f"{at}.tar")
            if (at / ATOMIC).is_file() and (found := re.search(number(r"(\d+)"), (at / ATOMIC).read_text())):
                headers.setdefault("oldest" if found[1] == current else "outdated", at / "include")
    skipped = 2 - len(headers)
    if skipped:
        print(f"SKIP abi/older_headers: only {list(headers)} of them are in this history")

    if "outdated" in headers:
        @promise
        def outdated_headers_do_not_link():
            must(*CC, "-I", headers["outdated"], "-c", work / "program.c", "-o", work / "program.o")
            for with_library in [library, archive]:
                p = run(*CC, work / "program.o", with_library, "-pthread", "-o", work / "program")
                assert p.returncode != 0 and re.search(r"undefined reference to .*_text(\d+)", p.stderr)[1] != current, p.stderr

    if "oldest" in headers:
        @promise
        def oldest_headers_of_the_number_share_locks_with_these():
            names = names_in(headers["oldest"]) & names_in(root / "include")
            assert len(names) > 30
            for side, include in [("old", headers["oldest"]), ("new", root / "include")]:
                (work / f"{side}.c").write_text(side_of(side, names))
                must(*CC, "-O2", "-I", include, "-c", work / f"{side}.c", "-o", work / f"{side}.o")
            (work / "sides.c").write_text(SIDES)
            for name, libraries in [("static", [archive]), ("shared", [library, f"-Wl,-rpath,{library.parent}"])]:
                must(*CC, "-O2", work / "sides.c", work / "old.o", work / "new.o", *libraries, "-pthread", "-o", work / name)
                must(work / name, timeout=600)  # a lost wake-up would hang

    @promise
    def inline_text_is_that_of_its_number():
        stored = (here / "text.txt").read_text()
        now = f"{current} PAWL_TEXT_NUMBER\n{text_of_headers()}"
        changed = set(now.splitlines()) - set(stored.splitlines())
        assert now == stored, f"changed: {sorted(changed)}. Read --help of {pathlib.Path(__file__).name}, then --update"

    if not shutil.which("abidiff") or os.uname().machine != "x86_64" or "Free Software" not in must(*CC, "--version"):
        print("SKIP abi/dumps: they are gcc's for x86-64, and need abidiff")
        print(f"{passed} passed, {failed} failed, {skipped + 1} skipped")
        sys.exit(failed != 0)

    @promise
    def symbols_are_as_dumped():
        said = differs(here / "libpawl.abi", library)
        assert not said, said

    @promise
    def types_are_as_dumped():
        said = differs(here / "types.abi", types)
        assert not said, said

    @promise
    def changed_types_are_noticed():
        for file, old, new in [
                ("pawl/ticket.h", "pawl_word next;", "pawl_word between; pawl_word next;"),
                ("pawl/semaphore.h", "pawl_word grant;", "pawl_word grant; char last;"),
                ("pawl/detail/sleeper.h", "void *mutex;", "")]:
            shutil.rmtree(work / "changed", ignore_errors=True)
            _, changed = compile_interface(work, headers_with(work, "changed", file, old, new), "changed")
            said = differs(here / "types.abi", changed)
            assert "changed" in said, f"{file}: {said}"

    @promise
    def lost_function_is_noticed():
        script = (build / "src/libpawl.map").read_text().replace("    pawl_set_wait;\n", "")
        (work / "less.map").write_text(script)
        must(*CC, "-shared", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-Wl,-soname,libpawl.so.0",
             f"-Wl,--version-script={work / 'less.map'}", "-o", work / "less.so")
        assert "pawl_set_wait" in differs(here / "libpawl.abi", work / "less.so")

    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed != 0)


main()
