"""pawl profile, with programs whose culprit is known"""

import json
import os
import pathlib
import re
import shutil
import signal

from harness import Skipped, check, environment, folder, pawl, refused, root, run, test
from profiles import blamed, check_culprit, culprit, default_library, frames, line_of, profiled, site, with_names
import harness


@test
def profile_blames_the_holders_line_through_a_wrapper():
    for lock in ["pawl_mutex", "mcs", "hemlock"]:
        with folder() as f:
            profile = profiled(f, culprit(), "exit", 4, options=("--lock", lock))
            check_culprit(profile)
            check(profile["processes"][0]["lock"] == lock, str(profile["processes"]))
            check((profile["processes"][0]["acquisitions"], profile["processes"][0]["contended"]) == (12, 8), lock)


@test
def profile_blames_the_holder_of_a_mutex_of_any_type():
    for how in ["recursive", "checked", "adaptive"]:
        with folder() as f:
            profile = profiled(f, culprit(), how, 20)
            check_culprit(profile)
            check((profile["processes"][0]["acquisitions"], profile["processes"][0]["contended"]) == (60, 40), how)


@test
def profile_sees_spin_locks():
    with folder() as f:
        check_culprit(profiled(f, culprit(), "spin", 4), "spin lock", "spin")


@test
def profile_shows_who_woke_whom_on_a_condition_variable():
    with folder() as f:
        profile = profiled(f, culprit(), "cond")
        pairs = blamed(profile, "condition variable")
        check(len(pairs) == 1, str(pairs))
        waiter, waker, wait = pairs[0]
        check(waiter == ("sleeper", line_of("/* SLEEPER */")) and waker == ("waker", line_of("/* WAKER */")), str(pairs))
        check(wait["worst_ns"] >= 10e6, f"waited {wait['worst_ns']} ns")


@test
def profile_times_how_long_a_site_holds_a_lock():
    with folder() as f:
        profile = profiled(f, culprit(), "exit", 4)
        holds = lambda *place: [h for h in profile["holds"] if site(profile, h["stack"]) == place]
        long, short = holds("holder_a", line_of("/* HOLDER */")), holds("waiter_b", line_of("WAITER_B"))
        check([h["count"] for h in long] == [2, 2] and sum(h["total_ns"] for h in long) >= 40e6, f"by day and by night: {long}")
        check(sum(h["count"] for h in short) == 4, str(short))


@test
def profile_names_classes_and_templates_of_cplusplus():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/profile/culprit_cc", options=("-o", f"{f}/o"))
        text = pathlib.Path(f, "o").read_text()
        check(f"\n        shop::take_inventory (culprit.cc:{line_of('// HOLDER', 'culprit.cc')})\n" in text, f"without parameters: {text}")
        waiter, holder, wait = blamed(profile)[0]
        inside = [(x.get("function", ""), x.get("line")) for x in frames(profile, wait["holder"])]
        expected = line_of("// HOLDER", "culprit.cc")
        check(any(name.startswith("shop::take_inventory(int)") and line == expected for name, line in inside), str(inside))
        inside = [(x.get("function", ""), x.get("line")) for x in frames(profile, wait["waiter"])]
        expected = line_of("// WAITER", "culprit.cc")
        check(any(name.startswith("shop::sell(char const*)") and line == expected for name, line in inside), str(inside))
        check(profile["locks"][wait["lock"]]["name"].startswith("mutex first used in "), profile["locks"][wait["lock"]]["name"])


def strip_apart(f, program):
    """Makes app there, without symbols, and app.debug with them."""
    shutil.copy(program, f"{f}/app")
    for command in [("objcopy", "--only-keep-debug", "app", "app.debug"), ("strip", "app"),
                    ("objcopy", "--add-gnu-debuglink=app.debug", "app")]:
        p = run(*command, cwd=f)
        check(p.returncode == 0, p.stderr)


@test
def profile_reads_separate_debug_files_and_does_without():
    with folder() as f:
        strip_apart(f, culprit())
        check_culprit(profiled(f, f"{f}/app", "exit", 3))
        os.remove(f"{f}/app.debug")
        profile = profiled(f, f"{f}/app", "exit", 3)
        found = frames(profile, blamed(profile)[0][2]["holder"])
        check("function" not in found[0] and found[0]["module"] == f"{f}/app", str(found[0]))
        p = run("addr2line", "-fe", culprit(), found[1]["offset"])
        check(p.stdout.split()[0] == "holder_a", p.stdout)


