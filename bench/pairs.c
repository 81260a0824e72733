/* pairs.c - times uncontended pairs */
#include "pairs.h"
#include "team.h"
#include "ticks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct timing {
    const bench_lock *lock;
    void *memory;
    uint64_t pairs;
    double ns;
} timing;

static void *pairs_main(void *argument)
{
    timing *t = argument;
    t->lock->pairs(t->memory,
                   t->pairs / 10 + 1); /* first use of the lock, of the thread's state, of the code */
    uint64_t from = pawl_nanoseconds(CLOCK_MONOTONIC);
    t->lock->pairs(t->memory, t->pairs);
    t->ns = (double)(pawl_nanoseconds(CLOCK_MONOTONIC) - from);
    return NULL;
}

/* In a thread of its own: glibc's mutex skips its atomics as long as a process has but one. */
int bench_time_pairs(const bench_lock *lock, uint64_t pairs, double *ns_per_pair)
{
    timing t = {.lock = lock, .memory = bench_sector_alloc(BENCH_LOCK_ROOM), .pairs = pairs};
    if (t.memory == NULL)
        return ENOMEM;
    pthread_t thread;
    lock->init(t.memory);
    int error = pthread_create(&thread, NULL, pairs_main, &t);
    if (error == 0) {
        pthread_join(thread, NULL);
        lock->destroy(t.memory);
        *ns_per_pair = t.ns / (double)pairs;
    }
    free(t.memory);
    return error;
}
