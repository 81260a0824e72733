/* reentry.c - a signal handler that interrupted its own thread in a bucket of the parking lot */
#include "reentry.h"

#ifdef PAWL_IN_PTHREAD_MUTEX

#include "fatal.h"
#include "park/futex.h"

#include <errno.h>
#include <sys/mman.h>

enum { DEPTH = 2 };             /* a bucket of the thread's, and one of its handler's */
enum { BETWEEN_TRIES = 50000 }; /* nanoseconds */

/* One mmap per task: async-signal-safe, unbounded. */
typedef struct task {
    struct task *before;
    pawl_deferred *what;
    void *object;
} task;

/* Written by this thread and its handlers only. A handler restores all but `deferred`. */
static __thread struct {
    pawl_bucket *in[DEPTH];
    _Atomic(task *) deferred;
    uint8_t depth;
    uint8_t forks;       /* that this thread has come through */
    uint8_t then[DEPTH]; /* the same when it came to those buckets */
} self __attribute__((tls_model("initial-exec")));

/* `depth` first, so that a handler uses the next entry. All this before the bucket is locked, so that the record is
 * never missing. */
void pawl_reentry_begin(pawl_bucket *b)
{
    uint8_t at = self.depth++;
    atomic_signal_fence(memory_order_seq_cst);
    if (at < DEPTH) {
        self.in[at] = b;
        self.then[at] = self.forks;
    }
    atomic_signal_fence(memory_order_seq_cst);
}

/* Runs each task once: a handler in between may run the ones not taken yet, or defer more. Those of before a fork are
 * dropped: they are about threads of the parent, or unlock what whoever uses it next resets for the child. */
static void do_deferred(void)
{
    int before = errno;
    uint8_t forks = self.forks;
    task *t;
    while ((t = atomic_exchange_explicit(&self.deferred, NULL, memory_order_relaxed)) != NULL)
        while (t != NULL) {
            task now = *t;
            munmap(t, sizeof *t);
            if (self.forks == forks)
                now.what(now.object);
            t = now.before;
        }
    errno = before;
}

void pawl_reentry_end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    uint8_t at = self.depth - 1;
    if (at < DEPTH)
        self.in[at] = NULL;
    self.depth = at;
    atomic_signal_fence(memory_order_seq_cst);
    if (PAWL_UNLIKELY(atomic_load_explicit(&self.deferred, memory_order_relaxed) != NULL) && at == 0)
        do_deferred();
}

void pawl_reentry_fork(void)
{
    self.forks++;
    atomic_store_explicit(&self.deferred, NULL, memory_order_relaxed);
}

uint8_t pawl_reentry_forks(void)
{
    return self.forks;
}

bool pawl_reentry_has_forked(void)
{
    uint8_t at = self.depth - 1;
    return at < DEPTH && self.then[at] != self.forks;
}

bool pawl_is_reentry(const volatile void *key)
{
    if (PAWL_LIKELY(self.depth == 0))
        return false;
    const pawl_bucket *b = pawl_bucket_of(key);
    for (int i = 0; i < DEPTH && i < self.depth; i++)
        if (self.in[i] == b)
            return true;
    return false;
}

void pawl_reentry_defer(pawl_deferred *what, void *object)
{
    task *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        pawl_fatal("pawl: out of memory in a signal handler\n");
    t->what = what;
    t->object = object;
    while (!atomic_compare_exchange_weak_explicit(&self.deferred, &t->before, t, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

int pawl_reentry_poll(pawl_try *try, void *lock, int clock, const struct timespec *deadline)
{
    while (!try(lock)) {
        struct timespec now;
        clock_gettime(clock, &now);
        if (deadline != NULL && !pawl_is_before(&now, deadline))
            return ETIMEDOUT;
        pawl_nap(BETWEEN_TRIES);
    }
    return 0;
}

#else
typedef int nothing_to_do;
#endif