@test
def profile_survives_every_end_of_the_program():
    ends = [("kill", 128 + signal.SIGKILL), ("term", 128 + signal.SIGTERM), ("int", 128 + signal.SIGINT),
            ("segv", 128 + signal.SIGSEGV), ("abort", 128 + signal.SIGABRT), ("_exit", 3)]
    for how, status in ends:
        with folder() as f:
            profile = profiled(f, culprit(), how, 2, status=status)
            check_culprit(profile)
            end = "exit status 3" if status == 3 else f"killed by {signal.Signals(status - 128).name}"
            check(profile["end"] == end, profile["end"])


@test
def profile_shows_waits_that_never_ended():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/profile/waiters", "deadlock", status=128 + signal.SIGKILL, options=("-o", f"{f}/o"))
        line = lambda function, mark: (function, line_of(f"/* {mark} */", "waiters.c"))
        pairs = blamed(profile)
        check({(w, h) for w, h, _ in pairs} == {(line("eat_apples", "PEARS_SECOND"), line("eat_pears", "PEARS_FIRST")),
                                                (line("eat_pears", "APPLES_SECOND"), line("eat_apples", "APPLES_FIRST"))}, str(pairs))
        check(all(w["unfinished"] == w["count"] == 1 and w["worst_ns"] >= 10e6 for _, _, w in pairs), str(pairs))
        check([(w, h) for w, h, _ in blamed(profile, "condition variable")] == [(line("sleeper", "SLEEPER"), None)], "the idle thread")
        check([w["unfinished"] for w in profile["worst"]] == [True] * 3, str(profile["worst"]))
        check({l["name"]: l["unfinished"] for l in profile["locks"]} == {"apples": 1, "pears": 1, "changed": 1, "mutex": 0}, str(profile["locks"]))
        check(profile["processes"][0]["still_waiting"] == 2 and profile["processes"][0]["waited_ns"] >= 20e6, str(profile["processes"]))
        text = pathlib.Path(f, "o").read_text()
        for part in ["2 waits for a lock had not ended", "1 wait, 1 not ended, worst", "woken by no call that was seen"]:
            check(part in text, f"{part}: {text}")


@test
def profile_knows_that_a_cancelled_wait_is_over():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/profile/waiters", "cancelled", status=128 + signal.SIGKILL)
        pairs = blamed(profile, "condition variable")
        check([(w["unfinished"], h) for _, h, w in pairs] == [(1, None)], str(pairs))
        check([l["unfinished"] for l in profile["locks"] if l["name"] == "changed"] == [1], str(profile["locks"]))


@test
def profile_knows_what_was_no_wait_and_what_is_over():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/profile/waiters", "refused", status=128 + signal.SIGKILL)
        pairs = blamed(profile, "condition variable")
        found = {(w, h, x.get("unfinished", 0)) for w, h, x in pairs}
        check(found == {(("wait_briefly", line_of("/* BRIEFLY */", "waiters.c")), None, 0)}, str(pairs))
        check(sum(x["count"] for _, _, x in pairs) > 1, str(pairs))
        check(all(l.get("unfinished", 0) == 0 for l in profile["locks"]), str(profile["locks"]))


@test
def profile_knows_whose_wait_was_cancelled():
    with folder() as f:
        program = harness.build / "tests/profile/forked"
        if run(program).returncode == 4:
            raise Skipped("no _Fork()")
        profile = profiled(f, program, status=128 + signal.SIGKILL)
        parent = profile["processes"][0]["pid"]
        found = [l["unfinished"] for l in profile["locks"] if l["name"] == "changed" and l["process"] == parent]
        check(found == [1], str(profile["locks"]))


@test
def profile_keeps_the_longest_waits_for_locks_whatever_idle_threads_do():
    with folder() as f:
        profile = profiled(f, culprit(), "crowd", 1)
        names = [profile["locks"][w["lock"]]["name"] for w in profile["worst"]]
        check(names.count("wanted") == 2 and names.count("ready_changed") == 256, str(names))


@test
def profile_tells_processes_apart():
    with folder() as f:
        profile = profiled(f, culprit(), "fork", 2, options=("-o", f"{f}/o"))
        parent, child = profile["processes"]
        check((parent["acquisitions"], child["acquisitions"]) == (0, 6), str(profile["processes"]))
        check(child["parent"] == parent["pid"] and {l["process"] for l in profile["locks"]} == {child["pid"]}, "by pid")
        check_culprit(profile)
        text = pathlib.Path(f, "o").read_text()
        check(f"mutex wanted, of process {child['pid']}\n" in text and re.search(rf"\n1 +{child['pid']} +6 .*wanted\n", text), text)
    with folder() as f:
        profile = profiled(f, culprit(), "exec", 2)
        before, after = profile["processes"]
        check(before["pid"] == after["pid"] and before["acquisitions"] == after["acquisitions"] == 6, str(profile["processes"]))
        check(not before["exited"] and after["exited"], "which of them came to its end")
        check_culprit(profile)


