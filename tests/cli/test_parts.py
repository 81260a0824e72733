"""--units, --shard and --merge: a check or a sweep in parts is the same as in one go"""

import json
import os
import pathlib
import pwd
import shutil

from harness import Skipped, check, environment, folder, output, pawl, refused, root, run, test
import harness

CHECK = ["check", "--quick", "--scenario", "contend", "--lock", "tts,ticket,clh"]
SIM = ["sim", "mutexbench", "--machine", "laptop-8", "--lock", "tts,mcs", "--threads", "1,2,4", "-d", "1ms"]
BENCH = ["bench", "mutexbench", "--lock", "tts,ticket", "--threads", "1,2,3", "-d", "2ms", "-r", "1"]


def units(*arguments):
    return output(*arguments, "--units").splitlines()


@test
def shards_are_a_partition_of_the_units():
    for command in [["check"], BENCH, ["bench", "grid"], SIM, ["sim", "grid"], ["sim", "figures"]]:
        everything = units(*command)
        check(len(everything) == len(set(everything)) > 2, str(everything))
        for parts in [1, 2, 3]:
            found = [units(*command, "--shard", f"{k}/{parts}") for k in range(1, parts + 1)]
            check(sorted(sum(found, [])) == sorted(everything), f"{command} in {parts} parts: {found}")
            check(max(map(len, found)) - min(map(len, found)) <= 1, "uneven")


def executions(text):
    return {l["lock"]: [(c["scenario"], c["verdict"]) for c in l["cases"]] for l in json.loads(text)["locks"]}


def changed(file, to, change):
    """A copy of a result with members replaced, or some of their members if the change is an object."""
    result = json.loads(pathlib.Path(file).read_text())
    for key, value in change.items():
        result[key] = result[key] | value if isinstance(value, dict) else value
    pathlib.Path(to).write_text(json.dumps(result))


@test
def check_in_parts_by_parallel_merges_to_the_whole():
    check(shutil.which("parallel"), "GNU parallel is not installed")
    with folder() as at:
        p = run("parallel", "--will-cite", "-j2", harness.build / "pawl", *CHECK, "--jobs", "1", "--shard", "{}/2", "--json", "-o",
                f"{at}/{{}}.json", ":::", "1", "2", cwd=at)
        check(p.returncode == 0, p.stderr)
        merged = output(*CHECK, "--merge", "--json", f"{at}/1.json", f"{at}/2.json")
        whole = output(*CHECK, "--json")
        check(executions(merged) == executions(whole), merged)
        check(list(executions(merged)) == ["tts", "ticket", "clh"], "another order")
        table = output(*CHECK, "--merge", f"{at}/2.json", f"{at}/1.json")
        explored = sum(len(lock["cases"]) for lock in json.loads(merged)["locks"])
        check(table.splitlines()[-1].startswith(f"{explored} explorations") and table.splitlines()[1].startswith("tts "), table)
        for files, why in [([f"{at}/1.json"], "no result for ticket"), ([f"{at}/1.json"] * 2, "in a file before it"), ([], "no files"),
                           ([f"{at}/no"], "/no"), ([str(root / "tests/cli/data/tail.json")], "not written by")]:
            refused([*CHECK, "--merge", *files], why)
        for change, why in [({"check": "mutations"}, "another check"), ({"pawl": "0.0.9"}, "another version"), ({"commit": "0"}, "another commit"),
                            ({"bounds": {"stale": 9}}, "other bounds"), ({"bounds": {"scenario": None}}, "other bounds"),
                            ({"locks": 5}, "not written by"), ({"locks": [{"lock": "tts"}]}, "not written by"),
                            ({"locks": [{"lock": "ticket", "cases": [1]}]}, "not written by")]:
            changed(f"{at}/2.json", f"{at}/other.json", change)
            refused([*CHECK, "--merge", f"{at}/1.json", f"{at}/other.json"], why)
        (pathlib.Path(at) / "half").write_text(pathlib.Path(f"{at}/2.json").read_text()[:-20])
        refused([*CHECK, "--merge", f"{at}/1.json", f"{at}/half"], "half")


@test
def merged_check_has_the_exit_status_of_the_whole():
    with folder() as at:
        output("check", "--quick", "--scenario", "contend", "--lock", "tts", "--json", "-o", f"{at}/a")
        report = json.loads(pathlib.Path(f"{at}/a").read_text())
        report["locks"][0]["cases"][0] |= {"replay": "x", "verdict": "two owners", "message": "m", "trace": "t"}
        pathlib.Path(f"{at}/a").write_text(json.dumps(report))
        p = pawl("check", "--lock", "tts", "--merge", f"{at}/a")
        check(p.returncode == 1 and "two owners in scenario" in p.stdout, p.stdout + p.stderr)


