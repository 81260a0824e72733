/* shorthand.h - short names, for programs that are mostly atomics */
#pragma once
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define AR memory_order_acq_rel
#define SC memory_order_seq_cst

#define load(p, o) atomic_load_explicit(p, o)
#define store(p, v, o) atomic_store_explicit(p, v, o)
#define swap(p, v, o) atomic_exchange_explicit(p, v, o)
#define add(p, v, o) atomic_fetch_add_explicit(p, v, o)

static inline void futex_wait(_Atomic int *p, int value)
{
    syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static inline void futex_wake(_Atomic int *p, int count)
{
    syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
