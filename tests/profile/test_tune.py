"""pawl tune, with commands that know which lock is under them"""

import json
import os
import pathlib

from harness import check, folder, output, pawl, refused, test
from profiles import culprit


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
        check(1.8 < by["mcs"]["times_as_good"] < 2.2 and by["mcs"]["verdict"] == "better", str(by["mcs"]))
        check(by["tts"]["verdict"] == "no difference" and len(by["tts"]["printed"]) == 7, str(by["tts"]))
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
        check({c["verdict"] for c in found["candidates"][1:]} == {"no difference"}, str(found["candidates"]))
        check(found["candidates"][2]["wait"] == "yield", str(found["candidates"][2]))
        check("stay with it" in output("tune", "--metric", "[0-9]+", "--lock", "tts", "--", command), "the text")


@test
def tune_stops_a_lock_that_is_far_too_slow():
    with folder() as f:
        command = script(f, "case $LD_PRELOAD in *libpawl-mcs.so*) exec sleep 600;; esac")
        found = tuned("--runs", "4", "--lock", "mcs", "--", command)
        check(found["candidates"][1]["verdict"] == "stopped: took too long" and found["choice"] is None, str(found))


@test
def tune_measures_wall_time_cpu_time_and_waits():
    found = tuned("--runs", "4", "--waits", "--lock", "pawl_mutex", "--", culprit(), "exit", "1")
    native, mutex = found["candidates"]
    check(all(t >= 0.01 for c in (native, mutex) for t in c["wall_s"] + c["worst_wait_s"]), str(found))
    check(len(native["worst_wait_s"]) == len(mutex["worst_wait_s"]) == 4, str(found))
    check(all(0 <= t < 10 for t in native["cpu_s"]), str(native))


@test
def tune_finds_no_wait_where_there_is_none():
    found = tuned("--runs", "4", "--waits", "--lock", "pawl_mutex", "--", culprit(), "many", "10")
    check(all(c["worst_wait_s"] == [0] * 4 for c in found["candidates"]), str(found))


@test
def tune_refuses_what_it_cannot_do():
    refused(["tune"], "no command given")
    refused(["tune", "--lower", "--", "true"], "--lower")
    refused(["tune", "--runs", "3", "--", "true"], "--runs '3'")
    refused(["tune", "--metric", "(", "--", "true"], "--metric '('")
    refused(["tune", "--metric", "x=([0-9]+)", "--", "echo", "y"], "--metric 'x=([0-9]+)'")
    refused(["tune", "--lock", "nothing", "--", "true"], "nothing")
    refused(["tune", "--lock", "tts:nothing", "--", "true"], "nothing")
    refused(["tune", "--", "false"], "exit status 1")
    refused(["tune", "--", "sh", "-c", "echo broken; kill -9 $$"], "killed by SIGKILL: broken")
    refused(["tune", "-o", "/no/where", "--", "true"], "/no/where")
    p = pawl("tune", "--", "/no/such/command")
    check(p.returncode == 2 and "/no/such/command" in p.stderr, p.stderr)