@test
def profile_passes_signals_on_and_leaves_the_programs_output_alone():
    with folder() as f:
        p = pawl("profile", "-o", f"{f}/p", "--", "sh", "-c", "echo out; echo error >&2; kill -TERM $PPID; exec sleep 600")
        check((p.returncode, p.stdout, p.stderr) == (128 + signal.SIGTERM, "out\n", "error\n"), f"{p.returncode}: {p.stdout}{p.stderr}")
        check("killed by SIGTERM" in pathlib.Path(f, "p").read_text(), "the report")


@test
def reports_cut_no_character_and_bear_names_of_any_bytes():
    with folder() as f:
        program, holder, waiter = with_names(f)
        p = pawl("profile", "--trace", f"{f}/t", "--json", f"{f}/j", "-o", f"{f}/o", "--", program, os.fsdecode(b"\xfe"), env=environment(LC_ALL="C"))
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile, trace = (json.loads(pathlib.Path(f, x).read_text(encoding="utf-8")) for x in "jt")
        check(profile["locks"][0]["name"] == "caf\N{REPLACEMENT CHARACTER}" and profile["command"].endswith(" \N{REPLACEMENT CHARACTER}"), str(profile["locks"][0]))
        check([w["thread"] for w in profile["worst"]] == ["w\N{REPLACEMENT CHARACTER}"], str(profile["worst"]))
        event = next(e for e in trace["traceEvents"] if e["name"].startswith("wait for"))
        check(event["args"]["blocked by"].startswith(holder + " (names.c:"), event["args"]["blocked by"])
        check(f"blocked by {holder} (names.c:" in pathlib.Path(f, "o").read_text(encoding="utf-8"), "the text")
        check(event["args"]["stack"][0].startswith(waiter + " (names.c:"), str(event))


INLINED = """
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static inline __attribute__((always_inline)) void innermost(void)
{
    pthread_mutex_lock(&m); /* INNERMOST */
    __asm__ volatile("" ::: "memory");
}
static inline __attribute__((always_inline)) void middle(void)
{
    innermost(); /* MIDDLE */
}
__attribute__((noinline)) void outer(void)
{
    middle(); /* OUTER */
    pthread_mutex_unlock(&m);
}
int main(void) { outer(); __asm__ volatile(""); return 0; }
"""


@test
def profile_shows_frames_that_are_inlined():
    with folder() as f:
        pathlib.Path(f, "inlined.c").write_text(INLINED)
        for compiler in ["gcc", "clang"]:
            if not shutil.which(compiler):
                continue
            p = run(compiler, "-g", "-O2", "-o", f"{f}/inlined", f"{f}/inlined.c", "-lpthread")
            check(p.returncode == 0, p.stderr)
            profile = profiled(f, f"{f}/inlined")
            line = lambda mark: next(i for i, l in enumerate(INLINED.splitlines(), 1) if mark in l)
            found = [(x.get("function"), x.get("line"), x.get("inlined", False)) for x in frames(profile, profile["locks"][0]["first"])]
            check(found[:3] == [("innermost", line("INNERMOST"), True), ("middle", line("MIDDLE"), True), ("outer", line("OUTER"), False)], f"{compiler}: {found}")


BUILD_ID = """
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) void hidden(void (*work)(void))
{
    pthread_mutex_lock(&m); /* HELD */
    work();
    pthread_mutex_unlock(&m);
}
void keep(void (*work)(void)) { hidden(work); __asm__ volatile(""); }
"""


