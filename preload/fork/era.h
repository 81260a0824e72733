/* era.h - which process this is, and which thread
 *
 * An era begins with a process and ends where it forks a child: there, the threads that wait for a mutex do not exist,
 * and every thread's id is another. Each mutex says of which era its state is (layout.h); one of an era gone by is
 * made new before it is used (settle.c). That costs the mutex that is not contended one comparison with a word that
 * the kernel zeroes in a child (MADV_WIPEONFORK), so that nobody needs to be told of the fork.
 */
#pragma once

#include "preload/mutex/layout.h"

typedef struct era {
    _Atomic(uint64_t) normal; /* `head` of a normal mutex of this era; 0: no fast path, ask era_now()  */
    _Atomic(uint32_t) now;    /* the era, where it is in `meta`; 0: not begun                          */
    _Atomic(uint32_t) state;
} era;

typedef struct thread {
    uint32_t
        ready; /* its tid, if it may take a fast path: not while it is in one, for a signal handler's sake */
    uint32_t tid; /* 0: not known yet                                        */
    uint32_t era; /* in which that is its tid                                */
    bool forked;  /* it was there before this era began                      */
    bool async;   /* it may be cancelled at any instruction (cancel.h)       */
} thread;

/* On pages of its own, of whatever size a page may be. */
#ifdef __x86_64__
#define ERA_BYTES 4096
#else
#define ERA_BYTES 65536
#endif
union era_pages {
    era era;
    char pages[ERA_BYTES];
};
extern union era_pages era_pages;
extern __thread thread self __attribute__((tls_model("initial-exec")));

static inline void thread_begin(void)
{
    self.ready = 0;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void thread_end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    self.ready = self.tid;
}

/* The era, begun if need be; afterwards the caller's `self` is of it. */
uint32_t era_now(void);

/* From now on, in this process and its children: statistics, debug mode and cancel.c want to be asked. */
void era_without_fast_paths(void);

/* Whether this thread was the one with that tid in the era of that `meta`, before a fork. */
bool era_was_me(uint32_t tid, uint32_t meta);

/* A normal mutex of this era of a thread that is known. */
static inline bool is_plain(const body *b)
{
    uint64_t normal = atomic_load_explicit(&era_pages.era.normal, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&b->head, memory_order_relaxed) & ~(uint64_t)KIND_ELISION;
    return PAWL_LIKELY(head == normal) && PAWL_LIKELY(normal != 0);
}

/* A recursive one, locked or not, however deep. */
static inline bool is_plain_recursive(const body *b)
{
    uint64_t normal = atomic_load_explicit(&era_pages.era.normal, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&b->head, memory_order_relaxed);
    head &= ~((uint64_t)META_DEPTH << 32 | KIND_ELISION);
    return head == (normal | KIND_RECURSIVE) && normal != 0;
}
