/* abseil.cc - absl::Mutex */
#include "bench/loops.h"

#include <absl/synchronization/mutex.h>
#include <new>

static inline void lock(absl::Mutex *m)
{
    m->Lock();
}

static inline void unlock(absl::Mutex *m)
{
    m->Unlock();
}

BENCH_PLAIN(mutex, absl::Mutex, lock, unlock)

static inline void bench_mutex_init(absl::Mutex *m)
{
    new (m) absl::Mutex;
}

static inline void bench_mutex_destroy(absl::Mutex *m)
{
    m->~Mutex();
}

BENCH_LOOPS(mutex)

extern "C" const bench_lock bench_set_abseil[] = {
    BENCH_LOCK(mutex, "abseil", true, BENCH_SLEEPS),
    BENCH_END,
};
