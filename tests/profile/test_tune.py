"""pawl tune, with commands that know which lock is under them"""

import json
import math
import os
import pathlib
import re
import shlex
import struct

from harness import check, environment, eventually, folder, output, pawl, refused, root, run, test
from profiles import culprit, running, small_disk
import harness


def script(f, text):
    path = pathlib.Path(f, "command")
    path.write_text(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return path


def tuned(*arguments):
    return json.loads(output("tune", "--json", *arguments))


RATE = 'case $LD_PRELOAD in *libpawl-mcs.so*) r=200;; *) r=100;; esac; n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count; '


@test
def tune_picks_the_lock_that_is_twice_as_good_and_says_how_to_use_it():
    with folder() as f:
        os.chdir(f)
        command = script(f, RATE + "echo ops: $((r + n % 7))/s; echo done")
        found = tuned("--metric", "ops: ([0-9]+)", "--lock", "tts,mcs", "--", command)
        check(found["choice"] == "mcs" and found["goal"] == "printed", str(found["choice"]))
        by = {c["name"]: c for c in found["candidates"]}
        check(1.8 < by["mcs"]["goal"]["times_as_good"] < 2.2 and by["mcs"]["verdict"] == "better", str(by["mcs"]))
        check(by["tts"]["verdict"] == "not proven" and len(by["tts"]["printed"]) == 7, str(by["tts"]))
        text = output("tune", "--metric", "ops: ([0-9]+)", "--lock", "tts,mcs", "--", command)
        for line in [f"pawl run --lock mcs -- {command}", "LD_PRELOAD=", "#include <pawl/mcs.h>"]:
            check(line in text, text)
        found = tuned("--metric", "ops: ([0-9]+)", "--lower", "--lock", "tts,mcs", "--", command)
        check(found["choice"] is None and found["candidates"][2]["verdict"] == "worse", str(found["candidates"][2]))


@test
def tune_picks_none_of_locks_that_are_the_same():
    with folder() as f:
        os.chdir(f)
        command = script(f, "n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count; echo $((100 + (n * 1103515245 + 12345) / 65536 % 32))")
        found = tuned("--metric", "[0-9]+", "--runs", "10", "--lock", "tts,mcs:yield", "--", command)
        check(found["choice"] is None, str(found))
        check({c["verdict"] for c in found["candidates"][1:]} == {"not proven"}, str(found["candidates"]))
        check((found["candidates"][2]["variable"], found["candidates"][2]["value"]) == ("PAWL_WAIT", "yield"), str(found["candidates"][2]))
        check("no lock is proven better than the one the program has: stay with it" in output("tune", "--metric", "[0-9]+", "--lock", "tts", "--", command), "the text")


@test
def tune_adjusts_p_for_all_that_it_asks():
    least = 2 / math.comb(10, 5)  # of five runs that are all better than five others
    with folder() as f:
        command = script(f, "case $LD_PRELOAD in *libpawl-mcs.so*) echo 0 2;; *) echo 0 1;; esac")
        found = lambda *options: tuned("--metric", "0 ([0-9]+)", "--runs", "5", *options, "--", command)["candidates"][-1]["goal"]["p"]
        for options, questions in [(("--lock", "mcs"), 2), (("--lock", "mcs", "--waits"), 3), (("--lock", "tts,mcs"), 4)]:
            check(math.isclose(found(*options), questions * least, rel_tol=1e-6), f"{questions}: {found(*options)}")
        check("adjusted by Holm" in output("tune", "--metric", "0 ([0-9]+)", "--runs", "5", "--lock", "mcs", "--", command), "the text")


@test
def what_tune_says_works():
    with folder() as f:
        command = script(f, """case $PAWL_MUTEX in prompt) echo 2;; *) echo 1;; esac
if [ "$2" = say ]; then echo $PAWL_MUTEX; grep -o 'libpawl-.*so' /proc/self/maps | head -1; echo "$1"; fi""")
        awkward = "it's $HOME; \"a  b\""
        text = output("tune", "--metric", "[0-9]+", "--runs", "5", "--lock", "pawl_mutex:prompt", "--", command, awkward)
        line = lambda title: next(l.partition(": ")[2].strip() for l in text.splitlines() if l.strip().startswith(title))
        path = environment(PATH=f"{harness.build}:{os.environ['PATH']}")
        for shell in [line("once:") + " say", f"export {line('environment:')}; exec {command} {shlex.quote(awkward)} say"]:
            p = run("sh", "-c", shell, env=path)
            check(p.stdout.splitlines() == ["2", "prompt", "libpawl-pawl_mutex.so", awkward], f"{shell}: {p.stdout}{p.stderr}")
        header, kind = re.search(r"(#include <pawl/.*\.h>), and (\w+) instead of pthread_mutex_t", text).groups()
        pathlib.Path(f, "code.c").write_text(f"{header}\nstatic {kind} m;\nint main(void) {{ {kind}_lock(&m); {kind}_unlock(&m); return 0; }}\n")
        flags = re.search("build libpawl with (.*)", text)[1].split()
        for source in ["mutex.c", "mutex_lock.c"]:
            p = run("cc", "-D_GNU_SOURCE", *flags, f"-I{root}", f"-I{root}/include", "-E", "-dM", root / "src" / source)
            known = dict(l.split(maxsplit=2)[1:] for l in p.stdout.splitlines() if l.startswith("#define PAWL_MUTEX_") and l.count(" ") == 2)
            wanted = dict(x[2:].split("=") for x in flags)
            check(p.returncode == 0 and all(known.get(k, v) == v for k, v in wanted.items()) and flags, f"{flags}: {p.stderr}{known}")
        p = run("cc", f"-I{root}/include", "-o", f"{f}/code", f"{f}/code.c", harness.build / "src/libpawl.a", "-lpthread")
        check(p.returncode == 0 and run(f"{f}/code").returncode == 0, p.stderr)


@test
def tune_runs_are_free_of_the_callers_settings():
    with folder() as f:
        command = script(f, 'echo "ok $PAWL_STATS$PAWL_PROFILE" 1')
        output("tune", "--metric", "^ok  ([0-9]+)$", "--runs", "5", "--lock", "mcs", "--", command,
               env=environment(PAWL_STATS="/dev/null", PAWL_PROFILE="/no/such"))
    for setting in ["PAWL_MUTEX", "PAWL_WAIT"]:
        refused(["tune", "--", "true"], f"{setting} is set", env=environment(**{setting: "spin"}))


@test
def tune_writes_all_or_nothing_to_a_disk_that_is_full():
    with folder() as f, small_disk(f) as disk:
        fill = pathlib.Path(disk, "filler")
        fill.write_bytes(bytes(4096))
        command = ("--metric", "[0-9]+", "--runs", "5", "--lock", "mcs", "--", "echo", "1")
        for path in [f"{disk}/report", "/dev/full"]:
            p = pawl("tune", "-o", path, *command)
            check(p.returncode == 2 and p.stderr == f"pawl: --output '{path}': No space left on device\n" and not p.stdout, f"exit {p.returncode}: {p.stderr}")
        check(os.listdir(disk) == ["filler"], str(os.listdir(disk)))


@test
def tune_stops_a_lock_that_is_far_too_slow():
    with folder() as f:
        command = script(f, "case $LD_PRELOAD in *libpawl-mcs.so*) exec sleep 600;; esac")
        found = tuned("--runs", "5", "--lock", "mcs", "--", command)
        check(found["candidates"][1]["verdict"] == "stopped: took too long" and found["choice"] is None, str(found))


@test
def tune_measures_wall_time_cpu_time_and_waits():
    found = tuned("--runs", "5", "--waits", "--lock", "pawl_mutex", "--", culprit(), "exit", "1")
    native, mutex = found["candidates"]
    check(all(t >= 0.01 for c in (native, mutex) for t in c["wall_s"] + c["worst_wait_s"]), str(found))
    check(len(native["worst_wait_s"]) == len(mutex["worst_wait_s"]) == 5, str(found))
    check(all(0 <= t < 10 for t in native["cpu_s"]), str(native))


def native_wait(f, *command):
    """Seconds of the longest wait for a mutex that libpawl-native.so measures."""
    pathlib.Path(f, "worst").write_bytes(bytes(8))
    p = run(*command, env=environment(LD_PRELOAD=str(harness.build / "preload/libpawl-native.so"), PAWL_WORST=f"{f}/worst"))
    check(p.returncode == 0, p.stderr)
    return struct.unpack("Q", pathlib.Path(f, "worst").read_bytes())[0] / 1e9


@test
def tune_compares_the_same_waits_on_both_sides():
    """Calls with a deadline count; spin locks, process-shared mutexes, and mutexes that a condition variable takes back do not."""
    with folder() as f:
        for how in ["exit", "clock", "c11"]:
            check(native_wait(f, culprit(), how, 1) >= 0.01, how)
    found = tuned("--runs", "5", "--waits", "--lock", "pawl_mutex", "--", culprit(), "timed", "1")
    check(all(t >= 0.01 for c in found["candidates"] for t in c["worst_wait_s"]), f"timed: {found}")
    found = tuned("--runs", "5", "--waits", "--lock", "pawl_mutex", "--", harness.build / "tests/profile/waiters", "others")
    check(all(c["worst_wait_s"] == [0] * 5 for c in found["candidates"]), f"others: {found}")


@test
def tune_judges_cpu_time_and_the_worst_wait_too():
    with folder() as f:
        command = script(f, "case $LD_PRELOAD in *libpawl-pawl*) i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit;; esac\n"
                            f"exec {culprit()} exit 1")
        arguments = ["--runs", "5", "--waits", "--lock", "pawl_mutex", "--", command]
        found = tuned(*arguments)
        cpu, wait = found["candidates"][1]["cpu"], found["candidates"][1]["worst_wait"]
        check(cpu["verdict"] == "worse" and cpu["p"] <= 0.05 and cpu["times_as_good"] < 0.9, str(cpu))
        check(wait["verdict"] == "better" and found["choice_worst_wait"] == "pawl_mutex" and found["choice_cpu"] is None, str(found))
        text = output("tune", *arguments)
        check("CPU time: no lock is proven better" in text and "Worst wait: pawl_mutex is " in text, text)


@test
def tune_knows_the_settings_of_the_mutex():
    with folder() as f:
        command = script(f, 'case $PAWL_MUTEX in prompt) echo 200;; *) echo 100;; esac; echo $RANDOM $$ >/dev/null')
        text = output("tune", "--metric", "[0-9]+", "--runs", "6", "--", command)
        check("pawl_mutex:prompt is 2.00 times as good as native" in text, text)
        for line in [f"PAWL_MUTEX=prompt pawl run --lock pawl_mutex -- {command}", "libpawl-pawl_mutex.so PAWL_MUTEX=prompt", "build libpawl with -DPAWL_MUTEX_ROUND=1000000u "]:
            check(line in text, text)


def words_of(pid, library, symbol, count):
    """Of a variable of a library in a process."""
    place = next(int(l.split()[0], 16) for l in run("nm", library).stdout.splitlines() if l.split()[-1] == symbol)
    base = next(int(l.split("-")[0], 16) for l in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines() if l.endswith(str(library)))
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base + place)
        return struct.unpack(f"{count}I", memory.read(4 * count))


