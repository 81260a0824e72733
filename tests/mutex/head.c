/* head.c - the head of a queue of pawl_mutex, one step at a time
 *
 * These steps are not exported, so their source is part of this program.
 */
#include "still.h"

#include "../../src/park/hint.h"

#include <pawl/detail/wait.h>

#include <sched.h>

static bool test_yield(void), test_yield_alone(void);
static void test_yield_once(void);
static uint32_t test_slot(void);
static int pauses, rare_arrivals;

static inline void test_pause(void)
{
    pauses++;
    pawl_pause();
}

static void test_enqueue_rare(pawl_bucket *b, pawl_mutex *m, pawl_sleeper *w)
{
    rare_arrivals++;
    pawl_mutex_enqueue_rare(b, m, w);
}

#define pawl_yield              test_yield
#define pawl_yield_alone        test_yield_alone
#define pawl_yield_once         test_yield_once
#define pawl_hint_slot          test_slot
#define pawl_pause              test_pause
#define pawl_mutex_enqueue_rare test_enqueue_rare
#include "../../src/mutex_lock.c"

static void the_more_often_it_lost_the_longer_it_sleeps(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = true};
    for (unsigned before = 0; before <= LOSSES_MOST; before++) {
        unsigned lost = before < LOSSES_MOST ? before + 1 : LOSSES_MOST;
        pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
        mutex.step = 7;
        set_losses(&mutex, before);
        uint32_t pause = (1u << lost) - 1;
        uint64_t time = lie_down(&mutex, w, &h);
        uint32_t end = pawl_ticks();
        CHECK(losses(&mutex) == lost, "%u losses, not %u", losses(&mutex), lost);
        CHECK(time == (uint64_t)pause << 10 || pawl_mutex_left(&mutex, end) < pause, "sleeps for %llu ns",
              (unsigned long long)time);
        CHECK(patience() == 7 && state(w) == PAWL_WATCHING && queue() == TIMED, "still up: %u", queue());
    }
}

/* A first loss says little: the head sleeps until its share is over, and the next release wakes it. */
static void a_newcomer_does_not_count_its_loss(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = false};
    pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
    atomic_store(&mutex.patience, 9);
    mutex.step = 7;
    uint32_t begin = pawl_ticks();
    uint64_t time = lie_down(&mutex, w, &h);
    uint32_t end = pawl_ticks();
    CHECK(losses(&mutex) == 0 && h.slept, "%u losses", losses(&mutex));
    CHECK(time <= (uint64_t)(mutex.due - begin) << 10, "beyond its share");
    CHECK(time >= (uint64_t)pawl_mutex_left(&mutex, end) << 10, "not until the end of its share");
    CHECK(patience() == 0, "a release would let it sleep");
    behind(1, PAWL_AWAKE, UP);
    atomic_store(&mutex.patience, PAWL_M_ASKED | 9);
    lie_down(&mutex, w, &h);
    CHECK(patience() == PAWL_M_ASKED, "an owner keeps what it has to give back: %x", patience());
    w = behind(1, PAWL_AWAKE, UP);
    w->slot = 1;
    h.slept = false;
    CHECK(lie_down(&mutex, w, &h) <= LATE << 10,
          "a release may let it sleep, for the hint says that its CPU is wanted");
}

static void an_owner_does_not_lie_down(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = true};
    pawl_sleeper *w = behind(1, PAWL_OWNER, UP);
    lie_down(&mutex, w, &h);
    CHECK(state(w) == PAWL_OWNER && losses(&mutex) == 0 && queue() == UP, "lay down");
    get_up(&mutex, w);
    CHECK(state(w) == PAWL_OWNER, "got up");
}

/* Its naps have an end: the wake-up of a hand-off may be late. */
static void naps_double_and_have_an_end(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = true, .asked = true};
    uint64_t expected = NAP;
    for (int i = 0; i < 20; i++, expected = expected < NAP_MOST ? 2 * expected : expected) {
        uint64_t nap = lie_down(&mutex, behind(1, PAWL_AWAKE, UP | PAWL_M_HANDOFF), &h);
        CHECK(nap == expected && nap < PAWL_SECOND, "nap %d of %llu ns", i, (unsigned long long)nap);
    }
}

