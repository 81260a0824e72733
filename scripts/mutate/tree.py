"""A copy of the source tree with a build folder of its own, in which one file at a time is broken."""
import fcntl
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import killers

SCALE = "0.05"  # of the tests' repetitions
BETWEEN_LOOKS = 0.2  # at a test that runs
GIGABYTE = 1 << 30
running = set()  # tests, by process; each has a session of its own
CONFIGURE = ["meson", "setup", "--buildtype=plain", "-Doptimization=2", "-Dwerror=false", "-Dwarning_level=0", "-Dtests=true"]


def copy_sources(to):
    """Tracked files, and new ones that git does not ignore. An unchanged file keeps its time, so little is rebuilt."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True).stdout
    for path in filter(None, listed.decode().split("\0")):
        if not os.path.isfile(path):
            continue
        target = os.path.join(to, path)
        with open(path, "rb") as file:
            new = file.read()
        if os.path.isfile(target):
            with open(target, "rb") as file:
                if file.read() == new:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)


def claim(folder):
    """The first tree in there that no other process uses, and the lock that claims it."""
    for number in range(1000):
        path = os.path.join(os.path.abspath(folder), f"tree-{number}")
        os.makedirs(path, exist_ok=True)
        claimed = open(os.path.join(path, "claimed"), "w")
        try:
            fcntl.flock(claimed, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return path, claimed
        except BlockingIOError:
            claimed.close()


class NotBuilt(Exception):
    def __init__(self, targets, output):
        super().__init__(f"{targets[0]} and others cannot be built:\n{output[-2000:]}")
        self.output = output


class Tree:
    def __init__(self, folder):
        self.path, self.claimed = claim(folder)
        self.build = os.path.join(self.path, "build")
        self.sources = {}  # of the files that are broken, as they are
        copy_sources(self.path)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            subprocess.run(CONFIGURE + ["build"], cwd=self.path, check=True, stdout=subprocess.DEVNULL)
        configured = self.ninja("build.ninja")  # of an older tree, it may not know all objects
        if configured.returncode != 0:
            raise SystemExit(f"mutate: {self.build} cannot be configured:\n{configured.stdout[-2000:]}")
        self.objects = re.findall(r"^((?:src|preload)/.*\.o):", self.ninja("-t", "targets", "all").stdout, re.M)
        self.clean = {}  # digests of objects, by pattern

    def ninja(self, *arguments):
        """What is broken is not worth a place in a compiler's cache."""
        environment = os.environ | ({"CCACHE_DISABLE": "1"} if self.sources else {})
        command = ["ninja", "-k", "0", "-C", self.build, *arguments]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)

    def build_targets(self, targets):
        built = self.ninja(*targets)
        if built.returncode != 0:
            raise NotBuilt(targets, built.stdout)

    # ---- what is broken

    def replace(self, path, source, by):
        self.sources[path] = source
        with open(os.path.join(self.path, path), "wb") as file:
            file.write(by)

    def mend(self):
        for path, source in list(self.sources.items()):
            self.replace(path, source, source)
        self.sources = {}

    def apply(self, mutation):
        """This one only."""
        source = mutation.source
        for path in [p for p in self.sources if p != mutation.file]:
            self.mend()
        self.replace(mutation.file, source, source[: mutation.start] + mutation.text.encode() + source[mutation.end :])

    # ---- whether anything changes

    def digests(self, pattern):
        """Of the objects whose names match."""
        objects = [o for o in self.objects if re.match(pattern, o)]
        self.build_targets(objects)
        found = []
        for o in objects:
            with open(os.path.join(self.build, o), "rb") as file:
                found.append(hashlib.sha256(file.read()).digest())
        return found

    def changes(self, patterns):
        """Whether the mutation changes one of these objects."""
        return any(self.digests(p) != self.clean[p] for p in patterns)

    def note_objects(self, patterns):
        """As they are in the unbroken tree."""
        for pattern in patterns:
            if pattern not in self.clean:
                self.clean[pattern] = self.digests(pattern)

    # ---- tests

    def cases(self, name):
        """Of a test, by their names."""
        test = killers.TESTS[name]
        if test.cases is None:
            return [None]
        command = self.command(test) + ["--list", *test.cases]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=True).stdout.split()

    def command(self, test):
        return [part.format(build=self.build) for part in test.command]

    def run(self, unit, scratch, limit, variables):
        """Runs a case until its first failure: None, or what failed; and its seconds."""
        name, case = unit
        log = os.path.join(scratch, "log")
        environment = os.environ | variables | {
            "PAWL_TEST_SCALE": SCALE,
            "PAWL_TEST_LIMIT": "3600",  # of real time, which says little
            "TMPDIR": scratch,
        }
        with open(log, "wb") as out:
            child = subprocess.Popen(
                self.command(killers.TESTS[name]) + ([case] if case is not None else []),
                cwd=self.path,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=None if name in killers.UNLIMITED else limit_resources,
            )
        running.add(child.pid)
        try:
            clock = OwnTime(child.pid)
            return watch(child, log, clock, limit), clock.longest
        finally:
            end_session(child.pid)
            running.discard(child.pid)
            child.wait()


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (8 * GIGABYTE, 8 * GIGABYTE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (GIGABYTE, GIGABYTE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class OwnTime:
    """How long a test takes by itself: what its processes compute, and how long all of them sleep. While one of them is
    ready and does not run, other programs have the CPUs, and that says nothing of the test. A new child of the first
    process is a new case, and begins at 0."""

    def __init__(self, leader):
        self.leader, self.cases = leader, set()
        self.seconds = self.longest = 0
        self.at, self.computed = time.monotonic(), {}

    def advance(self):
        now, before = time.monotonic(), self.computed
        processes = session(self.leader)
        cases = {pid for pid, (parent, _) in processes.items() if parent == self.leader}
        self.computed = {pid: seconds for pid, (_, seconds) in processes.items()}
        if cases != self.cases:
            self.seconds = 0
        elif any(map(is_ready, processes)):
            self.seconds += sum(s - before.get(pid, 0) for pid, s in self.computed.items())
        else:
            self.seconds += min(now - self.at, 2 * BETWEEN_LOOKS)  # or else it is us who did not run
        self.at, self.cases = now, cases
        self.longest = max(self.longest, self.seconds)

    def end_case(self):
        """The first process says which one it was. False if there is none."""
        others = set(self.computed) - {self.leader}
        for pid in others:
            kill(pid)
        return bool(others)


def watch(child, log, clock, limit):
    hangs = ""
    while True:
        status = child.poll()
        with open(log, "rb") as file:
            failure = re.search(rb"^FAIL(?:ED)? ([^:\s]+)", file.read(), re.M)
        if failure is not None:
            return failure[1].decode() + hangs
        if status is not None:
            return None if status == 0 else f"exit status {status}{hangs}"
        if time.monotonic() > clock.at + BETWEEN_LOOKS:
            clock.advance()
            if clock.seconds > limit:
                if hangs or not clock.end_case():
                    return "(hangs)"
                hangs, clock.seconds = " (hangs)", 0
        time.sleep(0.02)


def fields(path):
    """Those of a `stat` in /proc, from the third on; none if the process has ended."""
    try:
        with open(path) as file:
            return file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []


def session(leader):
    """Its processes: the parent of each, and the seconds that it has computed."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        stat = fields(f"/proc/{entry}/stat")
        if stat and int(stat[3]) == leader:
            found[int(entry)] = int(stat[1]), (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return found


def is_ready(pid):
    """Whether one of its threads runs, is ready to, or waits for a disk."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    return any(fields(f"/proc/{pid}/task/{t}/stat")[:1] in (["R"], ["D"]) for t in threads)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def end_session(leader):
    """Tests put children into process groups of their own. A session is left only on purpose, which none of them does.
    One may fork meanwhile."""
    while alive := [pid for pid in session(leader) if fields(f"/proc/{pid}/stat")[:1] not in ([], ["Z"])]:
        for pid in alive:
            kill(pid)


def end_all(number, frame):
    """A signal's handler: no test is left behind."""
    for leader in list(running):
        end_session(leader)
    os._exit(128 + number)
