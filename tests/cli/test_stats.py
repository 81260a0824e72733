"""pawl run --stats, with a program whose numbers are known (tests/apps/known.c)"""

import json
import os
import pathlib

from harness import check, environment, eventually, folder, pawl, preload, run, test
import harness

LOCKS = ["pawl_mutex", "mcs", "hapax_vw"]


def known(what, n, into, lock="pawl_mutex", **options):
    """Runs it with the statistics in a folder; what each file there says, by name."""
    program = harness.build / "tests/apps/app_known"
    p = pawl("run", "--lock", lock, f"--stats={into}/s.json", "--", program, what, n, **options)
    check((p.returncode, p.stdout, p.stderr) == (0, "", ""), f"{what}: {p.returncode}: {p.stdout}{p.stderr}")
    return {f.name: json.loads(f.read_text()) for f in pathlib.Path(into).iterdir() if not f.name.endswith(".txt")}


def only(what, n, **options):
    with folder() as f:
        found = known(what, n, f, **options)
        check(list(found) == ["s.json"], f"{what}: files {list(found)}")
        return found["s.json"]


def default_library():
    locks = json.loads(harness.output("run", "--list", "--json"))["locks"]
    return next(l["library"] for l in locks if l["default"])


def in_all(histogram):
    return sum(b["count"] for b in histogram)


@test
def stats_count_every_acquisition_once():
    for lock in LOCKS:
        for what, n, expected in [("count", 1000, 1000), ("recurse", 50, 50), ("trylock", 70, 70), ("errorcheck", 60, 60), ("spin", 90, 90),
                                  ("wait-in-vain", 20, 21), ("reuse", 30, 60)]:
            s = only(what, n, lock=lock)
            check(s["acquisitions"] == expected, f"{lock} {what}: {s['acquisitions']} instead of {expected}")
            check(s["lock"] == lock and s["locks"] == 1, f"{lock} {what}: {s['lock']}, {s['locks']} locks")
            check((s["contended"], s["contended_share"], s["most_contended"]) == (0, 0, []), f"{what}: contended")
            check(s["refused"] == (n if what in ("trylock", "errorcheck") else 0), f"{lock} {what}: {s['refused']} refused")
            check(s["hold"]["count"] == in_all(s["hold"]["histogram"]) == expected, f"{what}: held {s['hold']}")


@test
def stats_name_the_lock_and_the_call_site_that_waited():
    for lock in LOCKS:
        s = only("wait-long", 20, lock=lock)
        check(s["contended"] >= 1 and s["wait"]["worst_ns"] >= 20e6, f"{lock}: {s['wait']}")
        slow = s["most_contended"][0]
        check(slow["lock"]["symbol"] == "slow", f"{lock}: {slow['lock']}")
        check(slow["call_site"]["symbol"] == "wait_here", f"{lock}: {slow['call_site']}")
        check(slow["call_site"]["module"].endswith("app_known"), f"{lock}: {slow['call_site']}")
        check(slow["call_site_waits"] == 1 and slow["call_site_waited_ns"] >= 20e6, f"{lock}: {slow}")
        check((slow["acquisitions"], slow["contended"], slow["contended_share"]) == (2, 1, 0.5), f"{lock}: {slow}")
        check(slow["hold"]["worst_ns"] >= 20e6 and slow["hold"]["count"] == 2, f"{lock}: {slow['hold']}")
        longest = slow["wait"]["histogram"][-1]
        check(longest["from_ns"] <= slow["wait"]["worst_ns"] < longest["below_ns"], f"{lock}: {longest}")


@test
def stats_list_the_ten_that_were_waited_for_longest():
    s = only("wait-for-several", 13)
    listed = s["most_contended"]
    waited = [l["wait"]["total_ns"] for l in listed]
    check(len(listed) == 10 and waited == sorted(waited, reverse=True), str(waited))
    check({l["lock"]["symbol"] for l in listed} == {"several"}, str(listed[0]["lock"]))
    addresses = [int(l["lock"]["address"], 16) for l in listed]
    check(addresses == sorted(addresses, reverse=True), "not the longest of them")
    check(s["contended"] == 13, f"{s['contended']} contended")


