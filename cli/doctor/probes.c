/* probes.c - one function for each thing that a machine may offer */
#include "doctor.h"

#include "src/hardware.h"
#include "src/park/fence.h"
#include "src/park/futex.h"
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
    _Atomic(uint32_t) word = 1;
    long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); /* nobody sleeps there */
    f->offer = woken == 0 ? OFFERED : NOT_OFFERED;
    f->warning = woken != 0;
    FOUND(f, "futex(): %s", woken == 0 ? "works" : strerror(errno));
    f->choice = woken == 0 ? "threads that wait for long sleep on futexes"
                           : "threads that should sleep return at once and look again: they burn CPU";
    f->change = woken == 0 ? NULL : "allow futex() in the sandbox";
}

static void membarrier(finding *f, const char *root)
{
    (void)root;
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    bool has = commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
    bool uses = pawl_uses_membarrier();
    f->offer = has ? OFFERED : NOT_OFFERED;
    f->warning = !has;
    if (commands < 0)
        FOUND(f, "membarrier(): %s", strerror(errno));
    else
        FOUND(f, "%s", has ? "private expedited" : "no private expedited command");
    if (uses)
        f->choice =
            "a thread that goes to sleep pays for the fence, unlock pays for none; if threads spend a "
            "quarter of a CPU on it, every unlock of a lock with waiters on words fences from then on";
    else if (getenv("PAWL_NO_MEMBARRIER") != NULL)
        f->choice = "not used, because PAWL_NO_MEMBARRIER is set: every unlock of a lock with waiters on "
                    "words fences";
    else if (has)
        f->choice =
            "not used, because a seccomp filter may kill for it: every unlock of a lock with waiters on "
            "words fences";
    else
        f->choice = "every unlock of a lock with waiters on words fences";
    f->change = uses  ? "PAWL_NO_MEMBARRIER=1 does without"
                : has ? "unset PAWL_NO_MEMBARRIER, and start without a seccomp filter"
                      : "a kernel since 4.14 with CONFIG_MEMBARRIER, or a sandbox that allows the call";
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
    long result = syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0);
    bool has = result == 0 || errno != ENOSYS;
    f->offer = has ? OFFERED : NOT_OFFERED;
    FOUND(f, "%s", has ? "futex_waitv()" : "no futex_waitv()");
    f->choice = "not used: a thread waits for one word at a time, and futex() serves that";
}

static void rseq(finding *f, const char *root)
{
    (void)root;
    unsigned long size = getauxval(AT_RSEQ_FEATURE_SIZE);
    errno = 0;
    bool has = size != 0 || syscall(SYS_rseq, NULL, 0, 0, 0) == 0 || errno != ENOSYS;
    f->offer = has ? OFFERED : NOT_OFFERED;
    if (size != 0)
        FOUND(f, "%lu bytes of features", size);
    else
        FOUND(f, "%s", has ? "restartable sequences, without further features" : "no restartable sequences");
    f->choice = "not used: no lock of Pawl keeps state per CPU";
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

static void pauses(finding *f, const char *root)
{
    (void)root;
    enum { SPIN_NS = 8000 };
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

static unsigned usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
}

static void cpuset(finding *f, const char *root)
{
    char text[256];
    unsigned usable = usable_cpus(), online = 0;
    if (read_text(root, "/sys/devices/system/cpu/online", text, sizeof text))
        online = count_in_list(text);
    f->offer = usable == 0 || online == 0 ? NOT_KNOWN : usable < online ? OFFERED : NOT_OFFERED;
    if (online == 0)
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
                           : "none is needed";
    f->change = f->warning
                    ? "raise it to the number of CPUs, or bind the program to as many as it has time for"
                    : NULL;
}

const probe probes[] = {
    {"policy", policy},   {"futex", futex},         {"membarrier", membarrier}, {"seccomp", seccomp},
    {"spinning", pauses}, {"line-wait", line_wait}, {"futex2", futex2},         {"rseq", rseq},
    {"numa", numa},       {"cpuset", cpuset},       {"quota", quota},           {NULL, NULL},
};
