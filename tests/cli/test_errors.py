"""Bad input: exit 2, one line that names the argument, nothing else."""

import json
import os
import resource

from harness import check, environment, folder, output, pawl, refused, test

BENCH = ["bench", "mutexbench"]
WORKLOADS = ["mutexbench", "tail", "occasional", "condvar", "grid", "multiwait", "ring", "pingpong", "atomic-struct", "leveldb"]


@test
def help_and_version_of_every_command():
    for command in [[], ["list"], ["doctor"], ["run"], ["bench"], *[["bench", w] for w in WORKLOADS], ["report"], ["compare"], ["demo"]]:
        text = output(*command, "--help")
        check(text.startswith("Usage: " + " ".join(["pawl", *command])), f"{command}: {text.splitlines()[0]}")
        check(output(*command, "--usage").startswith("Usage: "), f"{command}: --usage")
        check(output(*command, "--version").startswith("pawl "), f"{command}: --version")


@test
def unknown_commands_and_options_are_refused():
    for arguments, named in [
        ([], "command"),
        (["bench"], "workload"),
        (["lst"], "'lst'; did you mean 'list'?".split(";")[0]),
        ([""], "''"),
        (["bench", "mutexbnch"], "did you mean 'mutexbench'?"),
        (["bench", "ring", "--lock", "tts"], "--lock"),
        (["bench", "pingpong", "--threads", "2"], "--threads"),
        (["bench", "multiwait", "--ncs", "2"], "--ncs"),
        (["--nonsense"], "--nonsense"),
        (["-x"], "-x"),
        (["list", "--nonsense"], "--nonsense"),
        (["list", "-xyz"], "-xyz"),
        (["list", "--json=yes"], "--json=yes"),
        (["list", "-o"], "-o"),
        (["demo", "ticket"], "'ticket'"),
        ([*BENCH, "ticket"], "'ticket'"),
        ([*BENCH, "--threads"], "--threads"),
        ([*BENCH, "--lock", "tts", "--nonsense", "--json"], "--nonsense"),
    ]:
        refused(arguments, named)


@test
def unknown_locks_are_refused_with_a_hint():
    refused(["list", "tickt"], "'tickt': no such lock; did you mean 'ticket'?")
    refused(["list", "ticket", "zzzzzzzz"], "'zzzzzzzz': no such lock")
    refused([*BENCH, "--lock", "tts,glbc"], "--lock 'glbc': no such lock; did you mean 'glibc'?")
    refused([*BENCH, "--lock", "x" * 5000], "no such lock")
    refused([*BENCH, "--lock", "a\nb\033[2J"], "--lock 'a?b?[2J': no such lock")


@test
def bad_values_are_refused():
    bad = {
        "--threads": ["0", "1000000000", "4097", "2x", "x", "-1", "+1", " 1", "1.5", "", ",", "1,", ",1", "1,,2", "1,0", "9" * 40],
        "--lock": ["", ",", "tts,", "TTS", "tts ticket"],
        "--ncs": ["", "x", "-1", "5x", "random", "random:", "random:0", "random:x", "random:5x", "1000001", "random:1000001", "0us", "random:0us", "2s", "5 us"],
        "--cs": ["", "-1", "x", "1x", "1000001", "us", "0us", "1.5", "1.2.3us", "2s", "-1us"],
        "--load": ["", "-1", "x", "1025", "2us"],
        "--generator": ["", "mt", "xoroshiro"],
        "--preset": ["", "maxx", "fig1"],
        "--pin": ["", "close", "node=", "node=x", "node=100000", "compact,free"],
        "--warm-up": ["", "0", "x"],
        "--duration": ["", "0", "0s", "-1", "1x", "1 s", "s", "ms", "nan", "inf", "0x10", "1e3", "1.2.3", ".", "2h", "3601", "10us"],
        "--runs": ["", "0", "-1", "x", "1001", "3x"],
        "--wait": ["", "sleep", "SPIN", "spin,yield"],
    }
    for option, values in bad.items():
        for value in values:
            refused([*BENCH, f"{option}={value}"], option)


