/* hint.c - finds the service of `pawl hint`, and reads what it publishes
 *
 * Whether there is a service is decided when the process starts, because later a sandbox may kill for the question. The
 * rest is done by threads that have slept a few times, when they unlock or before they queue up. No descriptor stays
 * open.
 */
#include "clock.h"
#include "hint.h"

#include "../fork.h"
#include "../sandbox.h"

#ifndef PAWL_HINT_CPU
_Atomic(pawl_hint *) pawl_hint_now;
#endif

#if defined(__linux__) && !defined(PAWL_HINT_CPU)

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* How much longer to look, in looks, if nobody wants this CPU and another thread of the process runs. */
#ifndef PAWL_HINT_LONGER
#define PAWL_HINT_LONGER 16
#endif

/* Between a process's first two tries to reach the service, in milliseconds. */
#ifndef PAWL_HINT_PAUSE
#define PAWL_HINT_PAUSE 50
#endif

/* For the service, in microseconds. Whoever asks may have a lock that others wait for, `pawl doctor` has not. The kernel
 * rounds it up to its tick. */
enum { BRIEFLY = 2000, AT_LEISURE = 1000000 };
#ifndef PAWL_HINT_PATIENCE
#define PAWL_HINT_PATIENCE BRIEFLY
#endif

enum {
    SLEEPS = 16,     /* of a thread, before it registers; and between two tries     */
    MOST_MS = 64000, /* the longest such pause                                      */
    MAPPINGS = 32    /* of a process: one per start of the service, never unmapped, */
};                   /* because others may be reading                               */

static pawl_hint mappings[MAPPINGS];
static char path[sizeof((struct sockaddr_un *)NULL)->sun_path];

static struct {
    _Atomic(uint32_t) wanted;   /* there was a service when the process started      */
    _Atomic(uint32_t) busy;     /* a thread talks to it                              */
    uint64_t service;           /* whose it is; this and the rest belong to the busy */
    uint32_t next_ms, pause_ms; /* no try before                                     */
    uint32_t used;              /* of mappings                                       */
    uint32_t last;              /* number given to one                               */
    _Atomic(int) open[3];       /* descriptors, plus one: a child of fork closes them */
} hint;

static int opened(int which, int file)
{
    atomic_store_explicit(&hint.open[which], file + 1, memory_order_relaxed);
    return file;
}

static void close_opened(int which)
{
    int file = atomic_exchange_explicit(&hint.open[which], 0, memory_order_relaxed) - 1;
    if (file >= 0)
        syscall(SYS_close, file);
}

static __thread struct {
    uint32_t number; /* of the hint that the thread is registered for */
    uint32_t slot;   /* of the thread, in its sheet                   */
    uint32_t seen;   /* a CPU on which another thread ran             */
    uint32_t sleeps;
    bool talks; /* to the service */
} me __attribute__((tls_model("initial-exec")));

static uint32_t milliseconds(void)
{
    return (uint32_t)(pawl_nanoseconds(CLOCK_MONOTONIC) / 1000000);
}

/* ---- reading */

static bool is_wanted(const pawl_hint *h, uint32_t cpu)
{
    return atomic_load_explicit(&h->cpus->cpu[cpu].ready, memory_order_relaxed) > 1;
}

pawl_cpu pawl_hint_ask_cpu(const pawl_hint *h)
{
    int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= PAWL_HINT_CPUS)
        return PAWL_CPU_UNKNOWN;
    return is_wanted(h, (uint32_t)cpu) ? PAWL_CPU_WANTED : PAWL_CPU_OURS;
}

/* Perhaps the owner of what this thread waits for. Begins where one ran the last time: on a large machine the answer is
 * in many lines. */
static bool others_run(const pawl_hint *h)
{
    uint32_t mine = (uint32_t)sched_getcpu(),
             count = atomic_load_explicit(&h->cpus->count, memory_order_relaxed);
    for (uint32_t i = 0; i < count && i < PAWL_HINT_CPUS; i++, me.seen++) {
        if (me.seen >= count || me.seen >= PAWL_HINT_CPUS)
            me.seen = 0;
        if (me.seen != mine && atomic_load_explicit(&h->sheet->cpu[me.seen], memory_order_relaxed) != 0)
            return true;
    }
    return false;
}

bool pawl_hint_ask(const pawl_hint *h, unsigned looks, unsigned most)
{
    pawl_cpu cpu = pawl_hint_ask_cpu(h);
    if (cpu == PAWL_CPU_WANTED)
        return false;
    return looks < most || (cpu == PAWL_CPU_OURS && looks < most * PAWL_HINT_LONGER && others_run(h));
}

uint32_t pawl_hint_ask_slot(const pawl_hint *h)
{
    return me.number == h->number ? me.slot : 0;
}

