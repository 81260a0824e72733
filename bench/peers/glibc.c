/* glibc.c - the C library's mutexes and spinlock, for comparison */
#include "bench/queue.h"

#include <pthread.h>

BENCH_PLAIN(normal, pthread_mutex_t, pthread_mutex_lock, pthread_mutex_unlock)
BENCH_NO_INIT(normal) /* all-zero is its initialiser */

static inline void bench_normal_destroy(pthread_mutex_t *l)
{
    pthread_mutex_destroy(l);
}

BENCH_LOOPS(normal)

BENCH_PLAIN_COND(normal, pthread_cond_t, pthread_cond_wait, pthread_cond_signal)
BENCH_NO_COND_INIT(normal)
BENCH_QUEUE_LOOPS(normal)

#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP /* other C libraries have none */
BENCH_PLAIN(adaptive, pthread_mutex_t, pthread_mutex_lock, pthread_mutex_unlock)

static inline void bench_adaptive_init(pthread_mutex_t *l)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(l, &a);
    pthread_mutexattr_destroy(&a);
}

static inline void bench_adaptive_destroy(pthread_mutex_t *l)
{
    pthread_mutex_destroy(l);
}

BENCH_LOOPS(adaptive)
#endif

BENCH_PLAIN(spin, pthread_spinlock_t, pthread_spin_lock, pthread_spin_unlock)

static inline void bench_spin_init(bench_spin *l)
{
    pthread_spin_init(l, PTHREAD_PROCESS_PRIVATE);
}

static inline void bench_spin_destroy(bench_spin *l)
{
    pthread_spin_destroy(l);
}

BENCH_LOOPS(spin)

extern const bench_lock bench_set_glibc[];
const bench_lock bench_set_glibc[] = {
    BENCH_LOCK(normal, BENCH_LIBC, true, BENCH_SLEEPS),
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    BENCH_LOCK(adaptive, BENCH_LIBC "_adaptive", true, BENCH_SLEEPS),
#endif
    BENCH_LOCK(spin, BENCH_LIBC "_spin", true, BENCH_SPINS),
    BENCH_END,
};

extern const bench_queue bench_queues_glibc[];
const bench_queue bench_queues_glibc[] = {
    BENCH_QUEUE(normal, BENCH_LIBC, true, BENCH_SLEEPS),
    BENCH_QUEUE_END,
};
