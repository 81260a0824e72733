"""Machine files: what is built in, and what is wrong with others"""

import pathlib
import re

from harness import check, folder, output, pawl, refused, root, test

BRIEF = ["--lock", "ticket", "--threads", "2", "--duration", "1ms", "--warm-up", "1ms"]


def altra():
    return output("sim", "machines", "altra")


def complaint(text):
    """What `pawl sim` says about a file, without its name: line, column and text."""
    with folder() as f:
        path = pathlib.Path(f) / "bad.machine"
        path.write_text(text)
        refused(["sim", "mutexbench", "--machine", str(path), *BRIEF], f"{path}:")
        error = pawl("sim", "mutexbench", "--machine", str(path), *BRIEF).stderr
    found = re.fullmatch(r"pawl: .*bad\.machine:(\d+):(\d+): (.*)\n", error)
    check(found, error)
    return int(found[1]), int(found[2]), found[3]


def changed(line, to):
    """altra's file with another line, and the number of that line."""
    lines = altra().splitlines()
    at = next(i for i, l in enumerate(lines) if l.startswith(line))
    lines[at] = to
    return "\n".join(lines) + "\n", at + 1


@test
def all_machines_can_be_written_and_read_again():
    names = [l.split()[0] for l in output("sim", "machines").splitlines()]
    for name in ("x5-2", "altra", "epyc-9754", "epyc-7662", "t7-2", "laptop-8"):
        check(name in names, f"{name} is not in {names}")
    for name in names[:-1]:  # the last is this machine, which is measured anew each time
        with folder() as f:
            path = pathlib.Path(f) / "copy.machine"
            path.write_text(output("sim", "machines", name))
            a = output("sim", "mutexbench", "--machine", str(path), *BRIEF)
        check(a == output("sim", "mutexbench", "--machine", name, *BRIEF), f"{name}: the copy is another machine")


@test
def this_machine_can_be_kept_in_a_file():
    with folder() as f:
        path = pathlib.Path(f) / "this.machine"
        path.write_text(output("sim", "machines", "this"))
        text = path.read_text()
        check("# hwloc" in text and "# measured" in text and re.search("^reach .* # assumed$", text, re.M), "sources")
        sockets = int(re.search(r"^socket (\d+) per machine", text, re.M)[1])
        check((" remote " in text) == (sockets > 1), f"distances that {sockets} sockets do not have: {text}")
        output("sim", "mutexbench", "--machine", str(path), *BRIEF)
    output("sim", "mutexbench", "--machine", "this", *BRIEF)


@test
def every_number_has_a_source():
    for file in (root / "sim/machines").glob("*.machine"):
        for line in file.read_text().splitlines():
            if line and not line.startswith(("#", "name", "title")):
                check(re.search(r"# \S", line), f"{file.name}: {line}")
    text, line = changed("wake", "wake 4us")
    check(complaint(text)[0] == line, "a line without a source")


@test
def zero_cpus_are_refused():
    text, line = changed("core", "core 0 per socket # x")
    check(complaint(text) == (line, 6, "0 cores: there must be 1 to 1024"), complaint(text))


@test
def a_billion_cpus_are_refused():
    text, line = changed("core", "core 1000000000 per socket # x")
    check(complaint(text)[:2] == (line, 6) and "1000000000 cores" in complaint(text)[2], complaint(text))
    text, line = changed("socket", "socket 1000 per machine # x")
    check(complaint(text)[:2] == (line, 8) and "128000 CPUs" in complaint(text)[2], complaint(text))


@test
def a_cycle_of_distances_is_refused():
    text, line = changed("socket", "socket 2 per core # x")
    check(complaint(text) == (line, 14, "a cycle: a socket would be farther away than itself"), complaint(text))


@test
def a_missing_latency_is_refused():
    text, line = changed("read", "read core 2ns # x")
    check(complaint(text) == (line, 15, "read: the latency for 'socket' is missing"), complaint(text))
    for key in ("memory", "protocol"):
        text, line = changed(key, "# x")
        check(f"'{key}' is missing" in complaint(text)[2], complaint(text))


