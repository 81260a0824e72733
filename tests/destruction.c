/* destruction.c - whoever gets the lock next may free it at once */
#include "team.h"

#include <stdlib.h>

enum { THREADS = 3, HOLDS = 4, POISON = 0xDB, BATCH = 64 };

/* A block that its last user frees: the classic use of a lock inside what it protects. */
typedef struct block {
    int users;
    char lock[]; /* pawl_word-aligned: users is padded */
} block;

typedef struct demolition {
    const lock_info *lock;
    size_t rounds;
    size_t size;
    block *blocks[BATCH];
    pthread_barrier_t start, finish;
} demolition;

static void *lock_of(block *b)
{
    return (char *)b + sizeof(uint64_t);
}

/* Under ASan the block really goes, and a late access is reported. Elsewhere it is filled with a pattern,
 * and freed once everybody is out: a late write shows in the pattern. */
static void demolish(const demolition *d, block *b)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)d;
    free(b);
#else
    memset(b, POISON, d->size);
#endif
}

static void check_remains(const demolition *d, block *b)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)d, (void)b;
#else
    for (size_t i = 0; i < d->size; i++)
        CHECK(((unsigned char *)b)[i] == POISON, "byte %zu of a dead block was written", i);
    free(b);
#endif
}

/* Everyone holds the block's lock a few times; the last hold is the last use. */
static void use(const demolition *d, block *b)
{
    for (int i = 0; i < HOLDS; i++) {
        lock_ctx c;
        d->lock->lock(lock_of(b), &c);
        bool last = --b->users == 0;
        d->lock->unlock(lock_of(b), &c);
        if (!last)
            continue;
        if (d->lock->destroy != NULL)
            d->lock->destroy(lock_of(b));
        demolish(d, b);
    }
}

static void work(int me, void *arg)
{
    demolition *d = arg;
    for (size_t round = 0; round < d->rounds; round++) {
        if (me == 0)
            for (int i = 0; i < BATCH; i++) {
                d->blocks[i] = calloc(1, d->size);
                d->blocks[i]->users = THREADS * HOLDS;
            }
        pthread_barrier_wait(&d->start);
        for (int i = 0; i < BATCH; i++)
            use(d, d->blocks[i]);
        pthread_barrier_wait(&d->finish);
        if (me == 0)
            for (int i = 0; i < BATCH; i++)
                check_remains(d, d->blocks[i]);
    }
}

static void last_user_may_free(const lock_info *lock)
{
    demolition d = {.lock = lock, .rounds = scaled(200), .size = sizeof(uint64_t) + lock->size};
    pthread_barrier_init(&d.start, NULL, THREADS);
    pthread_barrier_init(&d.finish, NULL, THREADS);
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