static void whoever_gets_up_says_so(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, TIMED);
    get_up(&mutex, w);
    CHECK(state(w) == PAWL_AWAKE && queue() == UP, "%u", queue());
}

static void whoever_watches_takes_what_is_free(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_WATCHING, TIMED);
    CHECK(!watch(&mutex, w) && state(w) == PAWL_ASLEEP && first() == w, "state %u", state(w));
    atomic_store(&w->state, PAWL_AWAKE);
    CHECK(!watch(&mutex, w) && state(w) == PAWL_AWAKE, "state %u", state(w));
    atomic_store(&w->state, PAWL_WATCHING);
    atomic_store(&mutex.held, 0);
    CHECK(watch(&mutex, w) && is_held() && first() == NULL && queue() == 0, "not taken, or in the queue");
}

static bool takes(bool (*how)(const pawl_sleeper *), const pawl_sleeper *w)
{
    atomic_store(&mutex.held, 0);
    bool taken = how(w);
    CHECK(taken == is_held(), "took it and said no, or the other way round");
    return taken;
}

static bool by_spinning(const pawl_sleeper *w)
{
    return spin(&mutex, w, PAWL_AWAKE, 0, 1000);
}

static bool by_yielding(const pawl_sleeper *w)
{
    return yield(&mutex, w);
}

/* A waiter that may own the mutex by now does not try to take it. */
static void it_looks_as_long_as_it_competes(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
    CHECK(!by_spinning(NULL) && !by_spinning(w) && !by_yielding(w), "took a mutex that is held");
    CHECK(takes(by_yielding, w), "does not yield");
    set_losses(&mutex, 1);
    CHECK(!takes(by_yielding, w), "yields where it has just lost");
    set_losses(&mutex, 0);
    atomic_store(&w->state, PAWL_OWNER);
    CHECK(!takes(by_yielding, w) && !takes(by_spinning, w), "looks though it owns the mutex");
    atomic_store(&w->state, PAWL_AWAKE);
    if (pawl_pauses(1000) == 0)
        skip("nobody spins on one CPU");
    CHECK(takes(by_spinning, w) && takes(by_spinning, NULL), "does not spin");
}

/* ---- yields */

static int yields, worthwhile; /* so many; the next one tells it to sleep */
static pawl_sleeper *awaited;  /* becomes the owner with the last one    */

static bool test_yield(void)
{
    yields++;
    if (yields == worthwhile && awaited != NULL)
        atomic_store(&awaited->state, PAWL_OWNER);
    return yields <= worthwhile;
}

static void whoever_has_asked_stays_up(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_AWAKE, UP | PAWL_M_HANDOFF);
    do { /* unless it was kept from running */
        begun = pawl_ticks();
        yields = 0;
        worthwhile = 3;
        stay_up(&mutex, w);
    } while (pawl_ticks() - begun >= PAWL_TICKS(PAWL_MUTEX_STAY));
    CHECK(yields == 4, "%d yields: does not notice that it does not pay", yields);
    do {
        atomic_store(&w->state, PAWL_AWAKE);
        begun = pawl_ticks();
        yields = 0;
        awaited = w;
        stay_up(&mutex, w);
    } while (pawl_ticks() - begun >= PAWL_TICKS(PAWL_MUTEX_STAY));
    CHECK(yields == 3, "%d yields: does not see that it was handed the mutex", yields);
    awaited = NULL;
    worthwhile = INT32_MAX;
    atomic_store(&w->state, PAWL_AWAKE);
    begun = pawl_ticks();
    stay_up(&mutex, w);
    CHECK(pawl_ticks() - begun >= PAWL_TICKS(PAWL_MUTEX_STAY), "not for long");
}

static uint32_t others_run; /* ticks, in a yield */

/* Frees the mutex with the last one. */
static bool test_yield_alone(void)
{
    for (uint32_t start = pawl_ticks(); pawl_ticks() - start < others_run;)
        ;
    yields++;
    if (yields == worthwhile)
        atomic_store(&mutex.held, 0);
    return yields < worthwhile;
}