@test
def stats_offsets_are_what_addr2line_wants():
    site = only("wait-long", 1)["most_contended"][0]["call_site"]
    p = run("addr2line", "-fe", site["module"], site["offset"])
    check(p.stdout.splitlines()[0] == "wait_here", p.stdout + p.stderr)


@test
def stats_table_says_the_same_to_people():
    with folder() as f:
        s = known("wait-long", 20, f)["s.json"]
        table = (pathlib.Path(f) / "s.json.txt").read_text()
        check(f"{s['acquisitions']} acquisitions of {s['locks']} lock" in table, table)
        check(" slow+0x0 (" in table and "waited most in wait_here+0x" in table, table)


@test
def stats_without_a_file_show_the_table_at_once():
    with folder() as f:
        p = pawl("run", "--stats", "--", harness.build / "tests/apps/app_known", "count", 12, cwd=f)
        check(p.returncode == 0 and p.stdout == "", p.stdout)
        check(p.stderr.startswith("pawl: app_known (") and "12 acquisitions of 1 lock" in p.stderr, p.stderr)
        check(os.listdir(f) == ["pawl-stats.json"], str(os.listdir(f)))
        check(json.loads((pathlib.Path(f) / "pawl-stats.json").read_text())["acquisitions"] == 12, "JSON")


@test
def stats_of_a_child_are_its_own():
    with folder() as f:
        found = known("fork", 10, f)
        check(sorted(s["acquisitions"] for s in found.values()) == [10, 20], str(found))
        check(found["s.json"]["acquisitions"] == 10, "the child's in the place of its parent's")
        child = next(name for name in found if name != "s.json")
        check(child == f"s.json.{found[child]['process']}", child)
    check(only("fork-idle", 10)["acquisitions"] == 10, "a child that locks nothing")


@test
def stats_of_commands_in_a_shell_do_not_overwrite_each_other():
    program = harness.build / "tests/apps/app_known"
    script = f"{program} count 3; {program} count 4; true"
    with folder() as f:
        p = pawl("run", f"--stats={f}/s.json", "--", "sh", "-c", script)
        check(p.returncode == 0, p.stderr)
        found = [json.loads(x.read_text()) for x in pathlib.Path(f).glob("s.json*") if x.suffix != ".txt"]
        counts = sorted(s["acquisitions"] for s in found if s["program"] == str(program))
        check(counts == [3, 4], str(counts))
    with folder() as f:  # the same without `pawl run`
        env = environment(LD_PRELOAD=default_library(), PAWL_STATS=f"{f}/s.json")
        p = run("sh", "-c", script, env=env)
        check(p.returncode == 0, p.stderr)
        found = [json.loads(x.read_text()) for x in pathlib.Path(f).glob("s.json*") if x.suffix != ".txt"]
        counts = sorted(s["acquisitions"] for s in found if s["program"] == str(program))
        check(counts == [3, 4], str(counts))


@test
def stats_of_an_earlier_run_are_replaced():
    with folder() as f:
        known("count", 3, f)
        check(known("count", 4, f)["s.json"]["acquisitions"] == 4, "not replaced")
        check(sorted(os.listdir(f)) == ["s.json", "s.json.txt"], str(os.listdir(f)))


@test
def stats_do_not_speak_the_language_of_the_program():
    with folder() as f:
        if run("localedef", "-i", "de_DE", "-f", "UTF-8", f"{f}/de_DE.UTF-8").returncode != 0:
            return  # no sources of locales here
        s = only("locale", 3, env=environment(LOCPATH=f, LC_ALL="de_DE.UTF-8"))  # where a number is 0,5
        check(s["contended_share"] == 0, str(s["contended_share"]))


