"""pawl profile, with programs and surroundings that make it hard"""

import json
import os
import pathlib
import shutil
import signal
import subprocess

from harness import Skipped, check, children, environment, eventually, folder, pawl, run, test
from profiles import TABLES, check_culprit, culprit, default_library, profiled, read, shim, small_disk
import harness


def hostile():
    return harness.build / "tests/profile/hostile"


def counts(profile):
    return sorted(p["acquisitions"] for p in profile["processes"])


@test
def profile_survives_a_program_that_closes_all_descriptors():
    with folder() as f:
        check(counts(profiled(f, hostile(), "close", 10)) == [10], "acquisitions")


@test
def profile_follows_a_program_into_another_root_and_its_child():
    if os.getuid() != 0:
        raise Skipped("only root may change its root")
    with folder() as f, folder() as other:
        p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "chroot", 10, cwd=other)
        check(p.returncode == 0, p.stderr)
        parent, child = json.loads(pathlib.Path(f, "p").read_text())["processes"]
        check(parent["acquisitions"] == child["acquisitions"] == 10 and child["parent"] == parent["pid"], str((parent, child)))


@test
def statistics_need_no_file_while_a_program_that_may_open_none_runs():
    with folder() as f:
        if run(hostile(), "sandbox", 10).returncode == 6:
            raise Skipped("no seccomp filter can be installed")
        p = pawl("run", f"--stats={f}/s", "--", hostile(), "sandbox", 10)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")


@test
def profile_counts_until_a_thread_ends_the_process():
    with folder() as f:
        profile = profiled(f, hostile(), "leave", 100, status=7)
        check(counts(profile)[0] >= 100 and profile["end"] == "exit status 7", str(profile["processes"]))


@test
def profile_holds_ten_thousand_threads_fifty_processes_and_forty_programs():
    with folder() as f:
        check(counts(profiled(f, hostile(), "threads", 10000)) == [10000], "threads")
        check(counts(profiled(f, hostile(), "multiply", 50)) == [1] * 50, "processes")
        profile = profiled(f, hostile(), "exec", 40)
        check(counts(profile) == [1] * 40 and len({p["pid"] for p in profile["processes"]}) == 1, "programs")


@test
def profile_counts_what_signal_handlers_lock():
    with folder() as f:
        p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "signals", 200)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        words = p.stdout.split()
        expected = {words[0]: int(words[1]), words[2]: int(words[3])}
        profile = json.loads(pathlib.Path(f, "p").read_text())
        check({l["name"]: l["acquisitions"] for l in profile["locks"]} == expected, f"{expected}: {profile['locks']}")


@test
def profile_needs_no_memory_of_an_allocator_that_locks():
    with folder() as f:
        profile = profiled(f, harness.build / "tests/preload/locking_malloc")
        parent = profile["processes"][0]["pid"]
        locks = [l for l in profile["locks"] if l["name"] == "mutex" and l["process"] == parent]
        check(len(profile["processes"]) == 6 and locks and locks[0]["acquisitions"] >= 35 * 4 * 600, str(locks))


@test
def reports_say_how_many_waits_had_no_place():
    threads, places = 4200, 4096
    with folder() as f:
        p = pawl("profile", "--json", f"{f}/p", "-o", f"{f}/o", "--", harness.build / "tests/profile/waiters", "hang", threads)
        check(p.returncode == 128 + signal.SIGKILL, f"exit {p.returncode}: {p.stderr}")
        process = read(f"{f}/p")["processes"][0]
        check(process["unlisted_waits"] >= threads - places and process["still_waiting"] + process["unlisted_waits"] == threads, str(process))
        text = f"{process['unlisted_waits']} more had not ended, and are not shown: "
        check(f"  {text}" in pathlib.Path(f, "o").read_text(), text)
        check(profiled(f, culprit(), "exit", 1)["processes"][0]["unlisted_waits"] == 0, "waits that ended")


