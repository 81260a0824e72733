/* destruction.c - whoever gets the lock next may free it at once */
#include "sanitized.h"
#include "team.h"

#include <stdlib.h>

enum { THREADS = 3, HOLDS = 4, POISON = 0xDB, BATCH = 64 };

/* A block that its last user frees: the classic use of a lock inside what it protects. */
typedef struct block {
    uint64_t users; /* a word, so that the lock behind it is aligned */
    char lock[];
} block;

typedef struct demolition {
    const lock_info *lock;
    size_t rounds;
    size_t size;
    block *blocks[BATCH];
    atomic_int begun, finished; /* threads, over all rounds */
} demolition;

/* Under ASan the block is really freed, and a late access is reported. Elsewhere it is filled with a pattern and
 * freed once everybody is out: a late write shows in the pattern. */
static void demolish(const demolition *d, block *b)
{
#ifdef SANITIZED
    (void)d;
    free(b);
#else
    memset(b, POISON, d->size);
#endif
}

static void check_remains(const demolition *d, block *b)
{
#ifdef SANITIZED
    (void)d, (void)b;
#else
    for (size_t i = 0; i < d->size; i++)
        CHECK(((unsigned char *)b)[i] == POISON, "byte %zu of a dead block was written", i);
    free(b);
#endif
}

/* Everyone is awake, so that they come together. */
static void meet(atomic_int *met, size_t round)
{
    atomic_fetch_add(met, 1);
    await(met, THREADS * (int)(round + 1));
}

/* Everyone holds the block's lock a few times; the last hold is the last use. */
static void use(const demolition *d, block *b, uint64_t *random)
{
    for (int i = 0; i < HOLDS; i++) {
        lock_ctx c;
        d->lock->lock(b->lock, &c);
        bool last = --b->users == 0;
        if (draw(random) % 8 == 0)
            sched_yield(); /* the others queue up */
        d->lock->unlock(b->lock, &c);
        if (!last)
            continue;
        if (d->lock->destroy != NULL)
            d->lock->destroy(b->lock);
        demolish(d, b);
    }
}

static void work(int me, void *arg)
{
    demolition *d = arg;
    uint64_t random = (uint64_t)me + 1;
    for (size_t round = 0; round < d->rounds; round++) {
        if (me == 0)
            for (int i = 0; i < BATCH; i++) {
                d->blocks[i] = calloc(1, d->size);
                d->blocks[i]->users = THREADS * HOLDS;
            }
        meet(&d->begun, round);
        for (int i = 0; i < BATCH; i++)
            use(d, d->blocks[i], &random);
        meet(&d->finished, round);
        if (me == 0)
            for (int i = 0; i < BATCH; i++)
                check_remains(d, d->blocks[i]);
    }
}

static void last_user_may_free(const lock_info *lock)
{
    demolition d = {.lock = lock, .rounds = scaled(300), .size = sizeof(block) + lock->size};
    team_run(THREADS, work, &d);
}

static bool is_prompt(const lock_info *lock)
{
    return lock->prompt;
}

static const promise promises[] = {
    {.name = "last_user_may_free", .check = last_user_may_free, .concerns = is_prompt},
};

HARNESS_MAIN(promises)
