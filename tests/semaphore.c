/* semaphore.c - the TWA semaphore: counts, order, and permits by the dozen
 *
 * What it promises as a lock (a semaphore with one permit) is checked with the locks, under `semaphore/`.
 */
#include "hook.h"
#include "mutex/sleepers.h"

#include "../src/park/word.h"

#include <stdlib.h>

enum { THREADS = 6, ITEMS = 8 };

static __thread atomic_int *waits;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (waits != NULL)
        atomic_store_explicit(waits, 1, memory_order_release);
    sched_yield();
}

/* Never more inside than there are permits, and sometimes as many. */
typedef struct hall {
    pawl_semaphore door;
    int permits;
    atomic_int inside, most;
    size_t rounds;
} hall;

static void visit(int me, void *arg)
{
    hall *h = arg;
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = 0; i < h->rounds; i++) {
        if (draw(&random) % 4 != 0 || !pawl_semaphore_trytake(&h->door))
            pawl_semaphore_take(&h->door);
        int inside = atomic_fetch_add(&h->inside, 1) + 1;
        CHECK(inside <= h->permits, "%d inside with %d permits", inside, h->permits);
        for (int most = atomic_load(&h->most); most < inside;)
            if (atomic_compare_exchange_weak(&h->most, &most, inside))
                break;
        if (draw(&random) % 4 == 0)
            sched_yield();
        atomic_fetch_sub(&h->inside, 1);
        pawl_semaphore_post(&h->door);
    }
}

static void count_is_never_exceeded(const lock_info *none)
{
    (void)none;
    for (int permits = 1; permits <= THREADS; permits++) {
        hall h = {.permits = permits, .rounds = scaled(4000)};
        pawl_semaphore_init(&h.door, (uint32_t)permits);
        team_run(THREADS, visit, &h);
        int left = 0;
        while (pawl_semaphore_trytake(&h.door))
            left++;
        CHECK(left == permits, "%d permits are left of %d", left, permits);
    }
}

/* Takers that wait in a known order. */
typedef struct line {
    pawl_semaphore s;
    atomic_int waits[THREADS], entered;
    atomic_int log[THREADS];
} line;

static void take_and_log(int me, void *arg)
{
    line *q = arg;
    waits = &q->waits[me];
    if (me > 0)
        await(&q->waits[me - 1], 1);
    pawl_semaphore_take(&q->s);
    waits = NULL;
    atomic_store(&q->log[me], 1 + atomic_fetch_add(&q->entered, 1));
}

static void start_line(line *q, team_member *team)
{
    team_start(team, THREADS, take_and_log, q);
    for (int i = 0; i < THREADS; i++)
        await(&q->waits[i], 1);
}

static void linger(void)
{
    for (int i = 0; i < 1000; i++)
        sched_yield();
}

static void takers_enter_in_order(const lock_info *none)
{
    line q = {0};
    team_member team[THREADS];
    (void)none;
    start_line(&q, team);
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pawl_semaphore_trytake(&q.s), "trytake overtook %d takers", THREADS - i);
        pawl_semaphore_post(&q.s);
        await(&q.log[i], 1);
        CHECK(atomic_load(&q.log[i]) == i + 1, "taker %d entered as number %d", i, atomic_load(&q.log[i]));
    }
    team_join(team, THREADS);
}

/* n permits let the first n in and nobody else, whatever n and however many still wait. */
static void post_n_lets_exactly_n_in(const lock_info *none)
{
    (void)none;
    for (int n = 0; n <= THREADS + 2; n++) {
        line q = {0};
        team_member team[THREADS];
        int let_in = n < THREADS ? n : THREADS, left = 0;
        start_line(&q, team);
        pawl_semaphore_post_n(&q.s, (uint32_t)n);
        await(&q.entered, let_in);
        linger();
        CHECK(atomic_load(&q.entered) == let_in, "%d permits let %d in", n, atomic_load(&q.entered));
        for (int i = 0; i < THREADS; i++)
            CHECK((atomic_load(&q.log[i]) != 0) == (i < let_in), "taker %d was not in turn", i);
        pawl_semaphore_post_n(&q.s, (uint32_t)(THREADS - let_in));
        team_join(team, THREADS);
        while (pawl_semaphore_trytake(&q.s))
            left++;
        CHECK(left == n - let_in, "%d permits are left of %d", left, n - let_in);
    }
}

static void trytake_takes_what_is_there(const lock_info *none)
{
    pawl_semaphore s;
    (void)none;
    pawl_semaphore_init(&s, 0);
    CHECK(!pawl_semaphore_trytake(&s), "took from nothing");
    for (uint32_t n = 1; n <= 20; n++) {
        pawl_semaphore_post_n(&s, n);
        for (uint32_t i = 0; i < n; i++)
            CHECK(pawl_semaphore_trytake(&s), "permit %u of %u is missing", i, n);
        CHECK(!pawl_semaphore_trytake(&s), "one more than %u", n);
    }
}

