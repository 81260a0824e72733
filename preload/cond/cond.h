/* cond.h - what a pthread_cond_t holds: a pawl_cond in its first bytes, clock and sharing in __wrefs as in glibc */
#pragma once

#include <pawl/cond.h>

#include <pthread.h>
#include <time.h>

/* Bits of __wrefs. */
enum { COND_SHARED = 1, COND_MONOTONIC = 2 };

static inline pawl_cond *cond_in(pthread_cond_t *c)
{
    return (pawl_cond *)c;
}

static inline bool cond_is_glibcs(const pthread_cond_t *c)
{
    return (__atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) & COND_SHARED) != 0;
}

static inline int cond_clock(const pthread_cond_t *c)
{
    return c->__data.__wrefs & COND_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

_Static_assert(sizeof(pawl_cond) <= offsetof(pthread_cond_t, __data.__wrefs), "ours leaves glibc's alone");