static int single; /* yields, of a head that has not asked */

static void test_yield_once(void)
{
    single++;
}

static bool yields_first(int times)
{
    yields = 0;
    worthwhile = times;
    atomic_store(&mutex.held, 1);
    return yield_first(&mutex, 0);
}

static void a_newcomer_yields_before_it_queues_up(const lock_info *unused)
{
    (void)unused;
    behind(0, 0, 0);
    CHECK(yields_first(PAWL_MUTEX_YIELDS) && is_held() && yields == PAWL_MUTEX_YIELDS, "%d yields", yields);
    CHECK(yields_first(1) && yields == 1, "does not look after another thread has run");
    CHECK(!yields_first(PAWL_MUTEX_YIELDS + 1) && yields == PAWL_MUTEX_YIELDS, "%d yields", yields);
    CHECK(!yields_first(0) && yields == 1, "%d yields, though another thread has run", yields);
    set_losses(&mutex, 1);
    CHECK(!yields_first(1) && yields == 0, "yields where heads lose");
}

static void whoever_yielded_is_not_rare(const lock_info *unused)
{
    (void)unused;
    bool rare = true;
    behind(0, 0, 0);
    others_run = 2 * PAWL_TICKS(RARE);
    for (int tries = 0; rare && tries < 1000; tries++) { /* this thread may lose its CPU afterwards */
        pawl_mutex_competes(pawl_ticks());
        CHECK(yields_first(1), "does not take it");
        rare = pawl_mutex_competes(pawl_ticks());
    }
    others_run = 0;
    CHECK(!rare, "though it has competed all the time");
}

