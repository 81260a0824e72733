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
HANGS = 2  # seconds that a case may take more than four times what it takes in the tree as it is
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
    pass


class Tree:
    def __init__(self, folder):
        self.path, self.claimed = claim(folder)
        self.build = os.path.join(self.path, "build")
        self.scratch = os.path.join(self.path, "scratch")
        self.broken = None
        copy_sources(self.path)
        os.makedirs(self.scratch, exist_ok=True)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            subprocess.run(CONFIGURE + ["build"], cwd=self.path, check=True, stdout=subprocess.DEVNULL)
        configured = self.ninja("build.ninja")  # of an older tree, it may not know all objects
        if configured.returncode != 0:
            raise SystemExit(f"mutate: {self.build} cannot be configured:\n{configured.stdout[-2000:]}")
        self.objects = re.findall(r"^((?:src|preload)/.*\.o):", self.ninja("-t", "targets", "all").stdout, re.M)
        self.clean = {}  # objects, by pattern
        self.seconds = {}  # by test: what its longest case takes
        self.longest = 0  # of the last run
        self.environment = {}  # of the tests

    def ninja(self, *arguments):
        """One job: there is a tree per CPU. What is broken is not worth a place in a compiler's cache."""
        environment = os.environ | ({"CCACHE_DISABLE": "1"} if self.broken else {})
        command = ["ninja", "-j1", "-C", self.build, *arguments]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)

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

    def prepare(self, test):
        """In the unbroken tree every test must pass, and its time is taken."""
        self.seconds[test] = 60
        try:
            self.build_test(test)
        except NotBuilt as e:
            raise SystemExit(f"mutate: without any mutation: {e}")
        killer = self.run(test)
        self.seconds[test] = self.longest
        if killer is not None and self.fails_again(test, killer):
            raise SystemExit(f"mutate: {test} fails without any mutation: {killer}")

    def build_for(self, test, mutation):
        """Builds the test with the mutation, which has been applied. Most tests are never needed in most trees."""
        if test not in self.seconds:
            self.mend()
            self.prepare(test)
            self.apply(mutation)
        self.build_test(test)

    def write(self, path, source):
        with open(os.path.join(self.path, path), "wb") as file:
            file.write(source)

    def mend(self):
        if self.broken is not None:
            self.write(*self.broken)
            self.broken = None

    def apply(self, mutation):
        before = mutation.source
        if self.broken != (mutation.file, before):
            self.mend()
        self.broken = (mutation.file, before)
        self.write(mutation.file, before[: mutation.start] + mutation.text.encode() + before[mutation.end :])

    def build_targets(self, targets):
        built = self.ninja(*targets)
        if built.returncode != 0:
            raise NotBuilt(f"{targets[0]} and others:\n{built.stdout[-2000:]}")

    def build_test(self, name):
        self.build_targets(killers.TESTS[name].targets)

    def fails_again(self, name, failed):
        """The second of three failures settles it; a hang does at once."""
        if failed.endswith("(hangs)"):
            return True
        cases = [failed] if killers.TESTS[name].cases is not None and not failed.startswith("exit") else []
        return any(self.run(name, cases) is not None for _ in range(2))

    def run(self, name, cases=()):
        """Runs a test until its first failure: None, or what failed."""
        test = killers.TESTS[name]
        command = [part.format(build=self.build) for part in test.command] + list(cases or test.cases or ())
        log = os.path.join(self.scratch, "log")
        environment = os.environ | self.environment | {
            "PAWL_TEST_SCALE": SCALE,
            "PAWL_TEST_LIMIT": "3600",  # of real time, which says little
            "TMPDIR": self.scratch,
        }
        with open(log, "wb") as out:
            child = subprocess.Popen(
                command,
                cwd=self.path,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=None if name == "tools" else limit_resources,
            )
        running.add(child.pid)
        try:
            clock = OwnTime(child.pid)
            return watch(child, log, clock, HANGS + 4 * self.seconds[name])
        finally:
            self.longest = clock.longest
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
