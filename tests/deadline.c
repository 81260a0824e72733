/* deadline.c - a waiter with a deadline leaves the queue of mcs or the stack of reciprocating, and nobody notices */
#include "mutex/sleepers.h"

#include "../src/park/events.h"
#include "../src/park/word.h"

#include <pawl/detail/nodes.h>

enum { THREADS = 6 };

typedef union ctx {
    pawl_mcs_ctx mcs;
    pawl_reciprocating_ctx reciprocating;
} ctx;

/* Zero if it is free, and changes when somebody arrives. */
static pawl_word *word;

typedef struct subject {
    void (*lock)(ctx *c), (*unlock)(ctx *c);
    bool (*trylock)(ctx *c);
    int (*clocklock)(ctx *c, int clock, const struct timespec *deadline);
    int (*timedlock)(ctx *c, const struct timespec *deadline);
    bool last_first; /* those who wait enter in this order */
} subject;

#define SUBJECT(name, lifo)                                                                                  \
    static pawl_##name name;                                                                                 \
    static void name##_lock(ctx *c)                                                                          \
    {                                                                                                        \
        pawl_##name##_lock(&name, &c->name);                                                                 \
    }                                                                                                        \
    static void name##_unlock(ctx *c)                                                                        \
    {                                                                                                        \
        pawl_##name##_unlock(&name, &c->name);                                                               \
    }                                                                                                        \
    static bool name##_trylock(ctx *c)                                                                       \
    {                                                                                                        \
        return pawl_##name##_trylock(&name, &c->name);                                                       \
    }                                                                                                        \
    static int name##_clocklock(ctx *c, int clock, const struct timespec *deadline)                          \
    {                                                                                                        \
        return pawl_##name##_clocklock(&name, &c->name, clock, deadline);                                    \
    }                                                                                                        \
    static int name##_timedlock(ctx *c, const struct timespec *deadline)                                     \
    {                                                                                                        \
        return pawl_##name##_timedlock(&name, &c->name, deadline);                                           \
    }                                                                                                        \
    static const subject name##_subject = {name##_lock,      name##_unlock,    name##_trylock,               \
                                           name##_clocklock, name##_timedlock, lifo};

SUBJECT(mcs, false)
SUBJECT(reciprocating, true)

static const subject *with;

static int lock_in_vain(int clock, const struct timespec *deadline)
{
    ctx c;
    return with->clocklock(&c, clock, deadline);
}

