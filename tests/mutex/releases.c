/* releases.c - the queue of a pawl_mutex, and what a release does for its head, one step at a time */
#include "still.h"

#include "../../src/park/events.h"
#include "../../src/park/hint.h"

#include <errno.h>
#include <sched.h>

/* ---- the queue */

/* The bits that a child of fork() finds there are about its parent. */
static void the_first_to_queue_up_forgets_what_was(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(0, 0, UP | PAWL_M_HANDOFF);
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_mutex_enqueue(b, &mutex, w);
    CHECK(queue() == PAWL_M_WAITERS, "stale: %u", queue());
    atomic_store(&mutex.queue, UP);
    pawl_mutex_enqueue(b, &mutex, w + 1);
    CHECK(queue() == UP, "the second forgets, too: %u", queue());
    pawl_bucket_unlock(b);
}

static void nobody_is_patient_with_a_new_head(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(3, PAWL_AWAKE, UP);
    atomic_store(&mutex.patience, 9);
    take_out(w + 2);
    CHECK(queue() == UP && patience() == 9, "somebody behind the head went");
    take_out(w);
    CHECK(queue() == PAWL_M_WAITERS && patience() == 0 && first() == w + 1, "%u, patience %u", queue(),
          patience());
    take_out(w + 1);
    CHECK(queue() == 0 && first() == NULL, "nobody waits: %u", queue());
}

/* ---- who goes first */

static void expect_order(const int *order, int count)
{
    const pawl_sleeper *w = first();
    for (int i = 0; i < count; i++, w = w->next)
        CHECK(w == &waiters[order[i]], "place %d", i);
    CHECK(w == NULL, "more than %d", count);
}

static void arrive_rarely(pawl_sleeper *w)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    atomic_store(&w->state, PAWL_ASLEEP);
    pawl_mutex_enqueue_rare(b, &mutex, w);
    pawl_bucket_unlock(b);
}

static void whoever_comes_rarely_goes_first(const lock_info *unused)
{
    (void)unused;
    do {
        for (int i = 0; i < MOST; i++)
            waiters[i].rank = pawl_ticks() - 1; /* of a wait that is over */
        pawl_sleeper *w = behind(4, PAWL_ASLEEP, TIMED);
        arrive_rarely(w + 4);
        arrive_rarely(w + 5);
    } while (took_too_long());
    expect_order((const int[]){0, 4, 5, 1, 2, 3}, 6);
    CHECK(queue() == TIMED && waiters->length == 6, "%u, %u wait", queue(), waiters->length);
    pawl_sleeper *w = behind(0, 0, 0);
    arrive_rarely(w);
    CHECK(first() == w && queue() == PAWL_M_WAITERS, "the only one");
}

static void nobody_is_overtaken_for_ever(const lock_info *unused)
{
    (void)unused;
    do {
        pawl_sleeper *w = behind(4, PAWL_ASLEEP, TIMED);
        w[1].rank = w[2].rank = pawl_ticks() - 1; /* they have waited long */
        arrive_rarely(w + 4);
    } while (took_too_long());
    expect_order((const int[]){0, 1, 2, 4, 3}, 5);
}

static void whoever_competes_is_not_rare(const lock_info *unused)
{
    (void)unused;
    uint32_t now = pawl_ticks();
    CHECK(!pawl_mutex_competes(now), "a new thread");
    CHECK(!pawl_mutex_competes(now + PAWL_TICKS(RARE)), "too soon");
    CHECK(pawl_mutex_competes(now + 2 * PAWL_TICKS(RARE) + 1), "after a while");
    do {
        behind(1, PAWL_AWAKE, ASKED);
        now = pawl_ticks();
        pawl_mutex_unlock(&mutex);
    } while (pawl_ticks() - now > PAWL_TICKS(RARE));
    CHECK(!pawl_mutex_competes(now + PAWL_TICKS(RARE)), "it kept others waiting");
}

