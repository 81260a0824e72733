"""pawl profile under LevelDB with its debugging symbols: compiled here, from the sources of Debian's package, and stripped like a distribution's"""

import atexit
import functools
import pathlib
import subprocess
import tempfile

from harness import Skipped, check, pawl, root, run, test
from profiles import blamed, frames, read, site
import harness

FLAGS = ["-std=c++17", "-w", "-fPIC", "-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_FULLFSYNC=0", "-DHAVE_O_CLOEXEC=1", "-DHAVE_CRC32C=0",
         "-DHAVE_SNAPPY=0", "-DLEVELDB_COMPILE_LIBRARY", "-DLEVELDB_SHARED_LIBRARY"]


def source():
    return harness.build / "sources/leveldb"


@functools.cache
def compiler():
    """Compiles LevelDB in one piece, which takes an eighth of the time of its pieces: (process, folder), or None."""
    if not source().is_dir():
        return None
    f = tempfile.TemporaryDirectory()
    atexit.register(f.cleanup)
    parts = [p for d in ("db", "table", "util") for p in sorted((source() / d).glob("*.cc"))
             if not any(word in p.name for word in ("test", "windows", "leveldbutil")) and p.name != "c.cc"]
    pathlib.Path(f.name, "all.cc").write_text("".join(f'#include "{p}"\n' for p in parts))
    command = ["nice", "g++", *FLAGS, "-O1", "-g1", "-shared", "-Wl,--build-id", f"-I{source()}", f"-I{source()}/include", "-o", "libleveldb.so", "all.cc"]
    return subprocess.Popen(command, cwd=f.name, stderr=subprocess.PIPE, text=True), f.name


compiler()  # while other tests run


def line_of(file, mark, after=""):
    """The first line with the mark that follows one with another mark."""
    lines = (source() / file).read_text().splitlines()
    start = next(i for i, l in enumerate(lines) if after in l)
    return next(i for i, l in enumerate(lines, 1) if i > start and mark in l)


@test
def profile_blames_the_line_inside_leveldb_that_took_its_mutex():
    if compiler() is None:
        raise Skipped("LevelDB's source is not there; 'scripts/sources.sh BUILD/sources leveldb' fetches it")
    process, f = compiler()
    _, complaint = process.communicate(timeout=600)
    check(process.returncode == 0, complaint)
    for command in [("objcopy", "--only-keep-debug", "libleveldb.so", "libleveldb.so.debug"), ("strip", "libleveldb.so"),
                    ("objcopy", "--add-gnu-debuglink=libleveldb.so.debug", "libleveldb.so"),
                    ("g++", *FLAGS, "-O1", "-g", f"-I{source()}/include", "-o", "app", root / "tests/profile/culprit_leveldb.cc", f"{f}/libleveldb.so", "-lpthread")]:
        p = run(*command, cwd=f)
        check(p.returncode == 0, p.stderr)
    p = pawl("profile", "--json", f"{f}/p", "-o", f"{f}/o", "--", f"{f}/app", f"{f}/data")
    check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
    profile = read(f"{f}/p")
    got, took = line_of("db/db_impl.cc", "MutexLock l(&mutex_)", "Status DBImpl::Get("), line_of("db/version_set.cc", "mu->Lock();")
    reads = [(h, w) for waiter, h, w in blamed(profile) if waiter[0].startswith("leveldb::DBImpl::Get(") and waiter[1] == got]
    check(sum(w["count"] for _, w in reads) >= 3 and sum(w["total_ns"] for _, w in reads) >= 30e6, str([b[:2] for b in blamed(profile)]))
    check(all(h[0].startswith("leveldb::VersionSet::LogAndApply(") and h[1] == took for h, _ in reads), str([h for h, _ in reads]))
    inside = [[(x.get("function", "").split("(")[0], x.get("inlined", False)) for x in frames(profile, w["holder"])] for _, w in reads]
    check(any(("leveldb::port::Mutex::Lock", True) in names and ("leveldb::DBImpl::BackgroundCall", False) in names for names in inside), str(inside))
    check(f"leveldb::VersionSet::LogAndApply (version_set.cc:{took})" in pathlib.Path(f, "o").read_text(), "the text")
    check(site(profile, profile["locks"][0]["first"])[0].startswith("leveldb::"), profile["locks"][0]["name"])
