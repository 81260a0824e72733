/* plural.c - many locks at once, released in any order, and by any thread where that is allowed */
#include "generator.h"

#include <semaphore.h>
#include <stdlib.h>

enum { LOCKS = 64, THREADS = 3, THREADS_MOST = 4, CHAIN = 16 };

/* Locks next to each other, of one kind or of all kinds in turn, each with a count that it protects. */
typedef struct bank {
    const lock_info *kind[LOCKS];
    char *l[LOCKS];
    size_t count[LOCKS], expected[THREADS_MOST][LOCKS];
    size_t rounds;
    int locks;    /* to take                                 */
    bool subsets; /* takes some of the locks each time, not all */
    char *memory;
} bank;

static void bank_open(bank *b, const lock_info *lock, size_t rounds)
{
    size_t size = 0;
    *b = (bank){.rounds = rounds, .locks = LOCKS};
    for (int i = 0; i < LOCKS; i++) {
        b->kind[i] = lock != NULL ? lock : &subjects()[i % SUBJECTS];
        size += b->kind[i]->size;
    }
    b->memory = calloc(1, size);
    b->l[0] = b->memory;
    for (int i = 1; i < LOCKS; i++)
        b->l[i] = b->l[i - 1] + b->kind[i - 1]->size;
}

static void bank_close(bank *b)
{
    for (int i = 0; i < LOCKS; i++) {
        size_t expected = 0;
        for (int t = 0; t < THREADS_MOST; t++)
            expected += b->expected[t][i];
        CHECK(b->count[i] == expected, "lock %d (%s) counts %zu of %zu", i, b->kind[i]->name, b->count[i],
              expected);
        if (b->kind[i]->destroy != NULL)
            b->kind[i]->destroy(b->l[i]);
    }
    free(b->memory);
}

/* Takes locks in ascending order, which cannot deadlock, and releases them in any. */
static void take_many(int me, void *arg)
{
    bank *b = arg;
    lock_ctx c[LOCKS];
    uint64_t random = (uint64_t)me + 1;
    for (size_t round = 0; round < b->rounds; round++) {
        uint64_t wanted = b->subsets ? draw(&random) & draw(&random) : UINT64_MAX;
        int held[LOCKS], n = 0;
        for (int i = 0; i < b->locks; i++) {
            if ((wanted >> i & 1) == 0)
                continue;
            b->kind[i]->lock(b->l[i], &c[i]);
            b->count[i]++;
            b->expected[me][i]++;
            held[n++] = i;
        }
        if (draw(&random) % 2 == 0)
            sched_yield(); /* the others queue up */
        while (n > 0) {
            int at = (int)draw_below(&random, (size_t)n), i = held[at];
            held[at] = held[--n];
            b->kind[i]->unlock(b->l[i], &c[i]);
        }
    }
}

static void hold(const lock_info *lock, size_t rounds, bool subsets)
{
    bank b;
    bank_open(&b, lock, rounds);
    b.subsets = subsets;
    team_run(THREADS, take_many, &b);
    bank_close(&b);
}

static void holds_64_at_once(const lock_info *lock)
{
    hold(lock, scaled(500), false);
}

static void holds_any_subset(const lock_info *lock)
{
    hold(lock, scaled(2500), true);
}

/* The variants share a thread's state: its mailboxes, its element, its nodes. */
static void holds_all_kinds_at_once(const lock_info *none)
{
    hold(none, scaled(1000), false);
    hold(none, scaled(4000), true);
}

/* Takes the next lock before it releases the last: locks overlap, but are never nested. */
static void walk(int me, void *arg)
{
    bank *b = arg;
    for (size_t round = 0; round < b->rounds; round++) {
        lock_ctx c[CHAIN];
        for (int i = 0; i < CHAIN; i++) {
            b->kind[i]->lock(b->l[i], &c[i]);
            b->count[i]++;
            b->expected[me][i]++;
            if (i > 0)
                b->kind[i - 1]->unlock(b->l[i - 1], &c[i - 1]);
        }
        b->kind[CHAIN - 1]->unlock(b->l[CHAIN - 1], &c[CHAIN - 1]);
    }
}

static void hand_over_hand(const lock_info *lock)
{
    bank b;
    bank_open(&b, lock, scaled(500));
    team_run(THREADS, walk, &b);
    bank_close(&b);
}

/* One thread holds several locks, and each of the others waits for one of them: in Hemlock they all look at
 * the same mailbox, or push to the same chain, while the owner is looking for one of them. */
static void own_or_want(int me, void *arg)
{
    bank *b = arg;
    if (me == 0) {
        take_many(me, b);
        return;
    }
    for (size_t round = 0; round < b->rounds; round++) {
        lock_ctx c;
        b->kind[me]->lock(b->l[me], &c);
        b->count[me]++;
        b->expected[me][me]++;
        b->kind[me]->unlock(b->l[me], &c);
    }
}

static void several_wait_for_one_owner(const lock_info *lock)
{
    bank b;
    bank_open(&b, lock, scaled(4000));
    b.locks = THREADS_MOST;
    team_run(THREADS_MOST, own_or_want, &b);
    bank_close(&b);
}

/* Two threads lock and pass their context on, two others unlock, and the rest do both. The contexts pass through one
 * place, which is free because only one thread holds the lock. */
typedef struct exchange {
    const lock_info *lock;
    void *l;
    generator shared;
    size_t rounds;
    lock_ctx given;
    sem_t full;
} exchange;

static void give(exchange *x)
{
    lock_ctx c;
    x->lock->lock(x->l, &c);
    generator_step(&x->shared);
    x->given = c;
    sem_post(&x->full);
}

static void receive(exchange *x)
{
    while (sem_wait(&x->full) != 0)
        ;
    lock_ctx c = x->given;
    generator_step(&x->shared);
    x->lock->unlock(x->l, &c);
}

static void both(exchange *x)
{
    lock_ctx c;
    x->lock->lock(x->l, &c);
    generator_step(&x->shared);
    x->lock->unlock(x->l, &c);
}

static void take_part(int me, void *arg)
{
    static void (*const part[])(exchange * x) = {give, receive, give, receive, both, both};
    exchange *x = arg;
    for (size_t i = 0; i < x->rounds; i++)
        part[me](x);
}

static void another_thread_may_unlock(const lock_info *lock)
{
    exchange x = {
        .lock = lock, .l = calloc(1, lock->size), .shared = GENERATOR_START, .rounds = scaled(5000)};
    sem_init(&x.full, 0, 0);
    team_run(6, take_part, &x);
    generator_check(&x.shared, 6 * x.rounds, "unlocked by another thread");
    if (lock->destroy != NULL)
        lock->destroy(x.l);
    free(x.l);
}

static bool is_oblivious(const lock_info *lock)
{
    return lock->oblivious;
}

static const promise promises[] = {
    {.name = "holds_64_at_once", .check = holds_64_at_once},
    {.name = "holds_any_subset", .check = holds_any_subset},
    {.name = "hand_over_hand", .check = hand_over_hand},
    {.name = "several_wait_for_one_owner", .check = several_wait_for_one_owner},
    {.name = "another_thread_may_unlock", .check = another_thread_may_unlock, .concerns = is_oblivious},
    {.name = "holds_all_kinds_at_once", .check = holds_all_kinds_at_once, .subject = "all"},
};

_Static_assert((int)SUBJECTS <= (int)LOCKS, "room for every kind of lock");

HARNESS_MAIN(promises)