# While pawl looks for names, with one half of the tables read.
MEANWHILE = TABLES + r"""
void *dwfl_begin(const void *callbacks)
{
    char path[300], target[300];
    struct dirent *e;
    for (DIR *d = opendir("/proc/self/fd"); (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strstr(target, STATS_MAPPING) != NULL)
            ruin(mmap(NULL, sizeof(stats_table), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(e->d_name), STATS_PAGE));
    }
    return ((void *(*)(const void *))dlsym(RTLD_NEXT, "dwfl_begin"))(callbacks);
}
"""

# Before it comes to its end.
ITSELF = TABLES + r"""
__attribute__((destructor)) static void end(void)
{
    char line[1000];
    unsigned long from, to;
    for (FILE *f = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, f) != NULL;)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from >= sizeof(stats_table))
            ruin((stats_table *)from);
    _exit(0);
}
"""


@test
def profile_is_of_the_tables_as_they_were_whatever_is_written_meanwhile():
    with folder() as f:
        p = run("env", f"LD_PRELOAD={shim(f, MEANWHILE)}", harness.build / "pawl", "profile", "--json", f"{f}/p", "--", culprit(), "exit", 2)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile = json.loads(pathlib.Path(f, "p").read_text())
        check_culprit(profile)


@test
def profile_bears_a_program_that_ruins_its_tables():
    with folder() as f:
        p = pawl("profile", "--json", f"{f}/p", "--", "env", f"LD_PRELOAD={shim(f, ITSELF)}:{default_library()}", culprit(), "exit", 2)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile = json.loads(pathlib.Path(f, "p").read_text())
        check(profile["waits"] and all(w["waiter"] is None for w in profile["waits"]), str(profile["waits"]))


# As if so many locks had been waited for already.
FULL = TABLES + r"""
__attribute__((constructor)) static void begin(void)
{
    char line[1000];
    unsigned long from, to;
    for (FILE *f = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, f) != NULL;)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from >= sizeof(stats_table))
            ((stats_table *)from)->details_used = STATS_DETAILS - 1;
}
"""


@test
def locks_without_room_for_a_histogram_are_counted_all_the_same():
    with folder() as f:
        p = pawl("profile", "--json", f"{f}/p", "--", "env", f"LD_PRELOAD={shim(f, FULL)}:{default_library()}", culprit(), "exit", 2)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile = read(f"{f}/p")
        check_culprit(profile)
        process, lock = profile["processes"][-1], profile["locks"][0]
        check(process["contended"] == lock["contended"] == 4 and process["waited_ns"] == lock["waited_ns"] == sum(w["total_ns"] for w in profile["waits"]), str(lock))


@test
def calls_of_trylock_are_counted_without_a_row_for_the_lock_too():
    with folder() as f:
        full = shim(f, FULL.replace("details_used = STATS_DETAILS", "locks_used = STATS_LOCKS"))
        p = pawl("profile", "--json", f"{f}/p", "--", "env", f"LD_PRELOAD={full}:{default_library()}", harness.build / "tests/profile/awkward", "try")
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        process = read(f"{f}/p")["processes"][-1]
        check((process["locks"], process["beyond_the_table"], process["refused"]) == (0, 2, 10), str(process))


@test
def a_wait_without_room_for_its_stack_is_no_hold():
    with folder() as f:
        full = shim(f, FULL.replace("details_used = STATS_DETAILS - 1", "stacks_used = STATS_STACKS - 3"))
        p = pawl("profile", "--json", f"{f}/p", "--", "env", f"LD_PRELOAD={full}:{default_library()}", harness.build / "tests/profile/awkward", "buried", 1)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile = read(f"{f}/p")
        check([(w["waiter"], w["count"]) for w in profile["waits"]] == [(None, 1)], str(profile["waits"]))
        check([h["count"] for h in profile["holds"]] == [1, 1], str(profile["holds"]))


# As if so many processes had been there already.
CROWD = TABLES + r"""
__attribute__((constructor)) static void begin(void)
{
    char line[1000];
    unsigned long from, to;
    for (FILE *f = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, f) != NULL;)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from == STATS_PAGE)
            ((stats_book *)from)->used = STATS_PROCESSES - 1;
}
"""