static void deadlines_are_kept(void)
{
    struct timespec past = {0}, invalid = {.tv_nsec = 1000000000}, soon = in_ns(CLOCK_REALTIME, 1000000);
    ctx c, again;
    CHECK(with->clocklock(&c, CLOCK_MONOTONIC, &past) == 0, "it is free");
    expect_timeout(lock_in_vain, CLOCK_MONOTONIC, 20000000);
    expect_timeout(lock_in_vain, CLOCK_REALTIME, 20000000);
    CHECK(with->timedlock(&again, &soon) == ETIMEDOUT, "by the clock on the wall");
    uint64_t waits = pawl_events(PAWL_FUTEX_WAITS);
    do /* it may come too late to sleep */
        expect_timeout(lock_in_vain, CLOCK_MONOTONIC, 20000000);
    while (pawl_events(PAWL_FUTEX_WAITS) == waits);
    CHECK(pawl_parked_threads() == 0, "who has left is taken for a sleeper");
    uint64_t last = atomic_load(word);
    CHECK(lock_in_vain(CLOCK_MONOTONIC, &past) == ETIMEDOUT, "a time that is over");
    CHECK(atomic_load(word) == last, "stands in line though it is over");
    CHECK(lock_in_vain(CLOCK_MONOTONIC, &invalid) == EINVAL, "no such time");
    CHECK(lock_in_vain(CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL, "no such clock");
    CHECK(!with->trylock(&again), "it is held");
    with->unlock(&c);
    CHECK(atomic_load(word) == 0, "all have left, but it is not free");
    CHECK(with->trylock(&c), "it is free");
    with->unlock(&c);
}

static void expect_clean_node(int me, void *unused)
{
    (void)me, (void)unused;
    struct timespec late = in_ns(CLOCK_MONOTONIC, INT64_C(3600000000000));
    ctx c;
    CHECK(with->clocklock(&c, CLOCK_MONOTONIC, &late) == 0, "an hour ahead");
    with->unlock(&c);
    pawl_node *n = pawl_node_get();
    CHECK(atomic_load(&n->next) == 0, "whoever gets its node next finds a successor there");
    pawl_node_put(n);
}

static void nothing_is_left_in_its_node(void)
{
    team_member team[1];
    ctx c;
    with->lock(&c);
    uint64_t last = atomic_load(word);
    team_start(team, 1, expect_clean_node, NULL);
    while (atomic_load(word) == last)
        sched_yield();
    with->unlock(&c);
    team_join(team, 1);
}

/* Waiters in a known order; every other one has a deadline, which comes. */
typedef struct line {
    atomic_int arrived, left, entered, log[THREADS];
} line;

static void wait_in_line(int me, void *arg)
{
    line *q = arg;
    ctx c;
    while (atomic_load(&q->arrived) != me)
        sched_yield();
    uint64_t last = atomic_load(word);
    if (me % 2 == 1) {
        while (atomic_load(word) == last) { /* it may come too late to stand in line */
            struct timespec soon = in_ns(CLOCK_MONOTONIC, 100000);
            CHECK(with->clocklock(&c, CLOCK_MONOTONIC, &soon) == ETIMEDOUT, "%d", me);
        }
        atomic_fetch_add(&q->left, 1);
        return;
    }
    atomic_store(&q->log[me], 1); /* about to arrive; the director sees the word change */
    with->lock(&c);
    atomic_store(&q->log[me], 2 + atomic_fetch_add(&q->entered, 1));
    with->unlock(&c);
}

static void those_who_stay_keep_their_order(void)
{
    for (size_t i = 0; i < scaled(300); i++) {
        line q = {0};
        team_member team[THREADS];
        ctx c;
        with->lock(&c);
        uint64_t last = atomic_load(word);
        team_start(team, THREADS, wait_in_line, &q);
        for (int k = 0; k < THREADS; k += 2) {
            while (atomic_load(&q.log[k]) == 0 || atomic_load(word) == last)
                sched_yield();
            atomic_store(&q.arrived, k + 1); /* lets the next one come, which leaves again */
            while (atomic_load(&q.left) != k / 2 + 1)
                sched_yield();
            last = atomic_load(word);
            atomic_store(&q.arrived, k + 2);
        }
        with->unlock(&c);
        team_join(team, THREADS);
        for (int k = 0; k < THREADS; k += 2) {
            int expected = with->last_first ? (THREADS - 2 - k) / 2 : k / 2;
            CHECK(q.log[k] == 2 + expected, "number %d came as number %d", k / 2, q.log[k] - 2);
        }
        CHECK(atomic_load(word) == 0, "somebody was left in the queue");
    }
}

/* Some with deadlines that come or not, some without. */
typedef struct crowd {
    size_t rounds;
    long inside;
    atomic_long entered, left;
} crowd;

static void come_and_go(int me, void *arg)
{
    crowd *x = arg;
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = 0; i < x->rounds; i++) {
        ctx c;
        struct timespec soon = in_ns(CLOCK_MONOTONIC, (int64_t)(draw(&random) % 40000));
        if (draw(&random) % 3 == 0) {
            with->lock(&c);
        } else if (with->clocklock(&c, CLOCK_MONOTONIC, &soon) != 0) {
            atomic_fetch_add(&x->left, 1);
            continue;
        }
        x->inside++;
        atomic_fetch_add(&x->entered, 1);
        if (draw(&random) % 16 == 0)
            sched_yield();
        with->unlock(&c);
    }
}

static void nothing_is_lost(void)
{
    size_t nodes = pawl_nodes_out();
    crowd x = {.rounds = scaled(20000)};
    team_run(THREADS, come_and_go, &x);
    CHECK(x.inside == x.entered, "%ld inside, %ld entered", x.inside, x.entered);
    CHECK((size_t)(x.entered + x.left) == THREADS * x.rounds, "somebody neither came nor went");
    CHECK(atomic_load(word) == 0, "somebody was left in the queue");
    CHECK(pawl_nodes_out() <= nodes + PAWL_NODES_KEPT, "%zu nodes are missing", pawl_nodes_out() - nodes);
}

#define BOTH(promise)                                                                                        \
    static void mcs_##promise(const lock_info *none)                                                         \
    {                                                                                                        \
        (void)none;                                                                                          \
        with = &mcs_subject;                                                                                 \
        word = &mcs.tail;                                                                                    \
        promise();                                                                                           \
    }                                                                                                        \
    static void reciprocating_##promise(const lock_info *none)                                               \
    {                                                                                                        \
        (void)none;                                                                                          \
        with = &reciprocating_subject;                                                                       \
        word = &reciprocating.arrivals;                                                                      \
        promise();                                                                                           \
    }

BOTH(deadlines_are_kept)
BOTH(nothing_is_left_in_its_node)
BOTH(those_who_stay_keep_their_order)
BOTH(nothing_is_lost)

#define OF(promise)                                                                                          \
    {.name = #promise, .check = mcs_##promise, .subject = "mcs"},                                            \
    {                                                                                                        \
        .name = #promise, .check = reciprocating_##promise, .subject = "reciprocating"                       \
    }

static const promise promises[] = {
    OF(deadlines_are_kept),
    OF(nothing_is_left_in_its_node),
    OF(those_who_stay_keep_their_order),
    OF(nothing_is_lost),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