@test
def profile_finds_the_symbols_of_a_library_by_its_build_id():
    """As those of -dbgsym packages: a file of another name, in another folder, that only the number leads to."""
    with folder() as f:
        pathlib.Path(f, "kept.c").write_text(BUILD_ID)
        pathlib.Path(f, "main.c").write_text("void keep(void (*)(void));\nstatic void nothing(void) {}\nint main(void) { keep(nothing); return 0; }\n")
        for command in [("cc", "-g", "-O2", "-fPIC", "-shared", "-Wl,--build-id", "-o", "libkept.so", "kept.c"), ("cc", "-o", "main", "main.c", f"{f}/libkept.so"),
                        ("objcopy", "--only-keep-debug", "libkept.so", "symbols"), ("strip", "libkept.so")]:
            p = run(*command, cwd=f)
            check(p.returncode == 0, p.stderr)
        number = re.search("Build ID: ([0-9a-f]+)", run("readelf", "-n", f"{f}/libkept.so").stdout)[1]
        profile = profiled(f, f"{f}/main")
        names = lambda p: [(x.get("function"), x.get("line")) for x in frames(p, p["locks"][0]["first"])]
        expected = ("hidden", next(i for i, l in enumerate(BUILD_ID.splitlines(), 1) if "HELD" in l))
        check(expected not in names(profile), str(names(profile)))
        script = f"mount -t tmpfs pawl-test /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/{number[:2]} && " \
                 f"cp {f}/symbols /usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug && exec {harness.build}/pawl profile --json {f}/found -- {f}/main"
        if run("unshare", "--mount", "mount", "-t", "tmpfs", "pawl-test", "/usr/lib/debug").returncode != 0:
            raise Skipped("no file system can be mounted")
        p = run("unshare", "--mount", "sh", "-c", script)
        check(p.returncode == 0, p.stderr)
        profile = json.loads(pathlib.Path(f, "found").read_text())
        check(names(profile)[0] == expected and profile["locks"][0]["name"] == "m", f"{names(profile)} {profile['locks'][0]['name']}")


WRAPPED = """
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#include "asleep.h"
static pthread_mutex_t fruit[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile pid_t waiter;
static __attribute__((noinline)) void take(pthread_mutex_t *m) { pthread_mutex_lock(m); __asm__ volatile(""); }
static __attribute__((noinline)) void take_it(pthread_mutex_t *m) { take(m); __asm__ volatile(""); }
static __attribute__((noinline)) void *want_apples(void *p) { waiter = gettid(); take_it(&fruit[0]); pthread_mutex_unlock(&fruit[0]); return p; }
static __attribute__((noinline)) void *want_pears(void *p) { waiter = gettid(); take_it(&fruit[1]); pthread_mutex_unlock(&fruit[1]); return p; }
static __attribute__((noinline)) void eat(pthread_mutex_t *m, void *(*want)(void *))
{
    pthread_t t;
    waiter = 0;
    pthread_create(&t, NULL, want, NULL);
    while (waiter == 0 || !is_asleep(waiter))
        nap(1);
    pthread_mutex_unlock(m);
    pthread_join(t, NULL);
}
static __attribute__((noinline)) void eat_apples(void) { take_it(&fruit[0]); eat(&fruit[0], want_apples); }
static __attribute__((noinline)) void eat_pears(void) { take_it(&fruit[1]); eat(&fruit[1], want_pears); }
static pthread_cond_t kettle = PTHREAD_COND_INITIALIZER;
static volatile int ready;
static __attribute__((noinline)) void expect(void) { pthread_mutex_lock(fruit); while (!ready) pthread_cond_wait(&kettle, fruit); pthread_mutex_unlock(fruit); }
static __attribute__((noinline)) void *expect_tea(void *p) { waiter = gettid(); expect(); return p; }
static __attribute__((noinline)) void *expect_milk(void *p) { waiter = gettid(); expect(); __asm__ volatile(""); return p; }
static void drink(void *(*want)(void *))
{
    pthread_t t;
    waiter = ready = 0;
    pthread_create(&t, NULL, want, NULL);
    while (waiter == 0 || !is_asleep(waiter))
        nap(1);
    pthread_mutex_lock(fruit);
    ready = 1;
    pthread_cond_signal(&kettle);
    nap(20);
    pthread_mutex_unlock(fruit);
    pthread_join(t, NULL);
}
int main(int argc, char **argv)
{
    if (argc > 2) drink(expect_tea), drink(expect_milk);
    else if (argc > 1) eat_apples();
    else eat_apples(), eat_pears();
    return 0;
}
"""


