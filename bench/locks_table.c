/* locks_table.c - all locks that can be measured
 *
 * BENCH_PEERS is what the build found: PEER(glibc) PEER(ck) ... A peer is a file in peers/ with a set of its locks, and
 * its name in bench/meson.build.
 */
#include "lock.h"

#include <string.h>

extern const bench_lock bench_set_pawl[];
#define PEER(name) extern const bench_lock bench_set_##name[];
BENCH_PEERS
#undef PEER

static const bench_lock *const sets[] = {bench_set_pawl,
#define PEER(name) bench_set_##name,
                                         BENCH_PEERS
#undef PEER
};

enum { MOST = 256 };

static size_t add(const bench_lock **to, const bench_lock *set, size_t room)
{
    size_t added = 0;
    while (set[added].name != NULL && added < room) {
        to[added] = &set[added];
        added++;
    }
    return added;
}

const bench_lock *const *bench_locks(size_t *count)
{
    static const bench_lock *all[MOST];
    static size_t known;
    size_t added = 0;
    for (size_t s = 0; known == 0 && s < sizeof sets / sizeof sets[0]; s++)
        added += add(all + added, sets[s], MOST - added);
    known = known > 0 ? known : added;
    *count = known;
    return all;
}

const bench_lock *bench_lock_find(const char *name)
{
    if (strcmp(name, "pthread") == 0)
        name = "glibc";
    size_t count;
    const bench_lock *const *locks = bench_locks(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(locks[i]->name, name) == 0)
            return locks[i];
    return NULL;
}
