"""The tests that a mutation has to survive, by what is broken: of these, the cases that come by the place.

Each is a program with the ninja targets that build it.
"""
import re
from collections import namedtuple

# `cases`: those to run of a program that takes their names, and lists them with --list; all if empty; None if it takes none.
Test = namedtuple("Test", "targets command cases")

# One lock of each kind is enough for what they share.
FEW = ["mcs/", "clh/", "hapax_vw/", "hemlock_overlap/", "mutex/", "debug/", "system/"]


def harness(path, cases=()):
    return Test([path], ["{build}/" + path], list(cases))


def conform(lock, cases=()):
    library = f"preload/libpawl-{lock}.so"
    return Test(["tests/preload/conform", library], ["{build}/tests/preload/conform", "--library", "{build}/" + library], list(cases))


def commands(folder, file, targets):
    return Test(["pawl", *targets], ["tests/cli/run.sh", "{build}", folder, file], [])


def check(locks, budget):
    return Test(["check/pawl-check"], ["{build}/check/pawl-check", "--quick", "--jobs", "1", "--budget", budget, "--lock", locks], None)


PROFILED = [
    *(f"tests/profile/{name}" for name in ("awkward", "culprit", "culprit_cc", "culprit_sqlite", "forked", "hostile", "interrupted", "pair", "waiters")),
    *(f"preload/libpawl-{lock}.so" for lock in ("pawl_mutex", "mcs", "hapax_vw", "native")),
    "tests/apps/app_sqlite",
]

TESTS = {
    **{name: harness(f"tests/mutex/test_mutex_{name}") for name in ("mutex", "fairmutex", "fair_steps", "cond", "cond_order", "cond_steps", "forks", "manners", "reentry", "queue", "releases", "shares", "handoff", "head")},
    **{
        name: harness(f"tests/test_{name}")
        for name in ("copy", "thread_key", "policy", "parking", "kernel", "hardware", "hapax", "hint", "hint_locks", "nodes", "semaphore", "deadline", "slices", "timeslice", "yield")
    },
    **{name: harness(f"tests/test_{name}", FEW) for name in ("thread_exit", "tardy", "churn", "trylock", "idle", "destruction", "plural")},
    **{f"region_{name}": harness(f"tests/region/test_region_{name}") for name in ("barge", "deaths", "ends", "line", "locks", "masks", "region", "room", "seats")},
    **{f"stats_{name}": harness(f"tests/stats/test_stats_{name}") for name in ("file", "hooks", "maps", "quick", "races", "region", "report", "stack", "start", "summary", "waits")},
    "signals": harness("tests/mutex/test_signals"),
    "reports": harness("tests/debug/debug_reports", FEW),
    **{name: harness(f"tests/debug/debug_{name}") for name in ("graph", "mode", "names", "shared", "told")},
    "watched": harness("tests/debug/debug_mutex_manners"),
    "tools": Test(
        ["tests/debug/judged", "tests/debug/pthreads", "preload/libpawl-mcs.so", "preload/libpawl-pawl_mutex.so"],
        ["tests/debug/tools.sh", "{build}/tests/debug"],
        None,
    ),
    "embed": Test(
        ["tests/embed/plugin_static.so", "tests/embed/plugin_shared.so", "tests/embed/host", "tests/embed/host_static", "tests/embed/host_shared"],
        ["tests/embed/run.sh", "{build}"],
        None,
    ),
    "check_mutex": check("pawl_mutex,pawl_fairmutex", "4s"),
    "check_timed": check("mcs,reciprocating", "6s"),
    "check_shared": check("mutex_shared,hapax_shared", "4s"),
    "check_locks": check("mcs,clh,ticket,hapax,hemlock_overlap,semaphore", "2s"),
    "conform_mutex": conform("pawl_mutex"),
    "conform_fair": conform("pawl_fairmutex"),
    "conform_mcs": conform("mcs"),
    "conform_clh": conform("clh", ["destroy", "handler_may", "nobody_destroys", "comes_first"]),
    "conform_hemlock": conform("hemlock"),
    "conform_overlap": conform("hemlock_overlap", ["fork", "handler"]),
    "conform_native": Test(
        ["tests/preload/conform", "preload/libpawl-native.so"],
        ["sh", "-c", 'worst=$(mktemp) && head -c 8 /dev/zero >$worst && LD_PRELOAD=$0/preload/libpawl-native.so PAWL_WORST=$worst exec $0/tests/preload/conform "$@"', "{build}"],
        [],
    ),
    "malloc": Test(
        ["tests/preload/locking_malloc", "preload/libpawl-mcs.so"],
        ["env", "LD_PRELOAD={build}/preload/libpawl-mcs.so", "{build}/tests/preload/locking_malloc"],
        None,
    ),
    "stats": commands("tests/cli", "test_stats.py", ["tests/apps/app_known", *(f"preload/libpawl-{lock}.so" for lock in ("pawl_mutex", "mcs", "hapax_vw"))]),
    **{name: commands("tests/profile", f"test_{name}.py", PROFILED) for name in ("profile", "counts", "tune")},
    "settings": commands("tests/profile", "test_tune.py", PROFILED)._replace(cases=["settings_of_the_mutex_are_those_of_the_environment"]),
}

