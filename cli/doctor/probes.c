/* probes.c - one function for each thing that a machine may offer */
#include "doctor.h"

#include "src/hardware.h"
#include "src/park/fence.h"
#include "src/park/futex.h"
#include "src/park/hint.h"
#include "src/park/timeslice.h"
#include "src/park/pause.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif

#define FOUND(f, ...) snprintf((f)->found, sizeof(f)->found, __VA_ARGS__)

static void futex(finding *f, const char *root)
{
    (void)root;
    static _Atomic(uint32_t) word = 1; /* nobody sleeps there */
    int outcome = try_call(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0, 0);
    bool works = outcome == CALL_WORKS;
    f->offer = works ? OFFERED : NOT_OFFERED;
    f->warning = !works;
    FOUND(f, "futex(): %s", call_outcome(outcome));
    f->choice = works ? "threads that wait for long sleep on futexes"
                : outcome == CALL_KILLS
                    ? "makes the call all the same, and the program dies of it"
                    : "threads that should sleep return at once and look again: they burn CPU";
    f->change = works ? NULL : "allow futex() in the sandbox";
}

/* Why libpawl does without, if the kernel would help. */
static void explain_no_membarrier(finding *f)
{
    if (getenv("PAWL_NO_MEMBARRIER") != NULL) {
        f->choice = "not used, because PAWL_NO_MEMBARRIER is set: every unlock of a lock with waiters on "
                    "words fences";
        f->change = "unset PAWL_NO_MEMBARRIER";
    } else {
        f->choice =
            "not used, because a seccomp filter may kill for it: every unlock of a lock with waiters on "
            "words fences";
        f->change = "start the program without the filter";
    }
}

static void membarrier(finding *f, const char *root)
{
    (void)root;
    int outcome = try_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0);
    bool has = outcome == CALL_WORKS;
    f->offer = has ? OFFERED : NOT_OFFERED;
    f->warning = !has;
    if (has)
        FOUND(f, "private expedited");
    else if (outcome == EINVAL)
        FOUND(f, "no private expedited command");
    else
        FOUND(f, "membarrier(): %s", call_outcome(outcome));
    if (pawl_uses_membarrier()) {
        f->choice =
            "a thread that goes to sleep pays for the fence, unlock pays for none; if threads spend a "
            "quarter of a CPU on it, every unlock of a lock with waiters on words fences from then on";
        f->change = "PAWL_NO_MEMBARRIER=1 does without";
    } else if (has)
        explain_no_membarrier(f);
    else {
        f->choice = "every unlock of a lock with waiters on words fences";
        f->change = "a kernel since 4.14 with CONFIG_MEMBARRIER, or a sandbox that allows the call";
    }
}

/* The calls that are made beside those two; what they are for is in docs/embedding.md. */
static void other_calls(finding *f, const char *root)
{
    (void)root;
    static void *list;
    static size_t size;
    static cpu_set_t set[64];
    const struct {
        const char *name;
        int outcome;
    } calls[] = {
        {"sched_yield()", try_call(SYS_sched_yield, 0, 0, 0, 0, 0)},
        {"sched_getaffinity()", try_call(SYS_sched_getaffinity, 0, sizeof set, (long)set, 0, 0)},
        {"get_robust_list()", try_call(SYS_get_robust_list, 0, (long)&list, (long)&size, 0, 0)},
    };
    bool kills = false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].outcome == CALL_WORKS)
            continue;
        size_t used = strlen(f->found);
        snprintf(f->found + used, sizeof f->found - used, "%s%s: %s", used > 0 ? "; " : "", calls[i].name,
                 call_outcome(calls[i].outcome));
        kills |= calls[i].outcome == CALL_KILLS;
    }
    bool work = f->found[0] == '\0';
    f->offer = work ? OFFERED : NOT_OFFERED;
    f->warning = kills;
    if (work)
        FOUND(f, "sched_yield(), sched_getaffinity() and get_robust_list() work");
    f->choice = work    ? "they are used"
                : kills ? "makes the calls all the same, and the program dies of it"
                        : "does without: threads spin as if they had several CPUs, and without "
                          "get_robust_list() there are no locks between processes";
    f->change = work ? NULL : "allow them in the sandbox";
}

static void seccomp(finding *f, const char *root)
{
    char text[8192];
    const char *line = NULL;
    if (read_text(root, "/proc/self/status", text, sizeof text))
        line = strstr(text, "\nSeccomp:\t");
    if (line == NULL) {
        f->offer = NOT_KNOWN;
        FOUND(f, "/proc/self/status does not say");
        f->choice = "as without a filter";
        return;
    }
    int mode = atoi(line + strlen("\nSeccomp:\t"));
    f->offer = mode == 0 ? NOT_OFFERED : OFFERED;
    FOUND(f, "%s", mode == 0 ? "no filter" : mode == 1 ? "strict mode" : "a filter judges system calls");
    f->choice =
        mode == 0 ? "all system calls are used" : "a process that starts like this does without membarrier()";
    f->change =
        mode == 0 ? "PAWL_NO_MEMBARRIER=1 if a filter comes later" : "start the program without the filter";
}

