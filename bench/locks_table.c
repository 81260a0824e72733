/* locks_table.c - all locks that can be measured, and all that have a condition variable
 *
 * BENCH_PEERS is what the build found: PEER(glibc) PEER(ck) ... A peer is a file in peers/ with a set of its locks and one
 * of its queues, and its name in bench/meson.build.
 */
#include "lock.h"

#include <string.h>

extern const bench_lock bench_set_pawl[];
extern const bench_queue bench_queues_pawl[];
#define PEER(name)                                                                                           \
    extern const bench_lock bench_set_##name[];                                                              \
    extern const bench_queue bench_queues_##name[];
BENCH_PEERS
#undef PEER

static const bench_lock *const sets[] = {bench_set_pawl,
#define PEER(name) bench_set_##name,
                                         BENCH_PEERS
#undef PEER
};

static const bench_queue *const queue_sets[] = {bench_queues_pawl,
#define PEER(name) bench_queues_##name,
                                                BENCH_PEERS
#undef PEER
};

enum { MOST = 256, SETS = sizeof sets / sizeof sets[0] };

/* The members of all sets, in one array. */
#define COLLECT(sets, all, known)                                                                            \
    do {                                                                                                     \
        for (size_t s = 0; known == 0 && s < SETS; s++)                                                      \
            for (size_t i = 0; sets[s][i].name != NULL && added < MOST; i++)                                 \
                all[added++] = &sets[s][i];                                                                  \
        known = known > 0 ? known : added;                                                                   \
    } while (0)

const bench_lock *const *bench_locks(size_t *count)
{
    static const bench_lock *all[MOST];
    static size_t known;
    size_t added = 0;
    COLLECT(sets, all, known);
    *count = known;
    return all;
}

const bench_queue *const *bench_queues(size_t *count)
{
    static const bench_queue *all[MOST];
    static size_t known;
    size_t added = 0;
    COLLECT(queue_sets, all, known);
    *count = known;
    return all;
}

const bench_lock *bench_lock_find(const char *name)
{
    if (strcmp(name, "pthread") == 0)
        name = BENCH_LIBC;
    size_t count;
    const bench_lock *const *locks = bench_locks(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(locks[i]->name, name) == 0)
            return locks[i];
    return NULL;
}

const bench_queue *bench_queue_find(const char *name)
{
    size_t count;
    const bench_queue *const *queues = bench_queues(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(queues[i]->name, name) == 0)
            return queues[i];
    return NULL;
}