@test
def stats_say_when_there_are_more_locks_than_rows():
    with folder() as f:
        s = known("many", 1200000, f)["s.json"]
        check(s["acquisitions"] == 1200000 and s["acquisitions_beyond_the_table"] > 0, str(s["acquisitions"]))
        check(s["locks"] + s["acquisitions_beyond_the_table"] == 1200000, f"{s['locks']} locks")
        check("more locks than the table holds" in (pathlib.Path(f) / "s.json.txt").read_text(), "the table is silent")


SLOW_MEMBARRIERS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_membarrier)
        usleep(10000);
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


@test
def stats_say_when_membarriers_were_given_up():
    with folder() as f, folder() as into:
        preload(f, "slow", SLOW_MEMBARRIERS)
        slow = environment(LD_PRELOAD=f"{f}/slow.so")

        def crowd(**options):
            s = known("crowd", 80, into, lock="mcs", **options)["s.json"]
            line = "membarriers took a quarter" in (pathlib.Path(into) / "s.json.txt").read_text()
            check(line == s["membarriers_given_up"], "the table says something else")
            return s["membarriers_given_up"]

        eventually(lambda: crowd(env=slow), "never given up")
    check(only("count", 10, lock="mcs")["membarriers_given_up"] is False, "given up without a sleeper")


@test
def stats_are_written_on_every_orderly_exit():
    check(only("quick_exit", 5)["acquisitions"] == 5, "quick_exit")
    check(only("change-folder", 6)["acquisitions"] == 6, "changed folder")
    with folder() as f:
        check(known("_exit", 5, f) == {}, "_exit is not orderly")
        p = run(harness.build / "tests/apps/app_known", "change-folder", 7, cwd=f,
                env=environment(LD_PRELOAD=default_library(), PAWL_STATS="s.json"))
        check((p.returncode, p.stderr) == (0, ""), p.stderr)
        check(sorted(os.listdir(f)) == ["s.json", "s.json.txt"], str(os.listdir(f)))


@test
def stats_below_a_profile_are_the_same_and_the_profile_has_the_program_too():
    with folder() as f:
        program = harness.build / "tests/apps/app_known"
        p = pawl("profile", "--json", f"{f}/p.json", "--", harness.build / "pawl", "run", f"--stats={f}/s.json", "--", program, "count", 1000)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        s, profile = (json.loads(pathlib.Path(f, name).read_text()) for name in ["s.json", "p.json"])
        check((s["acquisitions"], s["hold"]["count"], in_all(s["hold"]["histogram"])) == (1000, 1000, 1000), str(s["hold"]))
        check([p["acquisitions"] for p in profile["processes"] if p["program"].endswith("app_known")] == [1000], str(profile["processes"]))
        lock = max(profile["locks"], key=lambda l: l["acquisitions"])
        check(lock["acquisitions"] == lock["holds_timed"] == 1000 and not lock["name"].startswith("mutex at 0x"), str(lock))


@test
def stats_do_not_touch_a_descriptor_that_is_no_longer_standard_error():
    with folder() as f:
        p = pawl("run", "--stats", "--", harness.build / "tests/apps/app_known", "close-errors", 5, cwd=f)
        check((p.returncode, p.stdout, p.stderr) == (0, "", ""), p.stdout + p.stderr)


@test
def stats_do_not_change_the_exit_status_of_a_program():
    program = harness.build / "tests/apps/app_known"
    p = pawl("run", "--stats=/dev/full", "--", program, "count", 3)
    check(p.returncode == 0 and "cannot write the statistics '/dev/full'" in p.stderr, p.stderr)
    with folder() as f:
        os.mkdir(f"{f}/gone")
        p = pawl("run", f"--stats={f}/gone/s.json", "--", "sh", "-c", f"rmdir {f}/gone; exec {program} count 3")
        check(p.returncode == 0 and p.stderr.startswith("pawl: cannot write the statistics"), p.stderr)
    read, write = os.pipe()
    os.close(read)
    with folder() as f:
        p = pawl("run", "--stats", "--", program, "count", 3, cwd=f, capture_output=False, stderr=write)
        os.close(write)
        check(p.returncode == 0, f"a closed pipe: exit {p.returncode}")