static void futex2(finding *f, const char *root)
{
    (void)root;
    int outcome = try_call(SYS_futex_waitv, 0, 0, 0, 0, 0); /* of no words: EINVAL where there is one */
    f->offer = outcome == EINVAL ? OFFERED : NOT_OFFERED;
    FOUND(f, "futex_waitv(): %s", call_outcome(outcome == EINVAL ? CALL_WORKS : outcome));
    f->choice = "not used: a thread waits for one word at a time, and futex() serves that";
}

/* Of glibc since 2.35: 0 if the kernel or the user did not want it. */
extern const unsigned int __rseq_size __attribute__((weak));

static void rseq(finding *f, const char *root)
{
    (void)root;
    unsigned long size = getauxval(AT_RSEQ_FEATURE_SIZE);
    int outcome = size != 0 ? CALL_WORKS : try_call(SYS_rseq, 0, 0, 0, 0, 0); /* of no bytes: EINVAL */
    bool has = outcome == CALL_WORKS || outcome == EINVAL;
    f->offer = has ? OFFERED : NOT_OFFERED;
    if (size != 0)
        FOUND(f, "%lu bytes of features", size);
    else
        FOUND(f, "rseq(): %s", call_outcome(has ? CALL_WORKS : outcome));
    bool registered = &__rseq_size != NULL && __rseq_size != 0;
    f->choice =
        registered
            ? "the C library registers threads: a mutex's waiter learns its CPU from that, and time slices "
              "take it"
            : "not used: the C library registers no thread, so a mutex's waiter asks getcpu() for its CPU";
    f->change = registered ? "GLIBC_TUNABLES=glibc.pthread.rseq=0 does without" : NULL;
}

static void line_wait(finding *f, const char *root)
{
    (void)root;
    const char *name = pawl_hardware_name();
    bool has = strcmp(name, "pause") != 0;
    f->offer = has ? OFFERED : NOT_OFFERED;
    FOUND(f, "%s", has ? name : "no instruction that waits for a cache line");
    f->choice = has ? "a thread that spins waits for its cache line with it (not the mutexes)"
                    : "a thread that spins pauses between two looks";
}

static bool may_ask_for_cpus(void)
{
    return try_call(SYS_sched_getaffinity, 0, 0, 0, 0, 0) != CALL_KILLS;
}

/* 0 if the kernel does not say. */
static unsigned usable_cpus(void)
{
    static cpu_set_t set[64]; /* the kernel refuses if it has more CPUs than fit */
    return may_ask_for_cpus() && sched_getaffinity(0, sizeof set, set) == 0
               ? (unsigned)CPU_COUNT_S(sizeof set, set)
               : 0;
}

static void pauses(finding *f, const char *root)
{
    (void)root;
    enum { SPIN_NS = 8000 };
    if (!may_ask_for_cpus()) {
        f->offer = NOT_KNOWN;
        FOUND(f, "a filter kills for sched_getaffinity()");
        f->choice = "asks for its CPUs at a thread's first wait, and the program dies of it";
        f->change = "allow sched_getaffinity() in the sandbox";
        return;
    }
    uint32_t count = pawl_pauses(SPIN_NS);
    f->offer = count > 0 ? OFFERED : NOT_OFFERED;
    if (count > 0)
        FOUND(f, "a pause takes about %.0f ns", (double)SPIN_NS / count);
    else
        FOUND(f, "this thread is bound to the only CPU of the process");
    f->choice =
        count > 0 ? "a thread spins for 8 us before it sleeps" : "threads do not spin, they sleep at once";
    f->change = count > 0 ? "PAWL_WAIT=spin or yield, or pawl_set_wait()" : "let the process have more CPUs";
}

static void policy(finding *f, const char *root)
{
    static const char *const names[] = {
        [PAWL_WAIT_SPIN] = "spin", [PAWL_WAIT_YIELD] = "yield", [PAWL_WAIT_PARK] = "park"};
    static const char *const choices[] = {
        [PAWL_WAIT_SPIN] = "threads never stop looking: only for as many as there are CPUs (not the mutexes)",
        [PAWL_WAIT_YIELD] = "threads give up the CPU between two looks (not the mutexes)",
        [PAWL_WAIT_PARK] = "threads look for a while, then sleep"};
    (void)root;
    pawl_policy now = pawl_get_wait();
    f->offer = OFFERED;
    FOUND(f, "%s%s", names[now], getenv("PAWL_WAIT") != NULL ? ", from PAWL_WAIT" : ", the default");
    f->choice = choices[now];
    f->change = "PAWL_WAIT=spin, yield or park, or pawl_set_wait()";
}

