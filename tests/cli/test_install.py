"""make install: what a program outside this tree needs, and nothing of this tree"""

import pathlib

from harness import check, environment, folder, root, run, test
import harness

WORKLOADS = ["mutexbench", "tail", "occasional", "condvar", "grid", "multiwait", "ring", "pingpong", "atomic-struct", "leveldb"]
MAN_PAGES = ["pawl.1", "pawl-list.1", "pawl-bench.1", "pawl-check.1", "pawl-report.1", "pawl-compare.1", "pawl-run.1", "pawl-sim.1", "pawl-doctor.1", "pawl-hint.1", "pawl-profile.1", "pawl-top.1", "pawl-tune.1"]


def install(into):
    p = run("meson", "install", "-C", harness.build, "--no-rebuild", "--destdir", into)
    check(p.returncode == 0, p.stdout + p.stderr)
    found = {}
    for path in pathlib.Path(into).rglob("*"):
        if not path.is_dir():
            found.setdefault(path.name, path)
    return found


@test
def install_brings_headers_libraries_command_and_manual():
    with folder() as f:
        found = install(f)
        wanted = ["pawl", "pawl.h", "locks.def", "locks.h", "ticket.h", "libpawl.a", "libpawl.so", "pawl.pc", "pawl-hint.service", *MAN_PAGES]
        missing = [w for w in wanted if w not in found]
        check(not missing, f"missing: {missing}")
        headers = {h.name for h in (root / "include/pawl").iterdir()}
        check(headers == {h.name for h in found["ticket.h"].parent.iterdir()}, "headers differ from include/pawl")
        p = run(found["pawl"], "list")
        check(p.returncode == 0 and "hapax_vw" in p.stdout, p.stderr)
        if "pawl-bench-atomic-struct" in found:  # wherever the whole of it was moved to
            p = run(found["pawl"], "bench", "atomic-struct", "-d", "5ms", "-r", "1", "--by", "cas", "--threads", "1", "--lock", "ticket,glibc", "--csv")
            check(p.returncode == 0 and p.stdout.count("\n") == 3, p.stderr)


@test
def a_program_outside_the_tree_needs_only_pkg_config():
    with folder() as f, folder() as elsewhere:
        found = install(f)
        env = environment(PKG_CONFIG_PATH=str(found["pawl.pc"].parent), PKG_CONFIG_SYSROOT_DIR=f,
                          LD_LIBRARY_PATH=str(found["libpawl.so"].parent))
        (pathlib.Path(elsewhere) / "first.c").write_bytes((root / "examples/first.c").read_bytes())
        flags = run("pkg-config", "--cflags", "--libs", "pawl", env=env)
        check(flags.returncode == 0, flags.stderr)
        for compiler in ["gcc", "clang"]:
            p = run(compiler, "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "first.c", *flags.stdout.split(),
                    "-o", "first", cwd=elsewhere, env=env)
            check(p.returncode == 0, p.stderr)
            p = run("./first", cwd=elsewhere, env=env)
            check((p.returncode, p.stdout) == (0, "2000000\n"), f"{p.returncode}: {p.stdout}{p.stderr}")


@test
def the_prefix_may_have_spaces():
    with folder() as f:
        for name in ["meson", "ninja"]:  # that only tell what they were asked for
            tool = pathlib.Path(f) / name
            tool.write_text(f'#!/bin/sh\nprintf "[%s]" {name} "$@" >>{f}/asked\n')
            tool.chmod(0o755)
        p = run("make", "-C", root, "install", f"BUILD={f}/build", "PREFIX=/opt/a b", env=environment(PATH=f"{f}:/usr/bin:/bin"))
        asked = (pathlib.Path(f) / "asked").read_text()
        check(p.returncode == 0 and "[--prefix=/opt/a b]" in asked and "[-Dprefix=/opt/a b]" in asked, asked + p.stderr)


@test
def the_first_page_shows_the_example_as_it_is():
    page = (root / "README.md").read_text()
    check(f"```c\n{(root / 'examples/first.c').read_text()}```\n" in page, "README.md and examples/first.c differ")
    page = (root / "docs/shared.md").read_text()
    check(f"```c\n{(root / 'examples/shared.c').read_text()}```\n" in page, "docs/shared.md and examples/shared.c differ")


@test
def manual_pages_are_clean_and_name_every_option():
    for page in MAN_PAGES:
        p = run("mandoc", "-T", "lint", "-W", "warning", root / "man" / page)
        check(p.returncode == 0, p.stdout + p.stderr)
    for page, command in [("pawl-list.1", ["list"]), ("pawl-run.1", ["run"]), ("pawl-check.1", ["check"]), ("pawl-doctor.1", ["doctor"]), *[("pawl-hint.1", ["hint", c]) for c in ("start", "stop", "status")], *[("pawl-bench.1", ["bench", w]) for w in WORKLOADS],
                          ("pawl-sim.1", ["sim", "table"]), ("pawl-sim.1", ["sim", "figures"]), ("pawl-sim.1", ["sim", "machines"]), ("pawl-report.1", ["report"]), ("pawl-compare.1", ["compare"]), ("pawl-profile.1", ["profile"]), ("pawl-top.1", ["top"]), ("pawl-tune.1", ["tune"])]:
        text = run("mandoc", "-T", "utf8", root / "man" / page).stdout
        text = "".join(c for i, c in enumerate(text) if c != "\b" and text[i + 1:i + 2] != "\b").replace("‐", "-")
        for word in harness.output(*command, "--help").split():
            option = word.split("=")[0].rstrip(",")
            if option.startswith("--") and option not in ["--help", "--usage", "--version"]:
                check(option in text, f"{page} does not mention {option}")