@test
def profile_passes_over_wrappers_that_have_no_names():
    """Two of them, one in the other, from which two locks are acquired."""
    with folder() as f:
        pathlib.Path(f, "wrapped.c").write_text(WRAPPED)
        p = run("cc", "-w", "-O1", f"-I{root}/tests/profile", "-o", f"{f}/named", f"{f}/wrapped.c", "-lpthread")
        check(p.returncode == 0 and run("strip", "-o", f"{f}/wrapped", f"{f}/named").returncode == 0, p.stderr)
        profile = profiled(f, f"{f}/wrapped")

        def function(stack):
            frame = profile["frames"][profile["stacks"][stack]["frames"][profile["stacks"][stack]["site"]]]
            check("function" not in frame, str(frame))
            return run("addr2line", "-f", "-e", f"{f}/named", hex(int(frame["offset"], 16) - 1)).stdout.split()[0]
        found = {(function(w["waiter"]), function(w["holder"])) for w in profile["waits"]}
        check(found == {("want_apples", "eat_apples"), ("want_pears", "eat_pears")}, str(found))
        check({function(l["first"]) for l in profile["locks"]} == {"eat_apples", "eat_pears"}, str(profile["locks"]))
        names = {l["name"] for l in profile["locks"]}
        check(len(names) == 2 and all(n.startswith("mutex first used in wrapped+0x") for n in names), str(names))
        profile = profiled(f, f"{f}/named")
        check({site(profile, w["holder"])[0] for w in profile["waits"]} == {"take"}, "by their names, these are none")
        profile = profiled(f, "sh", "-c", f"{f}/wrapped 1; {f}/wrapped 1")
        check({(function(w["waiter"]), function(w["holder"])) for w in profile["waits"]} == {("take", "take")}, "one lock, in two processes")
        profile = profiled(f, f"{f}/wrapped", "1", "2")
        check({function(w["waiter"]) for w in profile["waits"]} == {"expect"}, "a condition variable and its mutex")