/* By when it last competed. */
static void only_those_that_come_rarely_go_first(const lock_info *unused)
{
    (void)unused;
    const uint32_t rare = PAWL_TICKS(50000); /* as in src/mutex.c */
    for (uint32_t ago = 0; ago <= 2 * rare; ago += 2 * rare) {
        bool wrong = true;
        for (int tries = 0; wrong && tries < 1000;
             tries++) { /* this thread may lose its CPU before it comes */
            struct timespec deadline = in_ns(CLOCK_MONOTONIC, 1000);
            behind(0, 0, 0);
            rare_arrivals = worthwhile = 0;
            pawl_mutex_competes(pawl_ticks() - ago);
            CHECK(pawl_mutex_lock_until(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT, "not held?");
            wrong = rare_arrivals != (ago > 0);
        }
        CHECK(!wrong, "%u ticks after the last time", ago);
    }
}

/* ---- whose it is */

static uint32_t slot;

static uint32_t test_slot(void)
{
    return slot;
}

static bool is_signed(uint32_t as)
{
    return atomic_load(&mutex.held) == 1 + 2 * as;
}

/* Those that wait want to know whether the owner runs. */
static void whoever_has_waited_signs(const lock_info *unused)
{
    (void)unused;
    for (slot = 0; slot < 3; slot++) {
        pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
        w->slot = slot;
        atomic_store(&mutex.held, 0);
        CHECK(compete(&mutex, w, &(head){0}) && is_signed(slot), "the head: %u", mutex.held);
        w = behind(1, PAWL_WATCHING, TIMED);
        w->slot = slot;
        atomic_store(&mutex.held, 0);
        CHECK(watch(&mutex, w) && is_signed(slot), "it watched: %u", mutex.held);
        behind(0, 0, 0);
        yields = 0;
        worthwhile = 1; /* frees it */
        pawl_mutex_lock(&mutex);
        CHECK(is_signed(slot), "a newcomer: %u", mutex.held);
        pawl_mutex_unlock(&mutex);
        CHECK(!is_held() && pawl_mutex_trylock(&mutex) && is_signed(0), "one that has not waited");
    }
}

static struct pawl_hint_cpus cpus;
static struct pawl_hint_sheet sheet;
static pawl_hint known = {&cpus, &sheet, 1};

/* The owner has slot 5; so many are ready on each CPU, and it runs or not. */
static void own(uint32_t ready, bool runs)
{
    cpus.count = 1; /* no other thread is seen to run */
    for (int i = 0; i < PAWL_HINT_CPUS; i++)
        cpus.cpu[i].ready = ready;
    sheet.thread[5] = 1;
    sheet.cpu[0] = runs ? 5 : 0;
    atomic_store(&mutex.held, 1 + 2 * 5);
    pauses = single = 0;
}

/* Nobody spins for an owner that does not run, nor yields if there is nobody to yield to. */
static void an_owner_that_is_off_is_not_spun_for(const lock_info *unused)
{
    (void)unused;
    if (pawl_pauses(1000) == 0)
        skip("nobody spins on one CPU");
    atomic_store(&pawl_hint_now, &known);
    for (uint32_t ready = 1; ready <= 2; ready++)
        for (int runs = 0; runs < 2; runs++) {
            pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
            own(ready, runs);
            CHECK(!by_spinning(w) && (pauses > 0) == runs, "%u ready, runs: %d, %d pauses", ready, runs,
                  pauses);
            pauses = 0;
            CHECK(!spin(&mutex, behind(1, PAWL_WATCHING, TIMED), PAWL_WATCHING, 0, 1000),
                  "took what is held");
            CHECK(pauses > 0, "watches for nothing, because the owner is said to be off");
            w = behind(1, PAWL_AWAKE, UP);
            own(ready, runs);
            bool pays = runs || ready > 1;
            CHECK(!by_yielding(w) && (single > 0) == pays, "%u ready, runs: %d, %d yields", ready, runs,
                  single);
            yields = 0;
            worthwhile = PAWL_MUTEX_YIELDS + 1;
            CHECK(!yield_first(&mutex, 0) && (yields > 0) == pays, "%u ready, runs: %d, %d first", ready,
                  runs, yields);
            yields = 0;
            worthwhile = 2;
            begun = pawl_ticks();
            stay_up(&mutex, w);
            CHECK((yields > 0) == pays || pawl_ticks() - begun >= PAWL_TICKS(PAWL_MUTEX_STAY),
                  "%u ready, runs: %d, %d while it stays", ready, runs, yields);
        }
    atomic_store(&pawl_hint_now, NULL);
}

/* ---- */

static void a_sleep_ends_in_time(const lock_info *unused)
{
    (void)unused;
    enum { MS = 1000000 };
    pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
    struct timespec past = in_ns(CLOCK_MONOTONIC, -MS), later = in_ns(CLOCK_MONOTONIC, INT64_C(3600000) * MS);
    CHECK(sleep_for(w, MS, CLOCK_MONOTONIC, &past) == ETIMEDOUT, "woken too often to see its time come");
    CHECK(sleep_for(w, MS, CLOCK_MONOTONIC, &later) == 0, "not its time");
    atomic_store(&w->state, PAWL_ASLEEP);
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    CHECK(sleep_for(w, 2 * MS, 0, NULL) == 0 && clock_ns(CLOCK_MONOTONIC) - begin >= 2 * MS, "did not sleep");
    begin = clock_ns(CLOCK_MONOTONIC);
    CHECK(sleep_for(w, 2 * MS, CLOCK_MONOTONIC, &later) == 0, "not its time");
    CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 2 * MS, "did not sleep");
}

static void it_asks_when_its_share_is_over(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = true};
    pawl_sleeper *w = behind(1, PAWL_OWNER, UP);
    mutex.due = pawl_ticks() - 1;
    ask_if_due(&mutex, w, &h);
    CHECK(!h.asked && queue() == UP, "asks for what it has");
    worthwhile = yields = 0;
    uint32_t before;
    do { /* unless it is not scheduled while it stays up */
        w = behind(1, PAWL_AWAKE, UP);
        before = mutex.due = pawl_ticks() - 1;
        h = (head){.slept = true};
        CHECK(!compete(&mutex, w, &h) && h.asked && queue() == (UP | PAWL_M_HANDOFF), "does not ask");
        uint32_t took = pawl_ticks() - before;
        CHECK(took > UINT16_MAX || (uint16_t)(mutex.looked - before - 1) < took, "does not say when");
    } while (yields == 0 && pawl_ticks() - before > PAWL_TICKS(PAWL_MUTEX_STAY));
    CHECK(h.stays && yields == 1, "does not stay up for long sections");
    w = behind(1, PAWL_AWAKE, UP);
    mutex.due = pawl_ticks() - 1;
    mutex.step = 1;
    h = (head){.slept = true};
    CHECK(!compete(&mutex, w, &h) && h.asked && !h.stays && yields == 1, "stays up for short sections");
    w = behind(1, PAWL_AWAKE, UP);
    mutex.due = pawl_ticks() - 1;
    h = (head){.slept = true, .timed = true};
    CHECK(!compete(&mutex, w, &h) && h.asked && !h.stays && yields == 1, "stays up beyond its deadline");
    do {
        w = behind(1, PAWL_AWAKE, UP);
        h = (head){.slept = true};
        ask_if_due(&mutex, w, &h);
    } while (took_too_long());
    CHECK(!h.asked && queue() == UP, "asks before its share is over");
}

