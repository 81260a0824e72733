"""The programs. Each function runs one on a stage and returns what must be the same under every lock."""

import concurrent.futures
import glob
import os
import socket
import sys

from stage import Missing, check, digest, found, here

all_programs = []


def program(function):
    all_programs.append(function)
    return function


# Databases


@program
def sqlite_private(s):
    return s.run(s.driver("sqlite"), "private", s.folder, 4, s.count(2000))


@program
def sqlite_shared(s):
    return s.run(s.driver("sqlite"), "shared", s.folder, 4, s.count(300))


@program
def sqlite_file(s):
    return s.run(s.driver("sqlite"), "file", s.folder, 4, s.count(500))


@program
def leveldb_readrandom(s):
    return s.run(s.driver("leveldb"), "readrandom", s.folder, 4, s.count(60000))


@program
def leveldb_readwhilewriting(s):
    return s.run(s.driver("leveldb"), "readwhilewriting", s.folder, 4, s.count(30000))


@program
def leveldb_fillrandom(s):
    return s.run(s.driver("leveldb"), "fillrandom", s.folder, 4, s.count(10000))


@program
def lmdb_killed_writers(s):
    return s.run(s.driver("lmdb"), s.folder, s.count(20))


# Compressors: what comes out depends on neither threads nor locks


@program
def pigz(s):
    packed = s.run(found("pigz"), "-p", 4, "-b", 128, "-c", s.fixtures.text)
    (s.folder / "packed.gz").write_bytes(packed)
    s.run(found("pigz"), "-p", 4, "-t", s.folder / "packed.gz")
    return digest(packed), digest(s.run(found("pigz"), "-p", 4, "-d", "-c", s.folder / "packed.gz"))


@program
def xz(s):
    packed = s.run(found("xz"), "-T4", "-1", "--block-size=128KiB", "-c", s.fixtures.text)
    (s.folder / "packed.xz").write_bytes(packed)
    return digest(packed), digest(s.run(found("xz"), "-T4", "-d", "-c", s.folder / "packed.xz"))


@program
def zstd(s):
    packed = s.run(found("zstd"), "-q", "-T4", "-B131072", "-3", "-c", s.fixtures.text)
    (s.folder / "packed.zst").write_bytes(packed)
    return digest(s.run(found("zstd"), "-q", "-d", "-c", s.folder / "packed.zst"))


@program
def lbzip2(s):
    packed = s.run(found("lbzip2"), "-n", 4, "-1", "-c", s.fixtures.text)
    (s.folder / "packed.bz2").write_bytes(packed)
    return digest(packed), digest(s.run(found("lbzip2"), "-n", 4, "-d", "-c", s.folder / "packed.bz2"))


@program
def sort(s):
    return digest(s.run(found("sort"), "--parallel=4", "-S", "1M", s.fixtures.text))


# Tools


@program
def git_grep(s):
    out = s.run(found("git"), "-C", s.fixtures.repository, "grep", "--threads=4", "-n", "needle1.*hapax2")
    return digest(out), len(out.splitlines())


@program
def git_index_pack(s):
    index = s.folder / "out.idx"
    out = s.run(found("git"), "-C", s.fixtures.repository, "index-pack", "--threads=4", "-o", index, s.fixtures.pack)
    return out, digest(index.read_bytes())


@program
def make_jobs(s):
    (s.folder / "Makefile").write_text("all: $(addsuffix .out,$(shell seq 30))\n"
                                       "%.out:\n\t@echo $* | sort > $@; cat $@\n")
    out = s.run(found("make"), "-j4", "-s")
    return sorted(out.split())


# Servers


@program
def memcached(s):
    path = s.folder / "socket"
    user = ["-u", "root"] if os.geteuid() == 0 else []
    with s.server(found("memcached"), "-s", path, "-t", 4, "-m", 64, *user):
        with concurrent.futures.ThreadPoolExecutor(4) as clients:
            counts = list(clients.map(lambda i: memcached_client(s, path, i), range(4)))
    return counts