/* The CPU on which it ran last, plus one; 0: not known. */
static uint32_t last_cpu(const pawl_hint *h, uint32_t slot)
{
    if (slot >= PAWL_HINT_SLOTS)
        return 0;
    uint32_t last = atomic_load_explicit(&h->sheet->thread[slot], memory_order_relaxed);
    return last <= PAWL_HINT_CPUS ? last : 0;
}

bool pawl_hint_ask_off(const pawl_hint *h, uint32_t slot)
{
    uint32_t last = last_cpu(h, slot);
    return last != 0 && atomic_load_explicit(&h->sheet->cpu[last - 1], memory_order_relaxed) != slot;
}

bool pawl_hint_ask_crowded(const pawl_hint *h, uint32_t slot)
{
    uint32_t last = last_cpu(h, slot);
    return last != 0 && is_wanted(h, last - 1);
}

static bool is_alive(struct pawl_hint_cpus *cpus)
{
    uint32_t age = milliseconds() - atomic_load_explicit(&cpus->heartbeat, memory_order_relaxed);
    return atomic_load_explicit(&cpus->magic, memory_order_relaxed) == PAWL_HINT_MAGIC &&
           atomic_load_explicit(&cpus->version, memory_order_relaxed) == PAWL_HINT_VERSION &&
           (age < PAWL_HINT_STALE_MS ||
            -age < PAWL_HINT_STALE_MS); /* it may have come after our look at the clock */
}

void pawl_hint_check(void)
{
    pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    if (h == NULL || is_alive(h->cpus))
        return;
    atomic_compare_exchange_strong_explicit(&pawl_hint_now, &h, NULL, memory_order_relaxed,
                                            memory_order_relaxed);
}

/* ---- asking; with syscall(), because the C library's functions are cancellation points */

enum { SOCKET, CPUS, SHEET }; /* in hint.open */

typedef struct answer {
    struct pawl_hint_reply reply;
    int files[2]; /* or -1 */
} answer;

/* None of the first three, which a program may have closed and write to all the same. */
static int make_socket(void)
{
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s < 0 || s > STDERR_FILENO)
        return s;
    int above = fcntl(s, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    syscall(SYS_close, s);
    return above;
}

static int connected(long patience_us)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval patience = {patience_us / 1000000, patience_us % 1000000};
    struct ucred service;
    socklen_t size = sizeof service;
    memcpy(to.sun_path, path, sizeof path);
    int s = opened(SOCKET, make_socket());
    if (s < 0)
        return -1;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (syscall(SYS_connect, s, &to, sizeof to) == 0 &&
        getsockopt(s, SOL_SOCKET, SO_PEERCRED, &service, &size) == 0 &&
        (service.uid == 0 || service.uid == geteuid())) /* who else could have it mapped what it likes */
        return s;
    close_opened(SOCKET);
    return -1;
}

static void take_files(struct msghdr *m, int files[2])
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && count <= 2)
            memcpy(files, CMSG_DATA(c), count * sizeof(int));
    }
    opened(CPUS, files[0]);
    opened(SHEET, files[1]);
}

static bool ask(uint32_t what, long patience_us, answer *a)
{
    struct pawl_hint_request request = {PAWL_HINT_MAGIC, PAWL_HINT_VERSION, what, (uint32_t)getpid(),
                                        (uint32_t)syscall(SYS_gettid)};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))];
    struct iovec data = {&a->reply, sizeof a->reply};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    a->files[0] = a->files[1] = -1;
    int s = connected(patience_us);
    if (s < 0)
        return false;
    long size = -1;
    if (syscall(SYS_sendto, s, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0) ==
        sizeof request)
        for (int tries = 3; tries > 0 && (tries == 3 || (size < 0 && errno == EINTR)); tries--)
            size = syscall(SYS_recvmsg, s, &m, MSG_CMSG_CLOEXEC); /* with a time limit, signals end it */
    if (size >= 0)
        take_files(&m, a->files);
    close_opened(SOCKET);
    return size == sizeof a->reply && a->reply.magic == PAWL_HINT_MAGIC &&
           a->reply.version == PAWL_HINT_VERSION && a->reply.status == PAWL_HINT_DONE &&
           request.pid ==
               (uint32_t)getpid(); /* else a signal handler has forked, and this was the parent's */
}

static void close_files(void)
{
    close_opened(CPUS);
    close_opened(SHEET);
}

static void *map(int file, size_t size)
{
    void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    return at != MAP_FAILED ? at : NULL;
}

static bool is_usable(const pawl_hint *h)
{
    return h->cpus != NULL && h->sheet != NULL && is_alive(h->cpus);
}