@test
def profile_names_code_of_a_jit_by_its_map():
    with folder() as f:
        code = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    /* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret: pthread_mutex_lock(%rdi) called by compiled code */
    unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
    unsigned char *p = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(p, code, sizeof code);
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *f = fopen(path, "w");
    fprintf(f, "%lx %x compiled by a jit\n", (unsigned long)p, (unsigned)sizeof code);
    fclose(f);
    ((int (*)(void *, void *))p)(&m, (void *)pthread_mutex_lock);
    pthread_mutex_unlock(&m);
}
"""
        pathlib.Path(f, "jit.c").write_text(code)
        p = run("cc", "-w", "-g", "-fno-omit-frame-pointer", "-o", f"{f}/jit", f"{f}/jit.c", "-lpthread")
        check(p.returncode == 0, p.stderr)
        profile = profiled(f, f"{f}/jit")
        pathlib.Path(f"/tmp/perf-{profile['processes'][0]['pid']}.map").unlink()
        names = [x.get("function") for x in frames(profile, profile["locks"][0]["first"])]
        check(names[:2] == ["compiled by a jit", "main"], str(names))


@test
def profile_keeps_a_million_locks_in_a_hundred_megabytes():
    with folder() as f:
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        plain = int(run("python3", "-c", script, culprit(), "many", 1000000).stdout)
        with_it = int(run("python3", "-c", script, culprit(), "many", 1000000, env=stats_environment(f)).stdout)
        check(with_it - plain <= 100 * 1000, f"{with_it - plain} KB more")
        p = run("python3", "-c", script, harness.build / "pawl", "profile", "--json", f"{f}/p", "--", culprit(), "many", 1000000)
        most = int(p.stdout)  # of the program under it, and of pawl itself
        check(most - plain <= 100 * 1000, f"{most - plain} KB more")
        process = json.loads(pathlib.Path(f, "p").read_text())["processes"][0]
        check((process["locks"], process["beyond_the_table"]) == (1000000, 0), f"not all of them: {process}")


def stats_environment(f):
    return environment(LD_PRELOAD=default_library(), PAWL_STATS=f"{f}/s.json")


@test
def profile_refuses_what_it_cannot_do():
    with folder() as f:
        refused(["profile"], "no command given")
        refused(["profile", "--depth", "0", "--", "true"], "--depth '0'")
        refused(["profile", "--depth", "33", "--", "true"], "--depth '33'")
        refused(["profile", "--lock", "no_such", "--", "true"], "no_such")
        refused(["profile", "--json", f"{f}/no/where", "--", "true"], f"--json '{f}/no/where'")
        refused(["profile", "--html", "", "--", "true"], "--html ''")
        pathlib.Path(f, "static.c").write_text("int main(void) { return 0; }\n")
        check(run("cc", "-static", "-o", f"{f}/static", f"{f}/static.c").returncode == 0, "cc -static")
        refused(["profile", "--", f"{f}/static"], "statically linked")
        p = pawl("profile", "--", f"{f}/missing")
        check((p.returncode, p.stderr) == (127, f"pawl: '{f}/missing': No such file or directory\n"), p.stderr)
        pathlib.Path(f, "script").write_text("#!/no/such/interpreter\n")
        os.chmod(f"{f}/script", 0o755)
        p = pawl("profile", "-o", f"{f}/o", "--", f"{f}/script")
        check((p.returncode, p.stderr) == (127, f"pawl: '{f}/script': its interpreter does not exist\n"), p.stderr)
        check(not os.path.exists(f"{f}/o"), "a report of nothing")
        check("exit status 127" in pawl("profile", "--", "sh", "-c", "exit 127").stderr, "its own status")
        for first, second in [(f"{f}/o", f"{f}/o"), (f"{f}/o", f"{f}/./o"), ("-", "-")]:
            refused(["profile", "-o", first, "--json", second, "--", "true"], f"--json '{second}': --output goes there, too")
        check(pawl("profile", "-o", "/dev/null", "--json", "/dev/null", "--", "true").returncode == 0, "a device takes both")
        pathlib.Path(f, "text").write_text("hello")
        os.chmod(f"{f}/text", 0o644)
        p = pawl("profile", "--", f"{f}/text")
        check((p.returncode, p.stderr) == (126, f"pawl: '{f}/text': Permission denied\n"), p.stderr)
        for content in [b"hello", b"MZ\x90\0\3\0\0\0", b""]:
            pathlib.Path(f, "text").write_bytes(content)
            os.chmod(f"{f}/text", 0o755)
            for command in ["run", "profile", "tune"]:
                refused([command, "--", f"{f}/text"], "neither a program for Linux (ELF) nor a script")
        if os.getuid() == 0:
            shutil.copy("/bin/true", f"{f}/raised")
            os.chown(f"{f}/raised", 65534, -1)
            os.chmod(f"{f}/raised", 0o4755)
            for command in ["profile", "tune"]:
                refused([command, "--", f"{f}/raised"], "set-user-ID")
        p = pawl("profile", "--json", "/dev/full", "--", "true")
        check(p.returncode == 2 and p.stderr.startswith("pawl: --json '/dev/full': "), p.stderr)


@test
def profile_adds_its_report_to_a_file_that_standard_error_is():
    with folder() as f:
        for options in [(), ("-o", "/dev/stderr"), ("-o", "/dev/stdout")]:
            with open(f"{f}/log", "w") as log:
                log.write("before\n")
                log.flush()
                p = run(harness.build / "pawl", "profile", *options, "--", "sh", "-c", "echo during >&2",
                        capture_output=False, stdout=log, stderr=log)
            lines = pathlib.Path(f, "log").read_text().splitlines()
            check(p.returncode == 0 and lines[:2] == ["before", "during"] and lines[2].startswith("pawl profile: "), str(lines))


@test
def profile_sees_through_a_library_without_debugging_information():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/apps/app_sqlite", "shared", f, 2, 5)
        through = [[(x.get("module", "").split("/")[-1], x.get("file", "").split("/")[-1], x.get("function")) for x in frames(profile, h["stack"])]
                   for h in profile["holds"]]
        check(any(s[0][0].startswith("libsqlite3") and any(file == "sqlite.c" and name == "work" for _, file, name in s) for s in through),
              str(through[:3]))


def sqlite_stacks(f):
    """Of a program that makes a thread wait for a lock inside SQLite: the frames of the longest wait's waiter and holder."""
    if not (harness.build / "tests/profile/culprit_sqlite").exists():
        raise Skipped("SQLite is not installed")
    strip_apart(f, harness.build / "tests/profile/culprit_sqlite")
    profile = profiled(f, f"{f}/app")
    _, _, wait = blamed(profile)[0]
    check(wait["worst_ns"] >= 10e6, str(wait))
    return frames(profile, wait["waiter"]), frames(profile, wait["holder"])


@test
def profile_blames_the_line_that_made_sqlite_hold_its_lock():
    with folder() as f:
        for found, function, mark in zip(sqlite_stacks(f), ["quick_lookup", "slow_report"], ["/* WAITER */", "/* HOLDER */"]):
            mine = next(i for i, x in enumerate(found) if "libsqlite3" not in x.get("module", ""))
            check(mine > 0 and found[mine]["function"] == function and found[mine]["line"] == line_of(mark, "culprit_sqlite.c"), str(found))
            check(found[mine - 1]["function"] == "sqlite3_exec", str(found))