def memcached_client(s, path, number):
    """Sets, reads and counts, in batches; returns how many values were as they had been set."""
    good = 0
    with s.connect(path) as c, c.makefile("rb") as answers:
        c.sendall(b"set total%d 0 0 1\r\n0\r\n" % number)
        check(answers.readline() == b"STORED\r\n", "memcached: not stored")
        for batch in range(int(s.count(30))):
            keys = [b"key-%d-%d" % (number, (batch * 50 + i) % 500) for i in range(50)]
            values = [k * (1 + batch % 7) for k in keys]
            c.sendall(b"".join(b"set %s 0 0 %d\r\n%s\r\nincr total%d 1\r\nget %s\r\n" % (k, len(v), v, number, k)
                               for k, v in zip(keys, values)))
            for k, v in zip(keys, values):
                stored, _, head = answers.readline(), answers.readline(), answers.readline()
                value, end = answers.readline(), answers.readline()
                good += (stored, head.split()[:2], value, end) == (b"STORED\r\n", [b"VALUE", k], v + b"\r\n", b"END\r\n")
        c.sendall(b"get total%d\r\n" % number)
        answers.readline()
        return good, answers.readline().strip()


@program
def redis(s):
    """Threads for input and output, and a fork to save."""
    path = s.folder / "socket"
    with s.server(found("redis-server"), "--port", 0, "--unixsocket", path, "--io-threads", 4, "--io-threads-do-reads",
                  "yes", "--save", "", "--dir", s.folder, "--appendonly", "yes", "--appendfsync", "everysec"):
        with concurrent.futures.ThreadPoolExecutor(4) as clients:
            counts = list(clients.map(lambda i: redis_client(s, path, i), range(4)))
        with s.connect(path) as c, c.makefile("rb") as answers:
            c.sendall(b"SAVE\r\nDBSIZE\r\nGET shared\r\nBGSAVE\r\nFLUSHALL ASYNC\r\n")
            return counts, [answers.readline() for _ in range(6)]


def redis_client(s, path, number):
    good = 0
    with s.connect(path) as c, c.makefile("rb") as answers:
        for batch in range(int(s.count(20))):
            keys = [b"key-%d-%d" % (number, (batch * 50 + i) % 500) for i in range(50)]
            c.sendall(b"".join(b"SET %s %d\r\nINCR shared\r\nGET %s\r\n" % (k, batch, k) for k in keys))
            for _ in keys:
                stored, _, length, value = (answers.readline() for _ in range(4))
                good += (stored, int(value)) == (b"+OK\r\n", batch)
    return good


UNBOUND = """
server:
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1
  port: {port}
  do-tcp: no
  num-threads: 4
  so-reuseport: yes
  module-config: "iterator"
  access-control: 127.0.0.0/8 allow
  local-zone: "example." transparent
auth-zone:
  name: "example."
  zonefile: "example.zone"
  for-downstream: no
  for-upstream: yes
  fallback-enabled: no
remote-control:
  control-enable: no
"""
ZONE = "$ORIGIN example.\n$TTL 3600\n@ SOA ns root 1 3600 900 86400 300\n@ NS ns\nns A 127.0.0.1\n"
NAMES = 2000


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@program
def unbound(s, queries=10000):
    """Answers come from its cache, whose entries have spin locks, once the zone has been asked."""
    port = free_port()
    (s.folder / "unbound.conf").write_text(UNBOUND.format(folder=s.folder, port=port))
    (s.folder / "example.zone").write_text(ZONE + "".join(f"n{n} A 10.0.{n >> 8}.{n & 255}\n" for n in range(NAMES)))
    with s.server(found("unbound"), "-d", "-c", s.folder / "unbound.conf"):
        return s.run(s.driver("dns"), port, 4, s.count(queries), NAMES, native=True)


# Languages


@program
def python3(s):
    return s.run(sys.executable, "-B", here / "threads.py", s.count(1000))


@program
def python3_on_jemalloc(s):
    """Its fork handlers hold all of the allocator's mutexes across the fork."""
    libraries = glob.glob("/usr/lib/*/libjemalloc.so.2")
    if not libraries:
        raise Missing("libjemalloc.so.2")
    s.environment["LD_PRELOAD"] = libraries[0]
    s.environment["PYTHONMALLOC"] = "malloc"
    return s.run(sys.executable, "-B", here / "threads.py", s.count(1000))


@program
def perl_threads(s):
    return s.run(found("perl"), here / "threads.pl", s.count(2000))


@program
def standard_cplusplus(s):
    return s.run(s.driver("standard"), s.count(3000))
