"""The tests that a mutation has to survive: quick ones, by the file that is broken.

Each is a program with the ninja target that builds it. Those that take names of cases are asked for the case that
killed the last mutant of the same function first.
"""
from collections import namedtuple

Test = namedtuple("Test", "targets command takes_names")


def harness(path):
    return Test([path], ["{build}/" + path], True)


def conform(lock):
    library = f"preload/libpawl-{lock}.so"
    return Test(["tests/preload/conform", library], ["{build}/tests/preload/conform", "--library", "{build}/" + library], True)


def check(locks, budget):
    return Test(["check/pawl-check"], ["{build}/check/pawl-check", "--quick", "--jobs", "1", "--budget", budget, "--lock", locks], False)


TESTS = {
    **{name: harness(f"tests/mutex/test_mutex_{name}") for name in ("mutex", "fairmutex", "cond", "cond_order", "forks", "manners")},
    **{
        name: harness(f"tests/test_{name}")
        for name in ("policy", "thread_exit", "tardy", "churn", "guard", "hapax", "semaphore", "trylock", "destruction", "plural", "idle")
    },
    "reports": harness("tests/debug/debug_reports"),
    "watched": harness("tests/debug/debug_mutex_manners"),
    "tools": Test(
        ["tests/debug/judged", "tests/debug/pthreads", "preload/libpawl-mcs.so", "preload/libpawl-pawl_mutex.so"],
        ["tests/debug/tools.sh", "{build}/tests/debug"],
        False,
    ),
    "check_mutex": check("mutex", "3s"),
    "check_locks": check("mcs,clh,ticket,hapax,hemlock_overlap,semaphore", "2s"),
    "conform_mutex": conform("pawl_mutex"),
    "conform_fair": conform("pawl_fairmutex"),
    "conform_mcs": conform("mcs"),
    "conform_overlap": conform("hemlock_overlap"),
    "stats": Test(
        ["pawl", "tests/apps/app_known", "preload-libraries"], ["tests/cli/run.sh", "{build}", "tests/cli", "test_stats.py"], False
    ),
}

MUTEXES = ["cond", "mutex", "forks", "cond_order", "manners", "fairmutex", "check_mutex", "conform_mutex"]
LOCKS = ["policy", "trylock", "thread_exit", "semaphore", "hapax", "tardy", "churn", "forks", "check_locks", "conform_mcs"]
PRELOAD = ["conform_mutex", "conform_mcs", "conform_fair"]

# The first that the beginning of a path fits.
FILES = [
    ("src/debug", ["reports", "watched", "tools"]),
    ("src/symbol", ["reports", "stats"]),
    ("src/valgrind.h", ["tools"]),
    ("src/signals", ["conform_mcs"]),
    ("src/nested", ["conform_mutex", "conform_fair"]),
    ("src/nodes", LOCKS),
    ("src/thread", LOCKS + ["reports"]),
    ("src/hapax", LOCKS),
    ("src/fork", ["forks", "mutex", "check_mutex", "conform_mcs", "conform_mutex", "conform_overlap"]),
    ("src/wait", LOCKS + ["idle"]),
    ("src/park", LOCKS + ["idle"]),
    ("src/hardware", LOCKS + ["idle"]),
    ("src/fatal", ["hapax", "mutex"]),
    ("src/mutex_call", ["reports", "mutex"]),
    ("src/", MUTEXES + ["conform_fair", "watched"]),
    ("preload/stats", ["stats", "conform_mutex"]),
    ("preload/nested", ["conform_mcs", "conform_mutex"]),
    ("preload/timed", ["conform_mcs"]),
    ("preload/", PRELOAD),
]

# What ships: a mutation that leaves all of it as it was, byte for byte, is none.
SHIPPED = {
    "src": ["libpawl", "preload/libpawl-pawl_mutex.so", "preload/libpawl-mcs.so"],
    "preload": ["preload/libpawl-pawl_mutex.so", "preload/libpawl-mcs.so", "preload/libpawl-pawl_fairmutex.so"],
}

# Compiled elsewhere, or for other machines.
IGNORED = ("src/hardware_aarch64.c", "src/hardware_other.c", "preload/fitting.c")


def for_file(path):
    return next(tests for prefix, tests in FILES if path.startswith(prefix))
