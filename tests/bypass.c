/* bypass.c - overtaking in free running: arrivals and releases meet at any moment
 *
 * The free-running version of admission.c. A thread counts as waiting from its first turn in the waiting
 * loop, and another as arriving later if it had not even called lock() by then. That misses some overtakes
 * and invents none.
 */
#include "hook.h"
#include "team.h"

#include <stdlib.h>

enum { THREADS_MOST = 16, ROUNDS = 400, LOOK_BACK = 4096 /* admissions; a bound is exceeded long before */ };

typedef struct admission {
    int who;
    uint64_t called, waiting; /* when; UINT64_MAX: it did not wait */
} admission;

typedef struct race {
    const lock_info *lock;
    void *l;
    int threads;
    size_t rounds;
    atomic_uint_fast64_t clock;
    admission *log; /* in the order of admission */
    size_t n;
} race;

static __thread admission *now;
static __thread race *running;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (now != NULL && now->waiting == UINT64_MAX)
        now->waiting = atomic_fetch_add(&running->clock, 1);
    sched_yield();
}

static void work(int me, void *arg)
{
    race *r = running = arg;
    uint64_t random = (uint64_t)me + 1;
    lock_ctx first;
    r->lock->lock(r->l, &first); /* takes queue nodes from the pool: to wait there is not to wait for the lock */
    r->lock->unlock(r->l, &first);
    for (size_t i = 0; i < r->rounds; i++) {
        lock_ctx c;
        hook_settle(r->l);
        admission mine = {.who = me, .called = atomic_fetch_add(&r->clock, 1), .waiting = UINT64_MAX};
        now = &mine;
        r->lock->lock(r->l, &c);
        now = NULL;
        r->log[r->n++] = mine;
        for (size_t pause = draw_below(&random, 3); pause > 0; pause--)
            sched_yield();
        r->lock->unlock(r->l, &c);
        for (size_t pause = draw_below(&random, 4); pause > 0; pause--)
            sched_yield();
    }
}

/* Counts those admitted before `at` that had not called lock() when it was already waiting. */
static void check_overtakes(const race *r, size_t at)
{
    const admission *a = &r->log[at];
    int total = 0, each[THREADS_MOST] = {0};
    for (size_t i = at; i-- > 0 && at - i < LOOK_BACK;) {
        const admission *b = &r->log[i];
        if (b->called < a->waiting)
            continue;
        total++;
        each[b->who]++;
        CHECK(r->lock->total == PAWL_UNBOUNDED || total <= r->lock->total,
              "overtaken %d times, declared bound %d", total, r->lock->total);
        CHECK(r->lock->each == PAWL_UNBOUNDED || each[b->who] <= r->lock->each,
              "overtaken %d times by one thread, declared bound %d", each[b->who], r->lock->each);
    }
}

static void nobody_is_overtaken_beyond_the_bound_in_free_running(const lock_info *lock)
{
    race r = {.lock = lock, .l = calloc(1, lock->size), .rounds = scaled(ROUNDS)};
    r.threads = lock->order == PAWL_PLATOONS ? PAWL_PLATOON + 4 : 5;
    r.log = calloc((size_t)r.threads * r.rounds, sizeof *r.log);
    team_run(r.threads, work, &r);
    CHECK(r.n == (size_t)r.threads * r.rounds, "%zu admissions logged", r.n);
    for (size_t i = 0; i < r.n; i++)
        check_overtakes(&r, i);
    if (lock->destroy != NULL)
        lock->destroy(r.l);
    free(r.log);
    free(r.l);
}

static bool is_bounded(const lock_info *lock)
{
    return (lock->each != PAWL_UNBOUNDED || lock->total != PAWL_UNBOUNDED) && waits_are_seen(lock);
}

static const promise promises[] = {
    {.name = "nobody_is_overtaken_beyond_the_bound_in_free_running",
     .check = nobody_is_overtaken_beyond_the_bound_in_free_running,
     .concerns = is_bounded},
};

HARNESS_MAIN(promises)