/* Its number; 0 if nothing can be used. */
static uint32_t use(const answer *a)
{
    pawl_hint *h = hint.used > 0 ? &mappings[hint.used - 1] : NULL;
    if (h == NULL || a->reply.instance != hint.service) {
        if (hint.used == MAPPINGS || a->files[0] < 0 || a->files[1] < 0)
            return 0;
        h = &mappings[hint.used];
        h->cpus = map(a->files[0], sizeof *h->cpus);
        h->sheet = map(a->files[1], sizeof *h->sheet);
        if (!is_usable(h)) {
            if (h->cpus != NULL)
                munmap(h->cpus, sizeof *h->cpus);
            if (h->sheet != NULL)
                munmap(h->sheet, sizeof *h->sheet);
            return 0;
        }
        hint.service = a->reply.instance;
        hint.used++;
        h->number = ++hint.last;
    } else if (!is_usable(h)) /* it answers, but its heart does not beat */
        return 0;
    atomic_store_explicit(&pawl_hint_now, h, memory_order_release); /* H: what it points to */
    return h->number;
}

static bool join(void)
{
    answer a;
    me.number = ask(PAWL_HINT_JOIN, PAWL_HINT_PATIENCE, &a) ? use(&a) : 0;
    me.slot = me.number != 0 ? a.reply.slot : 0;
    close_files();
    return me.number != 0;
}

static void try_to_join(void)
{
    uint32_t now = milliseconds();
    if ((int32_t)(now - hint.next_ms) < 0)
        return;
    int before = errno;
    if (join())
        hint.pause_ms = 0;
    else {
        hint.pause_ms = hint.pause_ms == 0            ? PAWL_HINT_PAUSE
                        : hint.pause_ms < MOST_MS / 2 ? 2 * hint.pause_ms
                                                      : MOST_MS;
        hint.next_ms = milliseconds() + hint.pause_ms;
    }
    errno = before;
}

void pawl_hint_slept(void)
{
    me.sleeps++;
}

void pawl_hint_join(void)
{
    if (PAWL_LIKELY(atomic_load_explicit(&hint.wanted, memory_order_relaxed) == 0) || me.sleeps < SLEEPS)
        return;
    me.sleeps = 0;
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    if ((h != NULL && me.number == h->number) ||
        atomic_exchange_explicit(&hint.busy, 1, memory_order_acquire) != 0) /* J */
        return;
    me.talks = true;
    try_to_join();
    me.talks = false;
    atomic_store_explicit(&hint.busy, 0, memory_order_release); /* J */
}

/* The sheet is the parent's, and so are its registered threads. What is mapped stays: a signal handler may have forked
 * in the middle of a look. */
void pawl_fork_hint(void)
{
    atomic_store_explicit(&pawl_hint_now, NULL, memory_order_relaxed);
    if (!me.talks) { /* whoever talked is not here, but what it had opened is */
        atomic_store_explicit(&hint.busy, 0, memory_order_relaxed);
        close_opened(SOCKET);
        close_files();
    }
    hint.next_ms = milliseconds();
    hint.used = 0;
}

/* PAWL_HINT is "off", or where the socket is. */
__attribute__((constructor(101))) static void find_service(void)
{
    const char *set = secure_getenv("PAWL_HINT");
    const char *at = set != NULL && *set == '/' ? set : PAWL_HINT_SOCKET;
    int before = errno;
    if ((set == NULL || strcmp(set, "off") != 0) && strlen(at) < sizeof path && access(at, W_OK) == 0 &&
        !pawl_in_sandbox()) {
        strcpy(path, at);
        hint.next_ms = milliseconds();
        atomic_store_explicit(&hint.wanted, 1, memory_order_relaxed);
    }
    errno = before;
}

pawl_hint_state pawl_hint_find(void)
{
    const char *set = secure_getenv("PAWL_HINT");
    answer a;
    if (set != NULL && strcmp(set, "off") == 0)
        return PAWL_HINT_UNWANTED;
    if (atomic_load_explicit(&hint.wanted, memory_order_relaxed) == 0)
        return PAWL_HINT_NONE;
    bool works = ask(PAWL_HINT_STATUS, AT_LEISURE, &a);
    close_files();
    return works ? PAWL_HINT_WORKS : PAWL_HINT_SILENT;
}

#else

#ifndef PAWL_HINT_CPU
bool pawl_hint_ask(const pawl_hint *h, unsigned looks, unsigned most)
{
    (void)h;
    return looks < most;
}

pawl_cpu pawl_hint_ask_cpu(const pawl_hint *h)
{
    (void)h;
    return PAWL_CPU_UNKNOWN;
}

uint32_t pawl_hint_ask_slot(const pawl_hint *h)
{
    (void)h;
    return 0;
}

bool pawl_hint_ask_off(const pawl_hint *h, uint32_t slot)
{
    (void)h, (void)slot;
    return false;
}

bool pawl_hint_ask_crowded(const pawl_hint *h, uint32_t slot)
{
    (void)h, (void)slot;
    return false;
}

void pawl_hint_check(void)
{
}

void pawl_hint_slept(void)
{
}

void pawl_hint_join(void)
{
}
#endif

void pawl_fork_hint(void)
{
}

pawl_hint_state pawl_hint_find(void)
{
    return PAWL_HINT_NONE;
}

#endif