static void who_wins_after_a_sleep_has_not_lost(const lock_info *unused)
{
    (void)unused;
    for (int slept = 0; slept < 2; slept++) {
        head h = {.slept = slept};
        pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
        set_losses(&mutex, 5);
        atomic_store(&mutex.held, 0);
        CHECK(compete(&mutex, w, &h) && is_held() && first() == NULL && !h.asked, "lost");
        CHECK(losses(&mutex) == (slept ? 0 : 5), "%u losses", losses(&mutex));
    }
}

static void a_head_that_leaves_wakes_the_next(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(3, PAWL_ASLEEP, TIMED);
    CHECK(leave(&mutex, w + 2) && state(w) == PAWL_ASLEEP && queue() == TIMED, "not the head");
    CHECK(leave(&mutex, w) && state(w + 1) == PAWL_AWAKE && queue() == UP && first() == w + 1, "the head");
    CHECK(leave(&mutex, w + 1) && queue() == 0 && first() == NULL, "the last");
    behind(1, PAWL_OWNER, 0);
    CHECK(!leave(&mutex, w), "gave up what it was handed");
}

/* ---- a wait as a whole */

static int waited;

static void wait_as_head(int me, void *w)
{
    (void)me;
    waited = pawl_mutex_wait(&mutex, w, CLOCK_MONOTONIC, NULL);
}

static void a_wait_ends_when_it_is_handed_the_mutex(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_OWNER, UP);
    wait_as_head(0, w);
    CHECK(waited == 0, "%d", waited);
}

static void a_sleeper_wakes_as_owner(const lock_info *unused)
{
    (void)unused;
    team_member sleeper[1];
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
    team_start(sleeper, 1, wait_as_head, w);
    team_await_asleep(sleeper, 1);
    take_out(w);
    atomic_store_explicit(&w->state, PAWL_OWNER, memory_order_release);
    pawl_futex_wake(&w->state);
    team_join(sleeper, 1);
    CHECK(waited == 0, "the wait ends with %d", waited);
}

static const promise promises[] = {
    ONE("mutex", the_more_often_it_lost_the_longer_it_sleeps),
    ONE("mutex", a_newcomer_does_not_count_its_loss),
    ONE("mutex", an_owner_does_not_lie_down),
    ONE("mutex", naps_double_and_have_an_end),
    ONE("mutex", whoever_gets_up_says_so),
    ONE("mutex", whoever_watches_takes_what_is_free),
    ONE("mutex", it_looks_as_long_as_it_competes),
    ONE("mutex", whoever_has_asked_stays_up),
    ONE("mutex", a_newcomer_yields_before_it_queues_up),
    ONE("mutex", whoever_yielded_is_not_rare),
    ONE("mutex", only_those_that_come_rarely_go_first),
    ONE("mutex", whoever_has_waited_signs),
    ONE("mutex", an_owner_that_is_off_is_not_spun_for),
    ONE("mutex", a_sleep_ends_in_time),
    ONE("mutex", it_asks_when_its_share_is_over),
    ONE("mutex", who_wins_after_a_sleep_has_not_lost),
    ONE("mutex", a_head_that_leaves_wakes_the_next),
    ONE("mutex", a_wait_ends_when_it_is_handed_the_mutex),
    ONE("mutex", a_sleeper_wakes_as_owner),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
