/* epoch.c - which process this is, and which thread */
#include "epoch.h"
#include "preload/glibc.h"
#include "preload/stats/stats.h"
#include "src/debug.h"

#include "src/fork.h"
#include "src/signals.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { UNKNOWN, BEGINNING, BEGUN };
enum { PAST = 8 };

union epoch_page epoch_page __attribute__((aligned(sizeof(union epoch_page))));
__thread thread self __attribute__((tls_model("initial-exec")));

static uint32_t latest; /* the epoch that began last, here or in the parent */
static bool wiped;      /* the kernel wipes epoch_page in a child            */
static enum { FAST, COUNTED, SLOW } paths;
static uint32_t past[PAST]; /* the tids of the forking thread in the last epochs */

static uint32_t after(uint32_t epoch)
{
    uint32_t number = epoch >> META_EPOCH_SHIFT;
    return (number + 2 == META_EPOCHS ? 1 : number + 1) << META_EPOCH_SHIFT;
}

static void open_paths(epoch *e)
{
    uint64_t head = (uint64_t)latest << 32;
    atomic_store_explicit(&e->normal, paths == FAST ? head : 0, memory_order_relaxed);
    atomic_store_explicit(&e->counted, paths == COUNTED ? head : 0, memory_order_relaxed);
}

static void begin(epoch *e)
{
    if (latest != 0)
        pawl_fork_process();
    else
        wiped = madvise(&epoch_page, sizeof epoch_page, MADV_WIPEONFORK) == 0;
    if (stats_on)
        stats_table_renew();
    latest = after(latest);
    open_paths(e);
    atomic_store_explicit(&e->now, latest, memory_order_release);
    atomic_store_explicit(&e->state, BEGUN, memory_order_release);
}

/* The first thread begins the epoch, the others wait. */
static uint32_t begin_once(epoch *e)
{
    uint32_t unknown = UNKNOWN;
    if (atomic_compare_exchange_strong_explicit(&e->state, &unknown, BEGINNING, memory_order_acquire,
                                                memory_order_acquire))
        begin(e);
    while (atomic_load_explicit(&e->state, memory_order_acquire) != BEGUN)
        sched_yield();
    return atomic_load_explicit(&e->now, memory_order_relaxed);
}

static void learn_my_tid(uint32_t now)
{
    if (self.epoch != 0) {
        past[(self.epoch >> META_EPOCH_SHIFT) % PAST] = self.tid;
        self.forked = true;
        pawl_fork_thread();
    }
    self.tid = glibc_tid();
    self.epoch = now;
    self.ready = self.tid;
}

/* Signals are blocked: a handler that locks would wait for the thread it has interrupted. */
static uint32_t begin_or_join(void)
{
    int before = errno;
    pawl_signals_block();
    uint32_t now = begin_once(&epoch_page.epoch);
    if (self.epoch != now)
        learn_my_tid(now);
    pawl_signals_restore();
    errno = before;
    return now;
}

uint32_t epoch_now(void)
{
    return epoch_is_known() ? self.epoch : begin_or_join();
}

/* The present first: if a handler forks between the two, the caller's tid was compared, or is among those of the past. */
bool is_my_tid(uint32_t tid, uint32_t meta)
{
    if (tid == self.tid)
        return true;
    atomic_signal_fence(memory_order_seq_cst);
    bool from_before = self.forked && tid != 0 && (meta & META_EPOCH) != self.epoch;
    return from_before && past[(meta >> META_EPOCH_SHIFT) % PAST] == tid;
}

void disable_fast_paths(void)
{
    paths = SLOW;
    epoch_now();
    open_paths(&epoch_page.epoch);
}

void count_in_fast_paths(void)
{
    if (paths == FAST)
        paths = COUNTED;
    epoch_now();
    open_paths(&epoch_page.epoch);
}

/* After debug mode's constructor, which reads the environment. */
__attribute__((constructor(102))) static void debug_begin(void)
{
    if (pawl_debug_on)
        disable_fast_paths();
}

/* Begins the child's epoch before fork() returns, if no other atfork handler has locked and so begun it. Where the
 * kernel does not wipe, this is the only notice of a fork. */
static void in_child(void)
{
    if (!wiped)
        memset(&epoch_page.epoch, 0, sizeof(epoch));
    epoch_now();
}

__attribute__((constructor(101))) static void expect_forks(void)
{
    glibc();
    epoch_now();
    pthread_atfork(NULL, NULL, in_child);
}
