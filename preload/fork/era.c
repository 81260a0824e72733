/* era.c - which process this is, and which thread */
#include "era.h"
#include "preload/glibc.h"
#include "src/debug.h"

#include "src/fork.h"
#include "src/signals.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { UNKNOWN, BEGINNING, BEGUN };
enum { PAST = 8 };

union era_pages era_pages __attribute__((aligned(sizeof(union era_pages))));
__thread thread self __attribute__((tls_model("initial-exec")));

static uint32_t latest; /* the era that began last, in this process or the one it came from */
static bool wiped;      /* by the kernel in a child                                          */
static bool no_fast_paths;
static uint32_t past[PAST]; /* the tid that the forking thread had in each of the last eras      */

static uint32_t after(uint32_t era)
{
    uint32_t number = era >> META_ERA_SHIFT;
    return (number + 2 == META_ERAS ? 1 : number + 1) << META_ERA_SHIFT;
}

static void begin(era *e)
{
    if (latest != 0)
        pawl_fork_process();
    else
        wiped = madvise(&era_pages, sizeof era_pages, MADV_WIPEONFORK) == 0;
    latest = after(latest);
    atomic_store_explicit(&e->normal, no_fast_paths ? 0 : (uint64_t)latest << 32, memory_order_relaxed);
    atomic_store_explicit(&e->now, latest, memory_order_release);
    atomic_store_explicit(&e->state, BEGUN, memory_order_release);
}

/* By whoever comes first; the others wait. */
static uint32_t begun(era *e)
{
    uint32_t unknown = UNKNOWN;
    if (atomic_compare_exchange_strong_explicit(&e->state, &unknown, BEGINNING, memory_order_acquire,
                                                memory_order_acquire))
        begin(e);
    while (atomic_load_explicit(&e->state, memory_order_acquire) != BEGUN)
        sched_yield();
    return atomic_load_explicit(&e->now, memory_order_relaxed);
}

static void know_myself(uint32_t now)
{
    if (self.era != 0) {
        past[(self.era >> META_ERA_SHIFT) % PAST] = self.tid;
        self.forked = true;
        pawl_fork_thread();
    }
    self.tid = glibc_tid();
    self.era = now;
    self.ready = self.tid;
}

/* A signal handler that locks would wait for the thread that it has interrupted. */
static uint32_t begin_or_join(void)
{
    int before = errno;
    pawl_signals_block();
    uint32_t now = begun(&era_pages.era);
    if (self.era != now)
        know_myself(now);
    pawl_signals_restore();
    errno = before;
    return now;
}

uint32_t era_now(void)
{
    uint32_t now = atomic_load_explicit(&era_pages.era.now, memory_order_acquire);
    return PAWL_LIKELY(now != 0 && self.era == now) ? now : begin_or_join();
}

bool era_was_me(uint32_t tid, uint32_t meta)
{
    return self.forked && past[(meta >> META_ERA_SHIFT) % PAST] == tid;
}

void era_without_fast_paths(void)
{
    no_fast_paths = true;
    era_now();
    atomic_store_explicit(&era_pages.era.normal, 0, memory_order_relaxed);
}

/* Debug mode is told of every lock, too. It has read its environment by now. */
__attribute__((constructor(102))) static void debug_begin(void)
{
    if (pawl_debug_on)
        era_without_fast_paths();
}

/* Before fork() returns, unless a handler that was registered earlier has locked something already; and where the
 * kernel does not wipe, the only way to learn of it. */
static void in_child(void)
{
    if (!wiped)
        memset(&era_pages.era, 0, sizeof(era));
    era_now();
}

__attribute__((constructor(101))) static void expect_forks(void)
{
    glibc();
    era_now();
    pthread_atfork(NULL, NULL, in_child);
}
