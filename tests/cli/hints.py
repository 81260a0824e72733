"""What the tests of pawl hint have in common: a service, and a client that says what it likes."""

import array
import contextlib
import json
import mmap
import os
import socket
import struct
import subprocess
import threading
import time

from harness import Skipped, check, eventually, folder, output, pawl
import harness

MAGIC, VERSION = 0x6C776170, 2
JOIN, STATUS, STOP = 1, 2, 3
DONE, BAD_VERSION, BAD_REQUEST, NOT_YOURS, FULL, FORBIDDEN = range(6)
SLOTS = 1023  # of a process
THREADS = 16384  # of all
REPLY = struct.Struct("=4IQ4I")


@contextlib.contextmanager
def service(*options):
    """Starts one in the foreground; gives its process and the path of its socket."""
    with folder() as f:
        path = f"{f}/hint.sock"
        process = subprocess.Popen([harness.build / "pawl", "hint", "start", "--foreground", "--socket", path, *options],
                                   stderr=subprocess.PIPE, text=True)
        try:
            eventually(lambda: process.poll() is not None or pawl("hint", "status", "--socket", path).returncode == 0, "it does not start")
            if process.poll() is not None:
                raise Skipped(process.stderr.read().strip())
            yield process, path
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            process.stderr.close()


def connect(path):
    """Waits in line while the service is flooded; a timeout of Python's would give up at once."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for which in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
        s.setsockopt(socket.SOL_SOCKET, which, struct.pack("@ll", 60, 0))
    s.connect(path)
    return s


def answer(s):
    """Status, slot, and the files that came along."""
    data, extra, _, _ = s.recvmsg(256, socket.CMSG_SPACE(8))
    files = array.array("i")
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(content)
    magic, _, status, slot, instance, *_ = REPLY.unpack(data)
    answer.instance = instance  # of service and sheet, of the last answer
    check(magic == MAGIC, "not an answer")
    return status, slot, list(files)


def ask(path, what, pid=0, tid=0, version=VERSION):
    with connect(path) as s:
        s.send(struct.pack("=5I", MAGIC, version, what, pid, tid))
        return answer(s)


def join(path, pid=None, tid=None):
    """The same, with both files mapped instead."""
    status, slot, files = ask(path, JOIN, pid or os.getpid(), tid or threading.get_native_id())
    maps = [mmap.mmap(f, size, mmap.MAP_SHARED, mmap.PROT_READ) for f, size in zip(files, (65600, 8192))]
    for f in files:
        os.close(f)
    return status, slot, maps


def word(map, index):
    return struct.unpack_from("=I", map, 4 * index)[0]


def runs(sheet, slot):
    """Whether the thread of this slot runs."""
    last = word(sheet, 1024 + slot)
    return last != 0 and word(sheet, last - 1) == slot


def registered(path):
    s = json.loads(output("hint", "status", "--json", "--socket", path))
    return s["processes"], s["threads"]


def ready(cpus, cpu):
    return word(cpus, 16 * (1 + cpu))


def answer_late(path, seconds, ready):
    """One request, after so many seconds in which it runs, or waits for its CPU."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.bind(path)
        s.listen()
        ready.set()
        client, _ = s.accept()
        client.recv(64)  # else the end of this process takes the answer back
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
        client.send(REPLY.pack(MAGIC, VERSION, DONE, 0, 1, 0, 0, 1, 0))