@test
def settings_of_the_mutex_are_those_of_the_environment():
    library = harness.build / "preload/libpawl-pawl_mutex.so"
    settings = {}
    for name in ["", "spin", "prompt", "other"]:
        with running("env", f"LD_PRELOAD={library}", f"PAWL_MUTEX={name}", "sleep", 600) as process:
            eventually(lambda: str(library) in pathlib.Path(f"/proc/{process.pid}/maps").read_text() and "sleep" in os.readlink(f"/proc/{process.pid}/exe")
                       and pathlib.Path(f"/proc/{process.pid}/syscall").read_text().startswith(("35 ", "230 ")), "it did not start")
            settings[name] = words_of(process.pid, library, "preload_mutex", 3)
    round_ns, share, spin = settings[""]
    check(round_ns != 1000000 and share != 40000 and spin != 20000, str(settings))
    check(settings["other"] == settings[""] and settings["spin"] == (round_ns, share, 20000) and settings["prompt"] == (1000000, 40000, spin), str(settings))
    users = run("nm", "-A", harness.build / "preload/libpreload_common.a").stdout
    for file in ["mutex.c.o", "mutex_lock.c.o"]:
        check(any(f"_{file}:" in l and l.endswith(" U preload_mutex") for l in users.splitlines()), f"{file} has constants of its own")


