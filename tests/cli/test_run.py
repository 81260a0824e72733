"""pawl run: the command runs as if started directly, but on another lock"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from harness import check, environment, folder, output, pawl, refused, registered, run, test
import harness

REGISTER = re.compile(r"libpawl-(\w+)\.so")


def locks():
    return json.loads(output("run", "--list", "--json"))["locks"]


@test
def run_puts_the_lock_under_the_command():
    for lock in [l["name"] for l in locks() if l["usable"]]:
        maps = output("run", "--lock", lock, "--", "cat", "/proc/self/maps")
        check(set(REGISTER.findall(maps)) == {lock}, f"{lock}: {set(REGISTER.findall(maps))}")
    maps = output("run", "cat", "/proc/self/maps")
    check(set(REGISTER.findall(maps)) == {"pawl_mutex"}, "the default is not pawl_mutex")


@test
def run_list_has_every_lock_or_says_why_not():
    all_locks = locks()
    check([l["name"] for l in all_locks] == registered(), "names")
    for l in all_locks:
        check(l["usable"] == (l["reason"] is None) == (l["library"] is not None), str(l))
        check(l["default"] == (l["name"] == "pawl_mutex"), str(l))
        if not l["usable"]:
            refused(["run", "--lock", l["name"], "--", "true"], f"'{l['name']}': cannot be used under a program: {l['reason']}")
    table = output("run", "--list").splitlines()
    check(table[0].split() == ["lock", "usable"], table[0])
    check([line.split()[0] for line in table[1:]] == [l["name"] for l in all_locks], "names in the table")
    for line, l in zip(table[1:], all_locks):
        check(line.split()[1].rstrip(",:") == ("yes" if l["usable"] else "no"), line)
        check(l["usable"] or line.endswith(l["reason"]), line)


@test
def run_passes_arguments_input_output_and_status():
    script = 'cat; echo "$#:$1:$2:$3" >&2; exit 3'
    p = pawl("run", "sh", "-c", script, "sh", "--lock", "-x y", "", input="in\nput")
    check((p.returncode, p.stdout, p.stderr) == (3, "in\nput", "3:--lock:-x y:\n"), f"{p.returncode}: {p.stdout}{p.stderr}")
    p = pawl("run", "--lock", "mcs", "--", "sh", "-c", "exit 255")
    check(p.returncode == 255, f"exit {p.returncode}")


@test
def run_takes_the_place_of_the_command():
    """The same process: what signals it gets and how it ends is its own business."""
    p = subprocess.Popen([harness.build / "pawl", "run", "sh", "-c", "echo $$; exec sleep 100"], stdout=-1, text=True)
    check(int(p.stdout.readline()) == p.pid, "another process")
    p.send_signal(signal.SIGTERM)
    check(p.wait(300) == -signal.SIGTERM, f"status {p.returncode}")


@test
def run_leaves_signals_as_they_were():
    ignored = "grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"
    for handler in [signal.SIG_IGN, signal.SIG_DFL]:
        def prepare(handler=handler):
            signal.signal(signal.SIGPIPE, handler)
            signal.signal(signal.SIGHUP, handler)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        options = {"preexec_fn": prepare, "restore_signals": False}
        natively = run("sh", "-c", ignored, **options).stdout
        p = pawl("run", "sh", "-c", ignored, **options)
        check(p.stdout == natively != "", f"{p.stdout} instead of {natively}")


@test
def run_leaves_descriptors_as_they_were():
    with open("/dev/null") as extra:
        options = {"pass_fds": [extra.fileno()], "stdout": subprocess.PIPE, "capture_output": False}
        natively = run("sh", "-c", "ls /proc/self/fd", **options).stdout
        p = pawl("run", "sh", "-c", "ls /proc/self/fd", **options)
        check(p.stdout == natively != "", f"{p.stdout} instead of {natively}")


@test
def run_changes_nothing_else_in_the_environment():
    with folder() as f:
        env = {"PATH": os.environ["PATH"], "A": "b c", "EMPTY": "", "PAWL_WAIT": "yield"}
        after = dict(line.split("=", 1) for line in output("run", "env", env=env).splitlines())
        library = after.pop("LD_PRELOAD")
        check(REGISTER.findall(library) == ["pawl_mutex"] and after == env, str(after))
        after = output("run", "--wait", "spin", "--stats=s", "env", env=env, cwd=f)
        after = dict(line.split("=", 1) for line in after.splitlines())
        changed = {"PAWL_WAIT": "spin", "PAWL_STATS": f"{os.path.realpath(f)}/s", "LD_PRELOAD": library}
        check(after == env | changed, str(after))


@test
def run_makes_threads_wait_as_asked():
    program = harness.build / "tests/apps/app_known"
    for wait, expected in [("spin", "on a CPU\n"), ("yield", "on a CPU\n"), ("park", "asleep\n")]:
        found = output("run", "--lock", "mcs", "--wait", wait, program, "watch-waiting", 300)
        check(found == expected, f"{wait}: {found}")


@test
def run_keeps_what_was_preloaded_but_another_pawl():
    libc = next(line.split()[-1] for line in open("/proc/self/maps") if "libm.so" in line or "libc.so" in line)
    env = environment(LD_PRELOAD=libc)
    preload = output("run", "sh", "-c", "echo $LD_PRELOAD", env=env).strip().split(":")
    check(len(preload) == 2 and preload[1] == libc, str(preload))
    nested = [harness.build / "pawl", "run", "--lock", "mcs", "sh", "-c", "echo $LD_PRELOAD"]
    preload = output("run", "--lock", "ticket", *nested, env=env).strip().split(":")
    check(len(preload) == 2 and REGISTER.findall(preload[0]) == ["mcs"] and preload[1] == libc, str(preload))


@test
def run_says_what_cannot_be_started_as_env_does():
    with folder() as f:
        plain = pathlib.Path(f) / "plain"
        plain.write_text("no program")
        for command, status, named in [("nosuch-command", 127, "No such file"), ("", 127, "No such file"),
                                       (f"{f}/none", 127, "No such file"), (plain, 126, "Permission denied"),
                                       (f, 126, "Permission denied")]:
            p = pawl("run", "--", command)
            check(p.returncode == status == run("env", "--", command).returncode, f"'{command}': exit {p.returncode}")
            check(p.stderr.startswith(f"pawl: '{command}': {named}") and len(p.stderr.splitlines()) == 1, p.stderr)
            check(p.stdout == "", p.stdout)


@test
def run_refuses_bad_input():
    refused(["run"], "no command given")
    refused(["run", "--"], "no command given")
    refused(["run", "--lock", "tickt", "true"], "--lock 'tickt': no such lock; did you mean 'ticket'?")
    refused(["run", "--lock", "zzzzzzzzzzzz", "true"], "'pawl run --list' shows them")
    refused(["run", "--lock", "", "true"], "--lock ''")
    refused(["run", "--wait", "nap", "true"], "--wait 'nap'")
    refused(["run", "true"], "PAWL_WAIT 'nap'", env=environment(PAWL_WAIT="nap"))
    refused(["run", "--nonsense", "true"], "--nonsense")
    refused(["run", "--json", "true"], "--json")
    refused(["run", "--list", "true"], "'true'")
    refused(["run", "--stats=", "true"], "--stats")
    with folder() as f:
        for path in [f, f"{f}/none/s", f"{f}/{'x' * 300}"]:
            refused(["run", f"--stats={path}", "true"], f"--stats '{path}'")
        check(os.listdir(f) == [], "something was left behind")


@test
def run_refuses_programs_that_would_ignore_it():
    """The dynamic linker would say nothing, and the person would measure the wrong lock."""
    with folder() as f:
        (pathlib.Path(f) / "x.c").write_text("int main(void) { return 0; }")
        for kind in [["-static"], ["-static-pie"]]:
            check(run("gcc", *kind, "x.c", "-o", "still", cwd=f).returncode == 0, f"gcc {kind}")
            refused(["run", f"{f}/still"], "it is statically linked")
        refused(["run", "still"], "it is statically linked", env=environment(PATH=f"/nosuch:{f}"))
        script = pathlib.Path(f) / "script"
        script.write_text(f"#! {f}/still -x\n")
        script.chmod(0o755)
        refused(["run", script], "it is statically linked")
        other = "aarch64-linux-gnu-gcc"
        if shutil.which(other) and os.uname().machine == "x86_64":
            check(run(other, "x.c", "-o", "foreign", cwd=f).returncode == 0, other)
            refused(["run", f"{f}/foreign"], "another machine")
        if os.geteuid() == 0:
            check(run("gcc", "x.c", "-o", "raised", cwd=f).returncode == 0, "gcc")
            os.chown(f"{f}/raised", 65534, 65534)
            os.chmod(f"{f}/raised", 0o4755)
            refused(["run", f"{f}/raised"], "set-user-ID")
        else:
            refused(["run", "/usr/bin/passwd", "--help"], "set-user-ID")


@test
def run_says_if_a_library_is_missing():
    with folder() as f:
        shutil.copy(harness.build / "pawl", f)
        p = run(f"{f}/pawl", "run", "--lock", "mcs", "true")
        check(p.returncode == 2 and p.stderr.startswith("pawl: --lock 'mcs': ") and "libpawl-mcs.so" in p.stderr, p.stderr)
        os.mkdir(f"{f}/a b")
        os.mkdir(f"{f}/a b/preload")
        shutil.copy(harness.build / "pawl", f"{f}/a b")
        shutil.copy(harness.build / "preload/libpawl-mcs.so", f"{f}/a b/preload")
        p = run(f"{f}/a b/pawl", "run", "--lock", "mcs", "true")
        check(p.returncode == 2 and "space or a colon" in p.stderr, p.stderr)


@test
def run_works_where_it_is_installed():
    with folder() as f:
        p = run("meson", "install", "-C", harness.build, "--no-rebuild", "--destdir", f)
        check(p.returncode == 0, p.stderr)
        installed = next(x for x in pathlib.Path(f).rglob("pawl") if x.is_file() and os.access(x, os.X_OK))
        p = run(installed, "run", "--lock", "hapax_vw", "cat", "/proc/self/maps")
        check(p.returncode == 0, p.stderr)
        used = {line.split()[-1] for line in p.stdout.splitlines() if "libpawl" in line}
        check(len(used) == 1 and used.pop().startswith(os.path.realpath(f)), str(used))