@test
def reports_say_how_many_processes_had_no_room():
    with folder() as f:
        p = pawl("profile", "--json", f"{f}/p", "-o", f"{f}/o", "--", "env", f"LD_PRELOAD={shim(f, CROWD)}:{default_library()}", hostile(), "multiply", 4)
        check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
        profile = read(f"{f}/p")
        lost = [(2, "had no room for tables"), (4096 - len(profile["processes"]), "left no tables")]
        notes = [f"{count} more processes or programs {why}: nothing is known of them" for count, why in lost]
        check(counts(profile)[-2:] == [1, 1] and profile["notes"] == notes, f"{profile.get('notes')} {counts(profile)}")
        check(all(f"note: {note}\n" in pathlib.Path(f, "o").read_text() for note in notes), "the text")


@test
def a_report_for_a_closed_stream_is_an_error_and_harms_nobody():
    with folder() as f:
        p = run("sh", "-c", f'exec "$@" >&-', "sh", harness.build / "pawl", "profile", "-o", "-", "--json", f"{f}/p", "--", hostile(), "close", 10)
        check((p.returncode, p.stderr) == (2, "pawl: standard output: Bad file descriptor\n"), f"exit {p.returncode}: {p.stderr}")
        check(counts(read(f"{f}/p")) == [10], "acquisitions")


@test
def nobody_waits_for_a_pipe_that_is_called_like_the_map_of_a_jit():
    with folder() as f:
        harness.preload(f, "pipe", '#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { char n[64]; '
                        'snprintf(n, sizeof n, "/tmp/perf-%d.map", getpid()); if (mkfifo(n, 0600) != 0) return; '
                        f'FILE *made = fopen("{f}/made", "a"); fprintf(made, "%s\\n", n); fclose(made); }}\n')
        try:
            p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "close", 3, env=environment(LD_PRELOAD=f"{f}/pipe.so"))
            check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
            process = read(f"{f}/p")["processes"][0]
            check(f"/tmp/perf-{process['pid']}.map\n" in pathlib.Path(f, "made").read_text(), "there was no pipe")
        finally:
            for pipe in pathlib.Path(f, "made").read_text().split():  # it was put under pawl, too
                pathlib.Path(pipe).unlink()


@test
def programs_with_paths_of_thousands_of_bytes_have_names():
    with folder() as f:
        deep = pathlib.Path(f)
        while len(str(deep)) < 3500:
            deep = deep / ("d" * 200)
        deep.mkdir(parents=True)
        shutil.copy(culprit(), deep / "app")
        check_culprit(profiled(f, deep / "app", "exit", 2))


@test
def profile_keeps_what_was_preloaded_before():
    with folder() as f:
        harness.preload(f, "other", '#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { write(1, "here\\n", 5); }\n')
        p = pawl("profile", "--json", f"{f}/p", "--", hostile(), "close", 3, env=environment(LD_PRELOAD=f"{f}/other.so"))
        check(p.returncode == 0 and p.stdout.endswith("here\n"), f"{p.stdout}{p.stderr}")
        check(counts(json.loads(pathlib.Path(f, "p").read_text())) == [3], "acquisitions")


@test
def profile_leaves_nothing_on_a_disk_that_is_full():
    with folder() as f, small_disk(f) as disk:
        p = pawl("profile", "--html", f"{disk}/page.html", "--", hostile(), "close", 3)
        check((p.returncode, p.stderr) == (2, f"pawl: --html '{disk}/page.html': No space left on device\n"), p.stderr)
        check(os.listdir(disk) == [], str(os.listdir(disk)))


@test
def a_program_goes_on_when_its_profile_is_killed():
    with folder() as f:
        parent = subprocess.Popen([str(harness.build / "pawl"), "profile", "-o", f"{f}/p", "--", str(culprit()), "forever", "3"])
        eventually(lambda: children(parent.pid), "it did not start")
        child = children(parent.pid)[0]
        eventually(lambda: len(os.listdir(f"/proc/{child}/task")) == 4, "no threads")
        parent.kill()
        parent.wait()

        threads = set(os.listdir(f"/proc/{child}/task"))
        try:  # it makes new ones in each round
            eventually(lambda: set(os.listdir(f"/proc/{child}/task")).isdisjoint(threads - {str(child)}), "it stands still")
        finally:
            os.kill(child, signal.SIGKILL)