@test
def tune_finds_no_wait_where_there_is_none():
    found = tuned("--runs", "5", "--waits", "--lock", "pawl_mutex", "--", culprit(), "many", "10")
    check(all(c["worst_wait_s"] == [0] * 5 for c in found["candidates"]), str(found))


@test
def tune_refuses_what_it_cannot_do():
    refused(["tune"], "no command given")
    refused(["tune", "--lower", "--", "true"], "--lower")
    refused(["tune", "--runs", "3", "--", "true"], "--runs '3'")
    refused(["tune", "--runs", "4", "--lock", "tts,mcs,clh,ticket", "--", "true"], "--runs 4: too few to prove anything about 4 candidates and 2 quantities; 6 would do")
    refused(["tune", "--runs", "4", "--lock", "tts", "--", "true"], "--runs 4: too few to prove anything about 1 candidate and 2 quantities; 5 would do")
    for number in ["0", "-3", "nan", "inf", "1e999", "-0.0"]:
        refused(["tune", "--metric", "rate ([^ ]+)", "--", "sh", "-c", f"echo rate 5 ; echo rate {number}"], "only numbers above 0 can be compared")
    refused(["tune", "--metric", "(", "--", "true"], "--metric '('")
    refused(["tune", "--metric", "x=([0-9]+)", "--", "echo", "y"], "--metric 'x=([0-9]+)'")
    refused(["tune", "--lock", "nothing", "--", "true"], "nothing")
    refused(["tune", "--lock", "tts:nothing", "--", "true"], "nothing")
    refused(["tune", "--lock", "pawl_mutex:spln", "--", "true"], "did you mean 'spin'")
    refused(["tune", "--lock", "pawl_fairmutex:spin", "--", "true"], "waits in its own way")
    refused(["run", "--", "true"], "PAWL_MUTEX 'nothing'", env=environment(PAWL_MUTEX="nothing"))
    refused(["tune", "--", "false"], "exit status 1")
    refused(["tune", "--", "sh", "-c", "echo broken; kill -9 $$"], "killed by SIGKILL: broken")
    refused(["tune", "-o", "/no/where", "--", "true"], "/no/where")
    p = pawl("tune", "--", "/no/such/command")
    check(p.returncode == 2 and "/no/such/command" in p.stderr, p.stderr)
