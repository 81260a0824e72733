/* abseil.cc - absl::Mutex and absl::CondVar */
#include "bench/queue.h"

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

static inline void wait(absl::CondVar *c, absl::Mutex *m)
{
    c->Wait(m);
}

static inline void signal(absl::CondVar *c)
{
    c->Signal();
}

BENCH_PLAIN_COND(mutex, absl::CondVar, wait, signal)

static inline void bench_mutex_cond_init(absl::CondVar *c)
{
    new (c) absl::CondVar;
}

BENCH_QUEUE_LOOPS(mutex)

extern "C" const bench_lock bench_set_abseil[] = {
    BENCH_LOCK(mutex, "abseil", true, BENCH_SLEEPS),
    BENCH_END,
};

extern "C" const bench_queue bench_queues_abseil[] = {
    BENCH_QUEUE(mutex, "abseil", true, BENCH_SLEEPS),
    BENCH_QUEUE_END,
};
