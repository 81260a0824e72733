/* epoch.h - which process this is, and which thread
 *
 * A fork's child begins a new epoch: the threads that waited for a mutex do not exist there, and the thread that forked
 * has another tid. Each mutex carries the epoch of its last use (layout.h); one from an earlier epoch is adopted before it
 * is used (adopt.c). An uncontended mutex pays one comparison for this, with a word that the kernel zeroes in the child
 * (MADV_WIPEONFORK), so that no call has to announce the fork.
 */
#pragma once

#include "preload/mutex/layout.h"

typedef struct epoch {
    _Atomic(uint64_t) normal;  /* `head` of a normal mutex of this epoch; 0: no fast path  */
    _Atomic(uint64_t) counted; /* the same while statistics are kept                       */
    _Atomic(uint32_t) now;     /* the epoch, in place for `meta`; 0: not begun             */
    _Atomic(uint32_t) state;
} epoch;

typedef struct thread {
    uint32_t
        ready; /* its tid, or 0 while it is in a lock operation (lock.h): no fast path for a handler then */
    uint32_t tid;   /* 0: not known yet                                  */
    uint32_t epoch; /* in which that is its tid                          */
    bool forked;    /* it is the thread that forked into this process    */
    bool async;     /* it may be cancelled at any instruction (cancel.h) */
    void *row;      /* of the lock it used last, or NULL (stats.c)       */
} thread;

/* The kernel wipes whole pages: as large as a page may be. */
#ifdef __x86_64__
#define EPOCH_BYTES 4096
#else
#define EPOCH_BYTES 65536
#endif
union epoch_page {
    epoch epoch;
    char pages[EPOCH_BYTES];
};
extern union epoch_page epoch_page;
extern __thread thread self __attribute__((tls_model("initial-exec")));

/* Around a lock operation, if it uses per-thread state. */
static inline void operation_begin(bool uses_thread)
{
    if (uses_thread)
        self.ready = 0;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void operation_end(bool uses_thread)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (uses_thread)
        self.ready = self.tid;
}

/* Returns the epoch, begun if need be, and brings the caller's `self` up to date. */
uint32_t epoch_now(void);

/* For good, here and in children: debug mode and cancel.c must see every call. */
void disable_fast_paths(void);

/* For good: the fast paths tell statistics of every call. */
void count_in_fast_paths(void);

/* Whether this is the caller's tid, or was in the epoch of `meta`, before a fork. In the middle of a call, too: a handler
 * may fork there, and the call goes on in the child. */
bool is_my_tid(uint32_t tid, uint32_t meta);

static inline bool has_head(const mutex *m, uint64_t wanted, uint64_t whatever)
{
    uint64_t head = atomic_load_explicit(&m->head, memory_order_relaxed) & ~whatever;
    return PAWL_LIKELY(head == wanted) && PAWL_LIKELY(wanted != 0);
}

/* The epoch has begun, and the caller's `self` is up to date. */
static inline bool epoch_is_known(void)
{
    uint32_t now = atomic_load_explicit(&epoch_page.epoch.now, memory_order_acquire);
    return PAWL_LIKELY(now != 0) && PAWL_LIKELY(self.epoch == now);
}

/* A normal mutex of this epoch. */
static inline bool is_plain(const mutex *m)
{
    return has_head(m, atomic_load_explicit(&epoch_page.epoch.normal, memory_order_relaxed), KIND_ELISION);
}

/* The same or one of another type that is not relocked, and statistics are kept. */
static inline bool is_plain_counted(const mutex *m)
{
    return has_head(m, atomic_load_explicit(&epoch_page.epoch.counted, memory_order_relaxed),
                    KIND_ELISION | KIND_TYPE);
}

/* A recursive one, relocked or not. */
static inline bool is_plain_recursive(const mutex *m)
{
    uint64_t normal = atomic_load_explicit(&epoch_page.epoch.normal, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&m->head, memory_order_relaxed);
    head &= ~((uint64_t)META_DEPTH << 32 | KIND_ELISION);
    return head == (normal | KIND_RECURSIVE) && normal != 0;
}
