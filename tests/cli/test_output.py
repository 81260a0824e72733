"""-o FILE, pipes and signals"""

import json
import os
import signal
import stat
import subprocess

from harness import check, children, eventually, folder, output, running, test
import harness

QUICK = ["bench", "mutexbench", "--lock", "tts", "--threads", "1", "--duration", "10ms", "--runs", "1"]


@test
def output_goes_to_the_file_alone():
    with folder() as f:
        for command in [["list", "--json"], [*QUICK, "--json"]]:
            check(output(*command, "-o", f"{f}/x") == "", "wrote to standard output")
            json.load(open(f"{f}/x"))
            check(os.listdir(f) == ["x"], f"left behind: {os.listdir(f)}")
        output("list", "--output", f"{f}/y")
        check(open(f"{f}/y").read() == output("list"), "differs from standard output")


@test
def output_replaces_a_file_and_keeps_its_mode():
    with folder() as f:
        os.umask(0o022)
        output("list", "-o", f"{f}/new")
        check(stat.S_IMODE(os.stat(f"{f}/new").st_mode) == 0o644, "mode of a new file")
        open(f"{f}/old", "w").write("x" * 1000000)
        os.chmod(f"{f}/old", 0o640)
        output("list", "tts", "-o", f"{f}/old")
        check(open(f"{f}/old").read() == output("list", "tts"), "contents")
        check(stat.S_IMODE(os.stat(f"{f}/old").st_mode) == 0o640, "mode of an old file")


@test
def output_goes_through_a_link_and_to_a_device():
    with folder() as f:
        open(f"{f}/file", "w").close()
        os.symlink("file", f"{f}/link")
        output("list", "-o", f"{f}/link")
        check(os.path.islink(f"{f}/link") and open(f"{f}/file").read() == output("list"), "link")
        output("list", "-o", "/dev/null")
        check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")
        check(output("list", "-o", "/dev/stdout") == output("list"), "/dev/stdout")


@test
def a_refused_command_leaves_an_old_file_alone():
    with folder() as f:
        open(f"{f}/x", "w").write("old")
        harness.refused([*QUICK, "--runs", "0", "-o", f"{f}/x"], "--runs")
        check(open(f"{f}/x").read() == "old" and os.listdir(f) == ["x"], "it did not")


@test
def an_interrupted_measurement_leaves_nothing_behind():
    with folder() as f:
        p = subprocess.Popen([harness.build / "pawl", *QUICK, "--duration", "60s", "-o", f"{f}/x"])
        eventually(lambda: children(p.pid), "nobody measures")
        measuring = children(p.pid)
        p.send_signal(signal.SIGINT)
        check(p.wait(300) == -signal.SIGINT, f"exit {p.returncode}")
        check(os.listdir(f) == [], f"left behind: {os.listdir(f)}")
        eventually(lambda: not any(running(m) for m in measuring), "it measures on")


@test
def an_interrupt_while_the_result_is_written_leaves_nothing_half_done():
    with folder() as f, folder() as elsewhere:
        harness.preload(elsewhere, "late", "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <signal.h>\n"
                        "int rename(const char *a, const char *b) { raise(SIGTERM); return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, \"rename\"))(a, b); }")
        p = harness.pawl("list", "--json", "-o", f"{f}/x", env=harness.environment(LD_PRELOAD=f"{elsewhere}/late.so"))
        check(p.returncode == -signal.SIGTERM and os.listdir(f) == ["x"], f"exit {p.returncode}: {os.listdir(f)}")
        json.load(open(f"{f}/x"))


@test
def a_reader_that_leaves_ends_the_command_quietly():
    for ignored in [False, True]:
        p = subprocess.Popen([harness.build / "pawl", "demo", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             restore_signals=not ignored)
        p.stdout.close()
        error = p.stderr.read()
        p.stderr.close()
        check(p.wait(300) in [0, -signal.SIGPIPE] and error == b"", f"exit {p.returncode}: {error}")


@test
def standard_output_that_is_closed_is_reported():
    p = subprocess.run(f"'{harness.build}/pawl' list >&-", shell=True, capture_output=True, text=True)
    check(p.returncode == 2 and p.stderr == "pawl: standard output: Bad file descriptor\n", f"{p.returncode} {p.stderr}")


@test
def descriptors_that_are_closed_do_not_matter():
    with folder() as f:
        for closed in ["<&-", "<&- 2>&-", "<&- >&- 2>&-"]:
            p = subprocess.run(f"'{harness.build}/pawl' {' '.join(QUICK)} --json -o {f}/x {closed}", shell=True, capture_output=True, text=True)
            check(p.returncode == 0, f"{closed}: exit {p.returncode}: {p.stderr}")
            json.load(open(f"{f}/x"))