@test
def bad_values_of_single_workloads_are_refused():
    for arguments, named in [
        (["tail", "--oversubscription", "0"], "--oversubscription"),
        (["tail", "--oversubscription", "1,,2"], "--oversubscription"),
        (["tail", "--oversubscription", "257"], "--oversubscription"),
        (["ring", "--by", "magic"], "--by"),
        (["ring", "--by", ""], "--by"),
        (["atomic-struct", "--by", "load"], "--by"),
        (["atomic-struct", "--ncs", "random:0"], "--ncs"),
        (["atomic-struct", "--preset", "max"], "--preset"),
        (["atomic-struct", "--lock", "nsync"], "--lock"),
        (["leveldb", "--entries", "0"], "--entries"),
        (["mutexbench", "--pin", "node=7"] if not os.path.exists("/sys/devices/system/node/node7") else ["mutexbench", "--pin", "node"], "--pin"),
        (["atomic-struct", "--ncs", "5us"], "--ncs '5us': not a whole number"),
        (["occasional", "--threads", "1"], "--threads '1': must be from 2"),
        (["occasional", "--period", "1us"], "--period '1us': must be from 10us to 1s"),
        (["occasional", "--period", "x"], "--period 'x': not a time"),
        (["occasional", "--period", "6ms", "--duration", "5ms"], "--period: 6ms is longer than a run"),
        (["condvar", "--producers", "0"], "--producers"),
        (["condvar", "--consumers", "x"], "--consumers"),
        (["condvar", "--places", "0"], "--places"),
        (["condvar", "--lock", "barging"], "--lock 'barging': has no condition variable"),
        (["condvar", "--threads", "2"], "--threads"),
        (["grid", "--threads", "2"], "--threads"),
        (["grid", "--lock", "glbc"], "did you mean 'glibc'?"),
        (["pingpong", "--cpus", "0"], "--cpus"),
        (["pingpong", "--cpus", "0,0"], "--cpus"),
        (["pingpong", "--cpus", "0,65535"], "--cpus"),
        (["pingpong", "--cpus", "x,y"], "--cpus"),
    ]:
        refused(["bench", *arguments], named)


@test
def two_formats_at_once_are_refused():
    for workload in WORKLOADS:
        for forms in [["--json", "--csv"], ["--csv", "--json"], ["-jc"], ["-c", "-j", "-j"]]:
            refused(["bench", workload, *forms], "--json and --csv")
    refused(["list", "--json", "--markdown"], "--json and --markdown")
    refused(["list", "-mj"], "--json and --markdown")
    output("list", "--json", "--json")


@test
def locks_that_cannot_be_put_under_a_program_are_refused_with_the_reason():
    for lock in json.loads(output("run", "--list", "--json"))["locks"]:
        for workload in ["atomic-struct", "leveldb"] if not lock["usable"] else []:
            refused(["bench", workload, "--lock", f"glibc,{lock['name']}"],
                    f"--lock '{lock['name']}': cannot be used under a program: {lock['reason']}")
    refused(["bench", "atomic-struct", "--lock", "glibc_spin"], "--lock 'glibc_spin': cannot be used under a program: there is no library")
    refused(["bench", "leveldb", "--lock", "tickt"], "--lock 'tickt': no such lock; did you mean 'ticket'?")


@test
def a_bad_policy_in_the_environment_is_refused():
    for command in [BENCH, ["demo"]]:
        refused(command, "PAWL_WAIT 'nap'", env=environment(PAWL_WAIT="nap"))
    output("list", env=environment(PAWL_WAIT="nap"))


@test
def unwritable_outputs_are_refused_before_the_measurement():
    with folder() as f:
        os.mkdir(f"{f}/directory")
        for path in [f"{f}/none/x", f"{f}/directory", "", "/dev/null/x", f"{f}/{'x' * 300}"]:
            for command in [["list", "--json"], [*BENCH, "--duration", "3600s"], ["demo"]]:
                refused([*command, "-o", path], f"--output '{path}'")
        refused(["demo", "--report", f"{f}/none/x"], f"--report '{f}/none/x.json'")
        for suffix in [".json", "-pingpong.json", ".html"]:
            os.mkdir(f"{f}/directory{suffix}")
            refused(["demo", "--report", f"{f}/directory"], f"--report '{f}/directory{suffix}'")
            os.rmdir(f"{f}/directory{suffix}")
        check(os.listdir(f) == ["directory"], f"left behind: {os.listdir(f)}")


@test
def a_folder_without_permission_is_refused():
    if os.geteuid() == 0:  # root may write anywhere
        return
    with folder() as f:
        os.chmod(f, 0o500)
        refused(["list", "-o", f"{f}/x"], f"--output '{f}/x'")


@test
def a_file_that_becomes_too_large_is_refused_and_leaves_nothing():
    with folder() as f:
        open(f"{f}/x", "w").write("old")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))}
        refused(["list", "-o", f"{f}/x"], "--output", **limit)
        refused(["list", "-o", f"{f}/y"], f"--output '{f}/y': File too large", **limit)
        check(os.listdir(f) == ["x"] and open(f"{f}/x").read() == "old", f"left behind: {os.listdir(f)}")


@test
def a_full_device_is_reported():
    for command in [["list"], ["list", "--json"], ["list", "--markdown"], ["--help"], ["--version"]]:
        with open("/dev/full", "w") as full:
            p = pawl(*command, capture_output=False, stdout=full, stderr=-1)
        check(p.returncode == 2, f"{command}: exit {p.returncode}")
        check(p.stderr == "pawl: standard output: No space left on device\n", f"{command}: {p.stderr}")
    refused(["list", "-o", "/dev/full"], "--output '/dev/full': No space left")