@test
def a_distance_that_is_nearer_than_a_nearer_one_is_refused():
    text = changed("socket", "socket 2 per machine # x")[0].replace("read socket 60ns", "read socket 60ns remote 6ns")
    check("'remote' is nearer than 'socket'" in complaint(text)[2], complaint(text))


@test
def other_mistakes_are_named():
    for line, to, column, words in [
        ("wake", "wake 4 # x", 8, "a time ends with"),
        ("wake", "wake 4parsecs # x", 7, "a time ends with"),
        ("wake", "wake # x", 6, "a number is missing"),
        ("wake", "wake 4us 5us # x", 10, "nothing more was expected"),
        ("wake", "woke 4us # x", 1, "'woke': no such key"),
        ("wake", "cycle 4ns # x", 1, "'cycle' was there already"),
        ("line", "line 65 # x", 8, "power of two"),
        ("invalidation", "invalidation 2ns # x", 14, "'2ns': no such distance"),
        ("stores", "stores 0 # x", 9, "whole number"),
        ("smt", "smt 0.5 # x", 8, "from 1 to 100"),
        ("stay", "stay 1.5 # x", 9, "from 0 to 1"),
        ("overlap", "overlap 2 # x", 10, "from 0 to 1"),
        ("reach", "reach 4 # x", 9, "a time ends with"),
        ("protocol", "protocol mosi # x", 10, "mesi, moesi, mesif or migratory"),
        ("memory", "protocol mesi # x", 1, "'protocol' was there already"),
        ("memory", "name other", 1, "'name' was there already"),
        ("tick", "tick 1ns # x", 6, "at least 1000 ns"),
        ("clock", "clock 0ns # x", 7, "at least 0.001 ns"),
        ("wake", "wake 1e300ms # x", 11, "more than 1000 s"),
        ("stolen-every", "stolen-every 900ns # x", 19, "1000 ns or more"),
        ("wake", "wake -4us # x", 6, "a number is missing"),
    ]:
        text, at = changed(line, to)
        found = complaint(text)
        check(found[:2] == (at, column) and words in found[2], f"{to}: {found}")


@test
def files_that_are_no_text_are_refused():
    with folder() as f:
        path = pathlib.Path(f) / "bad.machine"
        for content, why in ((b"", "empty, or longer than a megabyte"), (b"#" * (2 << 20), "empty, or longer than a megabyte"),
                             (altra().encode() + b"\0wake 1us # assumed\n", "no text, but something binary"),
                             (b"\x1b[2J\x07 1 # assumed\n", ":1:1: '?[2J?': no such key")):
            path.write_bytes(content)
            refused(["sim", "mutexbench", "--machine", str(path), *BRIEF], why)
        refused(["sim", "mutexbench", "--machine", f + "/.", *BRIEF], "Is a directory")


@test
def bad_options_are_refused():
    for arguments, named in [
        (["--machine", "altar"], "did you mean 'altra'"),
        (["--machine", "/nonexistent/x.machine"], "/nonexistent/x.machine"),
        (["--set", "wake"], "column 5"),
        (["--set", "speed 1"], "no such key"),
        (["--set", "tick 0ns"], "tick: at least"),
        (["--set", ""], "nothing to change"),
        (["--set", "# wake 4us"], "nothing to change"),
        (["--machine", "x5-2", "--set", "read remote 1ns"], "'remote' is nearer than 'socket'"),
        (["--set", "core 2 per socket"], "cannot be changed"),
        (["--set", "stolen-every 1ms", "--set", "stolen 1ms"], "longer than 'stolen'"),
        (["--set", "stolen-every 900ns"], "1000 ns or more"),
        (["--mach", "altra"], "written out"),
        (["--seed", "x"], "--seed"),
        (["--threads", "1025"], "--threads"),
    ]:
        refused(["sim", "mutexbench", *BRIEF, *arguments], named)
    refused(["sim", "mutexbanch"], "did you mean 'mutexbench'")
    refused(["sim", "table", "--threads", "1"], "--threads")
    refused(["sim", "machines", "pdp-11"], "pdp-11")
    refused(["sim", "machines", "altar"], "did you mean 'altra'")