static void numa(finding *f, const char *root)
{
    char text[256];
    unsigned nodes = 0;
    if (read_text(root, "/sys/devices/system/node/online", text, sizeof text))
        nodes = count_in_list(text);
    f->offer = nodes > 1 ? OFFERED : nodes == 1 ? NOT_OFFERED : NOT_KNOWN;
    if (nodes == 0)
        FOUND(f, "the kernel does not say");
    else
        FOUND(f, "%u node%s", nodes, nodes == 1 ? "" : "s");
    f->choice = "no lock depends on nodes";
    f->change = nodes > 1 ? "bind threads that share a lock to one node: numactl --cpunodebind" : NULL;
}

static void cpuset(finding *f, const char *root)
{
    char text[256];
    unsigned usable = usable_cpus(), online = 0;
    if (read_text(root, "/sys/devices/system/cpu/online", text, sizeof text))
        online = count_in_list(text);
    f->offer = usable == 0 || online == 0 ? NOT_KNOWN : usable < online ? OFFERED : NOT_OFFERED;
    if (usable == 0)
        FOUND(f, "the kernel does not say");
    else if (online == 0)
        FOUND(f, "%u CPUs; the kernel does not say of how many", usable);
    else
        FOUND(f, "%u of %u CPUs", usable, online);
    f->choice = "a thread that is bound to one CPU spins only if another is bound elsewhere";
    f->change = f->offer == OFFERED ? "taskset, or the cpuset of the cgroup" : NULL;
}

static void quota(finding *f, const char *root)
{
    char where[160] = "", text[256];
    double cpus = cgroup_quota(root, where, sizeof where);
    unsigned usable = usable_cpus();
    bool known = read_text(root, "/proc/self/cgroup", text, sizeof text);
    f->offer = cpus >= 0 ? OFFERED : known ? NOT_OFFERED : NOT_KNOWN;
    f->warning = cpus >= 0 && cpus < usable;
    if (cpus < 0)
        FOUND(f, "%s", known ? "none" : "/proc/self/cgroup does not say");
    else
        FOUND(f, "%g CPUs of time (%s)", cpus, where);
    f->choice = f->warning ? "none: a lock's owner may be stopped for most of a period, and waiters with it"
                : f->offer == NOT_KNOWN ? "none"
                                        : "none is needed";
    f->change = f->warning
                    ? "raise it to the number of CPUs, or bind the program to as many as it has time for"
                    : NULL;
}

static void hint(finding *f, const char *root)
{
    (void)root;
    static const struct {
        offer offer;
        const char *found, *change;
    } states[] = {
        [PAWL_HINT_NONE] = {NOT_OFFERED, "no service", "pawl hint start"},
        [PAWL_HINT_UNWANTED] = {NOT_KNOWN, "not asked, because of PAWL_HINT=off", "unset PAWL_HINT"},
        [PAWL_HINT_SILENT] = {NOT_OFFERED, "the service does not answer", "pawl hint stop, then start"},
        [PAWL_HINT_WORKS] = {OFFERED, "the service tells who wants a CPU", "PAWL_HINT=off does without"},
    };
    pawl_hint_state s = pawl_hint_find();
    f->offer = states[s].offer;
    FOUND(f, "%s", states[s].found);
    f->choice =
        s == PAWL_HINT_WORKS
            ? "a thread that waits looks longer if nobody wants its CPU, and stops at once if somebody does"
            : "a thread that waits looks equally long in any case";
    f->change = states[s].change;
}

static void timeslice(finding *f, const char *root)
{
    (void)root;
    static const struct {
        offer offer;
        const char *found, *change;
    } states[] = {
        [PAWL_TIMESLICE_NONE] = {NOT_OFFERED, "the kernel has no time slice extension", NULL},
        [PAWL_TIMESLICE_NO_AREA] = {NOT_OFFERED, "the C library has registered no rseq area", NULL},
        [PAWL_TIMESLICE_UNWANTED] = {NOT_KNOWN, "not asked, because of PAWL_TIMESLICE=off",
                                     "unset PAWL_TIMESLICE"},
        [PAWL_TIMESLICE_WORKS] = {OFFERED, "the kernel extends time slices",
                                  "PAWL_TIMESLICE=off does without"},
    };
    pawl_timeslice_state s =
        try_call(SYS_prctl, 79, 1, 0, 0, 0) == CALL_KILLS ? PAWL_TIMESLICE_NONE : pawl_timeslice_find();
    f->offer = states[s].offer;
    FOUND(f, "%s", states[s].found);
    f->choice = s == PAWL_TIMESLICE_WORKS
                    ? "the owner of a contended pawl_mutex asks not to lose its CPU for a few microseconds"
                    : "the owner of a mutex may lose its CPU at any time";
    f->change = states[s].change;
}

const probe probes[] = {
    {"policy", policy},
    {"futex", futex},
    {"membarrier", membarrier},
    {"syscalls", other_calls},
    {"seccomp", seccomp},
    {"spinning", pauses},
    {"line-wait", line_wait},
    {"futex2", futex2},
    {"rseq", rseq},
    {"numa", numa},
    {"cpuset", cpuset},
    {"quota", quota},
    {"hint", hint},
    {"timeslice", timeslice},
    {NULL, NULL},
};