/* Else whoever has waited goes first the next time, and those behind it wait twice as long. */
static void whoever_has_waited_is_not_rare(const lock_info *unused)
{
    (void)unused;
    bool rare = true;
    for (int tries = 0; rare && tries < 1000; tries++) { /* this thread may lose its CPU after the wait */
        behind(0, 0, 0);
        struct timespec deadline = pawl_from_now(CLOCK_MONOTONIC, 200000);
        CHECK(pawl_mutex_lock_until(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT, "not held?");
        rare = pawl_mutex_competes(pawl_ticks());
    }
    CHECK(!rare, "though it has competed all the time");
}

/* ---- releases */

static void expect_released(const pawl_sleeper *w, uint32_t as, const char *when)
{
    CHECK(!is_held(), "%s: still held", when);
    CHECK(state_of(w) == as && first() == w, "%s: the head's state is %u", when, state_of(w));
    CHECK(!(queue() & PAWL_M_AWAKE) == (as != PAWL_AWAKE), "%s: %u", when, queue());
}

static void expect_handed_over(const pawl_sleeper *w, const char *when)
{
    CHECK(is_held() && state_of(w) == PAWL_OWNER && first() == w->next, "%s: not handed over", when);
    CHECK(queue() == (w->next != NULL ? PAWL_M_WAITERS : 0) && patience() == 0, "%s: %u", when, queue());
}

static void a_patient_release_does_nothing_else(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, TIMED);
    mutex.due = pawl_ticks() - 2 * PAWL_TICKS(GRACE);
    atomic_store(&mutex.patience, 2);
    for (uint32_t left = 2; left-- > 0; atomic_store(&mutex.held, 1)) {
        pawl_mutex_unlock(&mutex);
        expect_released(w, PAWL_ASLEEP, "patient");
        CHECK(patience() == left, "%u", patience());
    }
    pawl_mutex_unlock(&mutex);
    expect_handed_over(w, "no patience left");
}

/* It goes through the library, which asks the kernel, and is as patient as any. */
static void an_owner_that_asked_for_time_is_patient(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, TIMED);
    atomic_store(&mutex.patience, PAWL_M_ASKED | 2);
    pawl_mutex_unlock(&mutex);
    expect_released(w, PAWL_ASLEEP, "patient");
    CHECK(patience() == 1, "%x", patience());
    do {
        behind(1, PAWL_ASLEEP, TIMED);
        atomic_store(&mutex.patience, PAWL_M_ASKED);
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_AWAKE, "no patience");
    CHECK(!(patience() & PAWL_M_ASKED), "the next one calls the library, too");
}