@test
def mutations_in_parts_merge():
    with folder() as at:
        common = ["check", "--mutate", "--quick", "--scenario", "contend", "--lock", "tts,ticket"]
        for k in [1, 2]:
            pawl(*common, "--shard", f"{k}/2", "--json", "-o", f"{at}/{k}")
        p, whole = pawl(*common, "--merge", f"{at}/1", f"{at}/2"), pawl(*common)
        check("orders weakened" in p.stdout and "ticket " in p.stdout and "tts " in p.stdout, p.stdout + p.stderr)
        check(p.returncode == whole.returncode and "explains nothing" not in p.stdout, p.stdout + p.stderr)


@test
def sweep_in_parts_merges_to_a_file_that_reports_read():
    with folder() as at:
        for k in [1, 2]:
            pawl(*BENCH, "--shard", f"{k}/2", "--json", "-o", f"{at}/{k}.json")
        output(*BENCH, "--merge", f"{at}/1.json", f"{at}/2.json", "-o", f"{at}/all.json")
        points = json.loads(pathlib.Path(f"{at}/all.json").read_text())["points"]
        wanted = {(l, t) for l in ["tts", "ticket"] for t in [1, 2, 3]}
        check(len(points) == 6 and {(p["lock"], p["threads"]) for p in points} == wanted, str(points))
        check("part" not in json.loads(pathlib.Path(f"{at}/all.json").read_text()), "still a part")
        refused([*BENCH, "--merge", f"{at}/2.json"], "part 1 of 2 is missing")
        check(pawl("report", f"{at}/all.json", "-o", f"{at}/page.html").returncode == 0, "no report")
        refused([*BENCH, "--merge", f"{at}/1.json", f"{at}/1.json"], "in a file before it")
        refused(["bench", "tail", "--merge", f"{at}/1.json"], "of mutexbench")
        for change, why in [({"machine": {"cpu": "another"}}, "its machine differs"), ({"pawl": "0.0.9"}, "its pawl differs"),
                            ({"part": {"parts": 3}}, "not a part of the same"), ({"points": [1]}, "not written by"), ({"points": []}, "not written by")]:
            changed(f"{at}/2.json", f"{at}/other.json", change)
            refused([*BENCH, "--merge", f"{at}/1.json", f"{at}/other.json"], why)
        for key in ["pawl", "format", "preset", "parameters", "machine", "unit"]:  # as any tool may have left them out
            result = json.loads(pathlib.Path(f"{at}/1.json").read_text())
            del result[key]
            pathlib.Path(f"{at}/other.json").write_text(json.dumps(result))
            refused([*BENCH, "--merge", f"{at}/other.json"], "not written by")


def part(at, k, parts, *more):
    """The command line of one part of a simulation, for GNU parallel."""
    return [harness.build / "pawl", *SIM, "--shard", f"{k}/{parts}", "--json", "-o", f"{at}/{k}.json", *more]


def points(text):
    whole = json.loads(text)
    whole["points"].sort(key=lambda p: (p["lock"], p["threads"]))
    return whole


@test
def simulation_in_parts_by_parallel_is_the_whole():
    with folder() as at:
        p = run("parallel", "--will-cite", "-j2", *part(at, "{}", 3), ":::", "1", "2", "3", cwd=at)
        check(p.returncode == 0, p.stderr)
        files = [f"{at}/{k}.json" for k in [2, 1, 3]]
        check(points(output(*SIM, "--merge", *files)) == points(output(*SIM, "--json")), "not what one run says")
        refused([*SIM, "--merge", files[0], files[0]], "in a file before it")
        refused([*SIM, "--merge", *files[1:]], "part 2 of 3 is missing")
        output(*SIM, "--machine", "vm-2", "--threads", "1", "--json", "-o", f"{at}/other")
        refused([*SIM, "--merge", files[0], f"{at}/other"], "differs")


