"""What the programs run on: a lock underneath, a folder of their own, and an end to every wait."""

import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    pass


class Missing(Exception):
    """A program or library that is not installed here."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def found(program):
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise Missing(program)
    return path


class Fixtures:
    """Input that all runs share, made once."""

    def __init__(self, folder, scale):
        self.folder = pathlib.Path(folder)
        words = [f"{w}{i}" for i in range(300) for w in ("lock", "queue", "owner", "waiter", "hapax", "needle")]
        chosen = random.Random(1)
        lines = [" ".join(chosen.choices(words, k=12)) for _ in range(int(50000 * scale))]
        self.text = self.folder / "text"
        self.text.write_text("\n".join(lines) + "\n")
        self.repository = self.folder / "repository"
        self._make_repository(lines)

    def _git(self, *arguments):
        subprocess.run([found("git"), "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "gc.auto=0",
                        *arguments], cwd=self.repository, check=True, capture_output=True, timeout=600)

    def _make_repository(self, lines):
        self.repository.mkdir()
        self._git("init", "-q")
        for version in range(3):
            for i in range(300):
                text = "\n".join(lines[(i * 37 + j) % len(lines)] for j in range(30 + version))
                path = self.repository / f"folder{i % 10}/file{i}"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            self._git("add", ".")
            self._git("commit", "-q", "-m", f"version {version}")
        self._git("repack", "-adfq", "--depth=20")
        self.pack = next((self.repository / ".git/objects/pack").glob("*.pack"))


class Stage:
    """One run of one program, natively (lock is None) or with a lock under it."""

    def __init__(self, build, fixtures, lock, scale, timeout):
        self.build, self.fixtures, self.lock, self.scale = pathlib.Path(build), fixtures, lock, scale
        self.deadline = time.monotonic() + timeout
        self.environment = dict(os.environ)
        self.speed = []  # what the drivers said about it

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="pawl-apps-")
        self.folder = pathlib.Path(self._folder.name)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def count(self, n):
        return str(max(1, int(n * self.scale)))

    def driver(self, name):
        path = self.build / "tests/apps" / f"app_{name}"
        if not path.exists():
            raise Missing(f"library for {path.name}")
        return str(path)

    def under(self, command):
        return [str(c) for c in ([] if self.lock is None else
                                 [self.build / "pawl", "run", "--lock", self.lock, "--"]) + list(command)]

    def start(self, *command, native=False, **options):
        command = [str(c) for c in command] if native else self.under(command)
        options = {"cwd": self.folder, "env": self.environment, "start_new_session": True, "stdin": subprocess.DEVNULL,
                   "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(command, **options)

    def finish(self, process, name):
        """Its output; it must end well, in time, and say nothing that it does not say natively."""
        try:
            out, err = process.communicate(timeout=max(0.1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill(process)
            raise Failure(f"{name} hangs") from None
        check(process.returncode == 0, f"{name}: exit {process.returncode}: {(err or b'').decode(errors='replace')[-300:]}")
        for line in (err or b"").decode(errors="replace").splitlines():
            if line.startswith("operations "):
                self.speed.append(float(line.split()[-1]))
        return out

    def run(self, *command, **options):
        name = os.path.basename(str(command[0]))
        return self.finish(self.start(*command, **options), name)

    @staticmethod
    def kill(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    @contextlib.contextmanager
    def server(self, *command, end=signal.SIGTERM):
        """A server for the time of a with statement; it must still be there at its end, and end when told to."""
        log = open(self.folder / "server.log", "w+b")
        process = self.start(*command, stdout=log, stderr=log)
        try:
            yield process
            status = process.poll()
            log.seek(0)
            check(status is None, f"the server ended by itself: {status}: {log.read()[-300:]}")
            process.send_signal(end)
            try:
                process.wait(timeout=max(1, self.deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise Failure("the server does not end") from None
            check(process.returncode in (0, -end), f"the server's exit: {process.returncode}")
        finally:
            if process.poll() is None:
                self.kill(process)
            log.close()

    def connect(self, path):
        """To a server's socket in a file, as soon as there is one."""
        while True:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(max(0.1, self.deadline - time.monotonic()))
            try:
                s.connect(str(path))
                return s
            except OSError:
                s.close()
                check(time.monotonic() < self.deadline, "the server does not answer")
                time.sleep(0.01)