static void a_release_wakes_the_head_when_it_may(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(2, PAWL_ASLEEP, PAWL_M_WAITERS);
    pawl_mutex_unlock(&mutex);
    expect_released(w, PAWL_AWAKE, "new head");

    do {
        behind(1, PAWL_ASLEEP, TIMED);
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_AWAKE, "has not lost yet");

    do {
        behind(1, PAWL_ASLEEP, TIMED);
        atomic_store(&mutex.losses, 1);
        mutex.attend = (uint16_t)(begun + 2 * PAWL_TICKS(ROUND));
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_ASLEEP, "has just lost");

    do {
        behind(1, PAWL_ASLEEP, TIMED);
        atomic_store(&mutex.losses, 1);
        mutex.attend = (uint16_t)(begun - 1);
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_AWAKE, "its timer is late");

    do {
        behind(1, PAWL_ASLEEP, UP); /* which a wake-up would change */
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    CHECK(state_of(w) == PAWL_ASLEEP && !is_held(), "woken, but it is up");
}

/* It would only join those that want its CPU, and its timer wakes it in time. A head without a timer, or with a late
 * one, is woken in any case. */
static void a_release_wakes_no_head_whose_cpu_others_want(const lock_info *unused)
{
    (void)unused;
    static struct pawl_hint_cpus cpus;
    static struct pawl_hint_sheet sheet;
    static pawl_hint known = {&cpus, &sheet, 1};
    sheet.thread[9] = 1;
    for (uint32_t ready = 0; ready < 3; ready++)
        for (int late = 0; late < 2; late++) {
            pawl_sleeper *w;
            cpus.cpu[0].ready = ready;
            atomic_store(&pawl_hint_now, &known);
            do {
                w = behind(1, PAWL_ASLEEP, TIMED);
                w->slot = 9;
                mutex.attend = (uint16_t)(begun + (late ? -1u : 2 * PAWL_TICKS(ROUND)));
                pawl_mutex_unlock(&mutex);
            } while (took_too_long());
            expect_released(w, ready < 2 || late ? PAWL_AWAKE : PAWL_ASLEEP, "its CPU is wanted, or not");
            w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
            w->slot = 9;
            pawl_mutex_unlock(&mutex);
            expect_released(w, PAWL_AWAKE, "without a timer");
            w->slot = 0;
        }
    atomic_store(&pawl_hint_now, NULL);
}

/* It needs no wake-up if it spins, and it does if it has asked and is up. */
static void expect_wake_ups(uint32_t head, uint32_t bits, uint64_t wanted)
{
    pawl_sleeper *w = behind(1, head, bits);
    mutex.due = pawl_ticks() - PAWL_TICKS(GRACE);
    uint64_t before = pawl_events(PAWL_FUTEX_WAKES);
    pawl_mutex_unlock(&mutex);
    expect_handed_over(w, "its turn");
    CHECK(pawl_events(PAWL_FUTEX_WAKES) - before == wanted, "not %d wake-ups", (int)wanted);
}

static void a_handoff_wakes_whoever_may_sleep(const lock_info *unused)
{
    (void)unused;
    expect_wake_ups(PAWL_AWAKE, UP | PAWL_M_HANDOFF, 0);
    expect_wake_ups(PAWL_ASLEEP, ASKED, 1);
    expect_wake_ups(PAWL_ASLEEP, TIMED, 1);
    expect_wake_ups(PAWL_AWAKE, UP, 1); /* somebody owes it one, and may be late */
}

static void a_head_that_asks_is_handed_the_mutex(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(2, PAWL_AWAKE, ASKED);
    atomic_store(&mutex.patience, 100);
    pawl_mutex_unlock(&mutex);
    expect_handed_over(w, "asked");
    pawl_mutex_unlock(&mutex);
    expect_released(w + 1, PAWL_AWAKE, "the next");
}

/* Until it runs, nobody needs to spin. */
static void a_handoff_says_to_whom(const lock_info *unused)
{
    (void)unused;
    static const uint32_t slots[] = {9, 0, 1023};
    for (int i = 0; i < 3; i++) {
        pawl_sleeper *w = behind(1, PAWL_AWAKE, ASKED);
        w->slot = slots[i];
        atomic_store(&mutex.held, 1 + 2 * 7);
        pawl_mutex_unlock(&mutex);
        expect_handed_over(w, "asked");
        CHECK(atomic_load(&mutex.held) == 1 + 2 * slots[i], "%u, not of %u", mutex.held, slots[i]);
    }
    waiters[0].slot = 0;
}

/* Not before: it may be about to run. */
static void the_grace_is_over_when_it_is(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w;
    uint32_t due, after;
    do {
        w = behind(1, PAWL_AWAKE, UP);
        due = mutex.due = pawl_ticks() - PAWL_TICKS(GRACE) / 2;
        pawl_mutex_unlock(&mutex);
        after = pawl_ticks();
    } while (after - due >= PAWL_TICKS(GRACE));
    expect_released(w, PAWL_AWAKE, "within its grace");

    behind(1, PAWL_AWAKE, UP);
    mutex.due = pawl_ticks() - PAWL_TICKS(GRACE);
    pawl_mutex_unlock(&mutex);
    expect_handed_over(w, "after its grace");
}

/* In place of libc's. Others run for so many ticks. */
static int yields;
static uint32_t others_run;

int sched_yield(void)
{
    yields++;
    for (uint32_t start = pawl_ticks(); pawl_ticks() - start < others_run;)
        ;
    return 0;
}

/* Releases a mutex whose head's share ended so many ticks ago, and returns how often that yielded. */
static int yields_to(uint32_t head, uint32_t bits, uint32_t since, int16_t give_way)
{
    uint32_t due;
    do {
        behind(1, head, bits);
        atomic_store(&mutex.losses, 1); /* so that a sleeping head sleeps on */
        due = mutex.due = pawl_ticks() - since;
        mutex.attend = (uint16_t)(pawl_ticks() + (uint16_t)give_way);
        yields = 0;
        pawl_mutex_unlock(&mutex);
    } while (pawl_ticks() - due >= PAWL_TICKS(GRACE) || took_too_long());
    CHECK(!is_held() && state_of(waiters) == head, "more than a release");
    return yields;
}

static void owners_give_way_to_a_head_that_does_not_run(const lock_info *unused)
{
    (void)unused;
    uint32_t took;
    do { /* unless it was kept from running */
        CHECK(yields_to(PAWL_AWAKE, UP, 1, 0) == 1, "does not yield");
        took = pawl_ticks() - begun;
    } while (took >= INT16_MAX);
    uint16_t after = (uint16_t)(mutex.attend - PAWL_TICKS(LOOK) - begun);
    CHECK(after <= took, "the next time is %u ticks away", after);
    CHECK(yields_to(PAWL_AWAKE, UP, 1, INT16_MAX) == 0, "yields again at once");
    CHECK(yields_to(PAWL_ASLEEP, TIMED, 1, INT16_MAX) == 0, "yields to a head that sleeps");

    do {
        behind(1, PAWL_AWAKE, UP);
        yields = 0;
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    CHECK(yields == 0, "yields before the share is over");
}

/* While it gave way, others competed, and they are not to wait for it again. */
static void whoever_gave_way_is_not_rare(const lock_info *unused)
{
    (void)unused;
    bool rare = true;
    others_run = 2 * PAWL_TICKS(RARE);
    for (int tries = 0; rare && tries < 1000; tries++) { /* this thread may lose its CPU afterwards */
        int times = yields_to(PAWL_AWAKE, UP, 1, 0);
        rare = pawl_mutex_competes(pawl_ticks());
        CHECK(times == 1, "does not yield");
    }
    others_run = 0;
    CHECK(!rare, "though it would have competed");
}

static void a_share_begins_with_a_chance_to_yield(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
    mutex.attend = (uint16_t)(pawl_ticks() + INT16_MAX);
    pawl_mutex_rouse(&mutex, w);
    CHECK((int16_t)((uint16_t)pawl_ticks() - mutex.attend) >= 0, "left over from another head");
}

static void a_release_with_nobody_left_forgets_them(const lock_info *unused)
{
    (void)unused;
    behind(0, 0, UP);
    pawl_mutex_unlock(&mutex);
    CHECK(!is_held() && queue() == 0, "%u", queue());
}

static void *unlock(void *unused)
{
    pawl_mutex_unlock(&mutex);
    return unused;
}

static void a_release_does_not_wait_for_the_bucket(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(2, PAWL_AWAKE, UP);
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    CHECK(pawl_bucket_trylock(&mutex) == NULL, "it is taken");
    pawl_mutex_unlock(&mutex);
    CHECK(!is_held() && queue() == UP && patience() == 0 && mutex.step == 0, "looked at the clock");
    pawl_bucket_unlock(b);
    CHECK(first() == w && state_of(w) == PAWL_AWAKE, "the head is gone");
}

/* Until somebody sleeps for it, or does not wait for it. */
static void await_release(const pawl_bucket *b)
{
    enum { SLEPT_ON = 2 }; /* as in src/park/queue.c */
    while (atomic_load(&b->lock) != SLEPT_ON && is_held())
        sched_yield();
}

static void a_release_waits_for_the_bucket_in_the_end(const lock_info *unused)
{
    (void)unused;
    enum { SKIPS_MOST = 8 }; /* as in src/mutex.c */
    behind(2, PAWL_AWAKE, UP);
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    for (int i = 0; i < SKIPS_MOST; i++, atomic_store(&mutex.held, 1)) {
        pawl_mutex_unlock(&mutex);
        CHECK(!is_held(), "release %d waits", i);
    }
    pthread_t owner;
    CHECK(pthread_create(&owner, NULL, unlock, NULL) == 0, "no thread");
    await_release(b);
    CHECK(is_held(), "the look at the clock is put off for ever");
    pawl_bucket_unlock(b);
    pthread_join(owner, NULL);
    CHECK(mutex.skips == 0, "skips %u", mutex.skips);
}

/* Else a release would look for the head after the mutex is free, and find whatever is at its address by then. */
static void a_release_that_has_to_wake_waits_for_the_bucket(const lock_info *unused)
{
    (void)unused;
    static const uint32_t down[] = {PAWL_M_WAITERS, TIMED};
    for (int i = 0; i < 2; i++) {
        pawl_sleeper *w = behind(2, PAWL_ASLEEP, down[i]);
        pawl_bucket *b = pawl_bucket_lock(&mutex);
        pthread_t owner;
        CHECK(pthread_create(&owner, NULL, unlock, NULL) == 0, "no thread");
        await_release(b);
        CHECK(is_held() && queue() == down[i], "released before it had the bucket: %u", queue());
        pawl_bucket_unlock(b);
        pthread_join(owner, NULL);
        bool woken = !is_held() && state_of(w) == PAWL_AWAKE && queue() == UP;
        bool handed_over = is_held() && first() != w; /* its share is over if this thread was not scheduled */
        CHECK(woken || handed_over, "not woken: %u", queue());
    }
}

static const promise promises[] = {
    ONE("mutex", the_first_to_queue_up_forgets_what_was),
    ONE("mutex", nobody_is_patient_with_a_new_head),
    ONE("mutex", a_patient_release_does_nothing_else),
    ONE("mutex", an_owner_that_asked_for_time_is_patient),
    ONE("mutex", whoever_comes_rarely_goes_first),
    ONE("mutex", nobody_is_overtaken_for_ever),
    ONE("mutex", whoever_competes_is_not_rare),
    ONE("mutex", whoever_has_waited_is_not_rare),
    ONE("mutex", a_release_wakes_the_head_when_it_may),
    ONE("mutex", a_handoff_wakes_whoever_may_sleep),
    ONE("mutex", a_head_that_asks_is_handed_the_mutex),
    ONE("mutex", a_release_wakes_no_head_whose_cpu_others_want),
    ONE("mutex", a_handoff_says_to_whom),
    ONE("mutex", the_grace_is_over_when_it_is),
    ONE("mutex", owners_give_way_to_a_head_that_does_not_run),
    ONE("mutex", whoever_gave_way_is_not_rare),
    ONE("mutex", a_share_begins_with_a_chance_to_yield),
    ONE("mutex", a_release_with_nobody_left_forgets_them),
    ONE("mutex", a_release_does_not_wait_for_the_bucket),
    ONE("mutex", a_release_waits_for_the_bucket_in_the_end),
    ONE("mutex", a_release_that_has_to_wake_waits_for_the_bucket),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