def ssh_to_a_server_of_our_own(at):
    """A command like ssh that every host lets in: the server is at the other end of a pipe, and sees a home of its own."""
    me, home = pwd.getpwuid(os.getuid()), pathlib.Path(at) / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    for command in [["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{at}/key"], ["dropbearkey", "-t", "ed25519", "-f", f"{at}/server"]]:
        p = run(*command)
        check(p.returncode == 0, p.stderr)
    (home / ".ssh/authorized_keys").write_text(pathlib.Path(f"{at}/key.pub").read_text())
    users = [f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{home}:/bin/sh"]
    users += [l for l in pathlib.Path("/etc/passwd").read_text().splitlines() if not l.startswith(f"{me.pw_name}:")]
    pathlib.Path(f"{at}/passwd").write_text("\n".join(users) + "\n")
    alone = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--mount", "--user", "--map-current-user", "--keep-caps"]
    if run(*alone, "mount", "--bind", f"{at}/passwd", "/etc/passwd").returncode != 0:
        raise Skipped("no mounts of our own here")
    # ssh gets one end of a pair of sockets, the server has the other.
    pathlib.Path(f"{at}/serve").write_text(f"""#!/usr/bin/python3
import socket, subprocess
ours, theirs = socket.socketpair()
subprocess.Popen({alone + ["sh", "-c", f"mount --bind {at}/passwd /etc/passwd && exec dropbear -i -m -s -r {at}/server"]}, stdin=theirs, stdout=theirs)
socket.send_fds(socket.socket(fileno=1), [b"x"], [ours.fileno()])
""")
    pathlib.Path(f"{at}/ssh").write_text(f"#!/bin/sh\nexec ssh -F /dev/null -i {at}/key -oBatchMode=yes -oIdentityAgent=none -oStrictHostKeyChecking=no "
                                         f"-oUserKnownHostsFile=/dev/null -oLogLevel=ERROR -oProxyUseFdpass=yes -oProxyCommand={at}/serve \"$@\"\n")
    for script in ["serve", "ssh"]:
        os.chmod(f"{at}/{script}", 0o700)
    return f"{at}/ssh"


@test
def parts_run_over_ssh():
    with folder() as at:
        ssh = ssh_to_a_server_of_our_own(at)
        p = run(ssh, "one", "pwd")
        check(p.stdout == f"{at}/home\n", p.stdout + p.stderr)
        p = run("parallel", "--will-cite", "--ssh", ssh, "-S", "1/one,1/two", "--results", f"{at}/parts",
                harness.build / "pawl", *SIM, "--shard", "{}/2", "--json", ":::", "1", "2", cwd=at)
        check(p.returncode == 0, p.stderr)
        check(points(output(*SIM, "--merge", *[f"{at}/parts/1/{k}/stdout" for k in [1, 2]])) == points(output(*SIM, "--json")), "not the whole")


@test
def bad_parts_are_refused():
    for command in [["check"], [*BENCH, "--json"], [*SIM, "--json"], ["sim", "figures"]]:
        for shard in ["1", "0/2", "3/2", "/2", "1/", "a/b", "1/0", "-1/2", "99999999999999999999/2"]:
            refused([*command, "--shard", shard], "--shard")
        refused([*command, "file"], "'file'")
    refused(["check", "--lock", "tts", "--shard", "2/2"], "has no unit")
    refused(["sim", "figures", "--figure", "hemlock-2", "--shard", "2/2"], "has no unit")
    refused([*BENCH, "--shard", "1/2"], "--json")
    for command in [["check"], BENCH, SIM]:
        refused([*command, "--merge", "--units", "x"], "--units")
        refused([*command, "--merge", "--shard", "1/2", "--json", "x"], "--shard")


@test
def slurm_array_runs_its_part():
    script = root / "scripts/slurm_array.sh"
    with folder() as at:
        for task in ["1", "2"]:
            p = run(script, f"{at}/parts", harness.build / "pawl", *CHECK,
                    env=environment(SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="2", SLURM_ARRAY_TASK_MIN="1", SLURM_ARRAY_TASK_MAX="2"))
            check(p.returncode == 0, p.stderr)
        output(*CHECK, "--merge", f"{at}/parts/part-1.json", f"{at}/parts/part-2.json")
        # No array; one that does not begin with 1; one with gaps.
        for first, last, count in [("", "", ""), ("0", "1", "2"), ("7", "7", "1"), ("1", "5", "3")]:
            p = run(script, f"{at}/more", "pawl", "check", env=environment(SLURM_ARRAY_TASK_ID=last, SLURM_ARRAY_TASK_COUNT=count,
                                                                           SLURM_ARRAY_TASK_MIN=first, SLURM_ARRAY_TASK_MAX=last))
            check(p.returncode == 2 and len(p.stderr.splitlines()) == 1 and not pathlib.Path(f"{at}/more").exists(), p.stderr)