MUTEXES = ["releases", "shares", "handoff", "head", "hint", "hint_locks", "timeslice", "queue", "reentry", "cond", "mutex", "cond_order", "manners", "fairmutex", "idle", "destruction", "plural", "forks", "check_mutex", "conform_mutex"]
LOCKS = ["policy", "nodes", "trylock", "thread_exit", "semaphore", "deadline", "hapax", "tardy", "churn", "forks", "check_locks", "conform_mcs"]
PRELOAD = ["conform_mutex", "conform_mcs", "conform_clh", "conform_hemlock", "conform_overlap", "malloc"]
STATS = ["stats", "profile", "counts"]


# The first whose pattern is in the mutation's name.
CHOICE = [
    ("valgrind", ["told", "reports", "tools"]),
    ("^src/debug_(graph|stack)", ["graph", "reports"]),
    ("^src/debug_shared", ["shared", "reports"]),
    ("^src/debug", ["mode", "reports", "told", "watched"]),
    ("^src/cond.*(watched|pawl_debug)", ["reports"]),
    ("^src/symbol", ["names", "reports"]),
    ("^src/region|pawl_futex_(wait|wake)_shared", ["region_barge", "region_line", "region_region", "region_room", "region_seats", "region_masks", "region_locks", "region_ends", "region_deaths", "check_shared", "kernel"]),
    ("^src/signals|pawl_signals", ["signals", "conform_mcs"]),
    ("^src/reentry.h", MUTEXES),
    ("^src/reentry", ["reentry", "conform_mutex"]),
    ("^src/(thread|unload)", ["thread_key", *LOCKS] + ["reports", "embed"]),
    ("^src/copy", ["copy", "embed"]),
    ("^src/nodes", ["nodes", *LOCKS]),
    ("^src/hapax", ["hapax", *LOCKS]),
    ("^src/slices", ["slices", "thread_exit", "forks", "churn"]),
    ("^src/fatal", ["nodes", "hapax"]),
    ("^src/fork", ["forks", "hint", "hint_locks", "nodes", "mutex", "check_mutex", "conform_mcs", "conform_mutex", "conform_overlap"]),
    ("^src/park/queue", ["queue", *MUTEXES, *LOCKS]),
    ("^src/park/hint", ["hint", "hint_locks"]),
    ("^src/park/timeslice", ["timeslice"]),
    ("^src/park/yield", ["yield", *MUTEXES]),
    ("^src/park/", ["kernel", "parking", *LOCKS, *MUTEXES]),
    ("^src/wait", LOCKS + ["parking", "idle", "hint", "hint_locks"]),
    ("^src/hardware", ["hardware", *LOCKS]),
    ("^src/sandbox", ["kernel", "conform_mcs"]),
    ("^src/mutex_call", ["told", "reports", "manners", "handoff"]),
    ("^src/cond", ["cond_steps", *MUTEXES]),
    ("^src/fairmutex", ["fair_steps", *MUTEXES, "conform_fair"]),
    ("^src/(mcs|reciprocating|leave)", ["deadline", "check_timed", *LOCKS]),
    ("^src/semaphore", ["semaphore", "deadline", *LOCKS]),
    ("^src/", MUTEXES + ["conform_fair", "watched"]),
    ("^preload/stats/(file|json|name|report|summary|text|words)", ["stats_report", "stats_file", "stats_summary", *STATS]),
    ("^preload/stats/maps", ["stats_maps", *STATS]),
    ("^preload/stats/(grow|region)", ["stats_region", *STATS]),
    ("^preload/stats/stack", ["stats_stack", *STATS]),
    ("^preload/stats/start", ["stats_start", *STATS]),
    ("^preload/stats/quick", ["stats_quick", "stats_hooks", *STATS]),
    ("^preload/stats", ["stats_hooks", "stats_waits", "stats_races", *STATS]),
    ("^preload/native", ["conform_native", "tune"]),
    ("^preload/mutex/settings", ["settings"]),
    ("^preload/", PRELOAD + STATS),
]

# Objects of what ships: a mutation that leaves all of them as they were, byte for byte, is none.
COMMON = r"preload/libpreload_common\."
SHIPPED = {
    "src": [r"src/libpawl\.", COMMON],
    "preload": [COMMON, r"preload/libpawl-(pawl_mutex|mcs|clh|hemlock|native)\."],
}

# Compiled elsewhere, or for other machines.
IGNORED = ("src/hardware_aarch64.c", "src/hardware_other.c", "preload/place/fitting.c")


# They map more than others may, or run what does.
UNLIMITED = ("tools", "stats", "profile", "counts", "tune", "settings")

# They take ten seconds or more.
SLOW = ("tools", "embed", "check_mutex", "check_locks", "check_timed", "check_shared", "tune")


def choose(names, cases):
    """These tests for all mutations, and these cases of them."""
    CHOICE.insert(0, ("", names))
    for name in names if cases is not None else []:
        TESTS[name] = TESTS[name]._replace(cases=cases)


def for_mutation(name, quick):
    tests = next(tests for pattern, tests in CHOICE if re.search(pattern, name))
    return [t for t in tests if not (quick and t in SLOW)]