/* A ring of items: one semaphore counts the full places, one the empty. */
typedef struct ring {
    pawl_semaphore full, empty;
    uint64_t item[ITEMS];
    size_t rounds;
} ring;

static void produce_or_consume(int me, void *arg)
{
    ring *r = arg;
    for (size_t i = 0; i < r->rounds; i++) {
        pawl_semaphore_take(me == 0 ? &r->empty : &r->full);
        if (me == 0)
            r->item[i % ITEMS] = i;
        else
            CHECK(r->item[i % ITEMS] == i, "item %zu is %llu", i, (unsigned long long)r->item[i % ITEMS]);
        pawl_semaphore_post(me == 0 ? &r->full : &r->empty);
    }
}

static void producer_and_consumer(const lock_info *none)
{
    ring r = {.rounds = scaled(200000)};
    (void)none;
    pawl_semaphore_init(&r.empty, ITEMS);
    team_run(2, produce_or_consume, &r);
}

/* ---- deadlines */

static pawl_semaphore empty;

static int take_in_vain(int clock, const struct timespec *deadline)
{
    return pawl_semaphore_clocktake(&empty, clock, deadline);
}

static void timed_take_gives_up_in_time(const lock_info *none)
{
    struct timespec past = {0}, invalid = {.tv_nsec = 1000000000}, soon = in_ns(CLOCK_REALTIME, 1000000);
    (void)none;
    expect_timeout(take_in_vain, CLOCK_MONOTONIC, 20000000);
    expect_timeout(take_in_vain, CLOCK_REALTIME, 20000000);
    CHECK(take_in_vain(CLOCK_MONOTONIC, &past) == ETIMEDOUT, "a time that is over");
    CHECK(pawl_semaphore_timedtake(&empty, &soon) == ETIMEDOUT, "by the clock on the wall");
    CHECK(take_in_vain(CLOCK_MONOTONIC, &invalid) == EINVAL, "no such time");
    CHECK(take_in_vain(CLOCK_PROCESS_CPUTIME_ID, &soon) == EINVAL, "no such clock");
    CHECK(pawl_parked_threads() == 0, "somebody still counts as asleep");
    pawl_semaphore_post(&empty);
    CHECK(take_in_vain(CLOCK_MONOTONIC, &past) == 0, "there is a permit");
    CHECK(!pawl_semaphore_trytake(&empty), "there was only one");
}

typedef struct patient {
    pawl_semaphore s;
    atomic_int result;
} patient;

static void take_within_the_hour(int me, void *arg)
{
    patient *p = arg;
    struct timespec later = in_ns(CLOCK_MONOTONIC, 3600000000000);
    (void)me;
    atomic_store(&p->result, 1 + pawl_semaphore_clocktake(&p->s, CLOCK_MONOTONIC, &later));
}

static void a_post_wakes_who_has_a_deadline(const lock_info *none)
{
    (void)none;
    for (size_t i = 0; i < scaled(200); i++) {
        patient p = {0};
        team_member team[1];
        team_start(team, 1, take_within_the_hour, &p);
        while (i % 2 == 0 && pawl_parked_threads() == 0)
            sched_yield();
        pawl_semaphore_post(&p.s);
        team_join(team, 1);
        CHECK(atomic_load(&p.result) == 1, "timed out an hour early");
    }
}

/* Those in line come first, whenever they came. */
static void deadlines_do_not_overtake(const lock_info *none)
{
    line q = {0};
    team_member team[THREADS];
    (void)none;
    start_line(&q, team);
    for (int i = 0; i < THREADS; i++) {
        struct timespec soon = in_ns(CLOCK_MONOTONIC, 1000000);
        CHECK(pawl_semaphore_clocktake(&q.s, CLOCK_MONOTONIC, &soon) == ETIMEDOUT, "overtook %d",
              THREADS - i);
        pawl_semaphore_post(&q.s);
        await(&q.log[i], i + 1);
    }
    team_join(team, THREADS);
}

static const promise promises[] = {
    {.name = "count_is_never_exceeded", .check = count_is_never_exceeded, .subject = "permits"},
    {.name = "takers_enter_in_order", .check = takers_enter_in_order, .subject = "permits"},
    {.name = "post_n_lets_exactly_n_in", .check = post_n_lets_exactly_n_in, .subject = "permits"},
    {.name = "trytake_takes_what_is_there", .check = trytake_takes_what_is_there, .subject = "permits"},
    {.name = "timed_take_gives_up_in_time", .check = timed_take_gives_up_in_time, .subject = "permits"},
    {.name = "a_post_wakes_who_has_a_deadline",
     .check = a_post_wakes_who_has_a_deadline,
     .subject = "permits"},
    {.name = "deadlines_do_not_overtake", .check = deadlines_do_not_overtake, .subject = "permits"},
    {.name = "producer_and_consumer", .check = producer_and_consumer, .subject = "permits"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
