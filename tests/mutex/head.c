/* head.c - what pawl_mutex does for the head of its queue, one step at a time
 *
 * The waiters here are no threads: nothing runs but the step under test, and what it may do depends on the clock only as
 * far as a test can tell afterwards. The steps of a waiter are not exported, so their source is part of this program.
 */
#include "sleepers.h"

#include "../../src/mutex_lock.c"

enum { MOST = 64, ROUND = 4000000, SHARE = 100000, GRACE = 256000, LOOK = 10000 }; /* as in src/mutex.c */

static pawl_mutex mutex PAWL_ALIGNED;
static pawl_sleeper waiters[MOST];

static uint32_t queue(void)
{
    return atomic_load(&mutex.queue);
}

static uint32_t patience(void)
{
    return atomic_load(&mutex.patience);
}

static bool is_held(void)
{
    return atomic_load(&mutex.held) != 0;
}

static pawl_sleeper *first(void)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_sleeper *w = pawl_queue_first(b, &mutex);
    pawl_bucket_unlock(b);
    return w;
}

/* If a test took so long that the head's share may be over by now, it begins again. */
static uint32_t begun;

static bool took_too_long(void)
{
    return pawl_ticks() - begun >= PAWL_TICKS(ROUND);
}

/* A mutex that is held, with so many behind it, asleep; but for the head, which is in this state. */
static pawl_sleeper *behind(int count, uint32_t head, uint32_t bits)
{
    for (pawl_sleeper *w; (w = first()) != NULL;)
        depart(&mutex, w);
    memset(&mutex, 0, sizeof mutex);
    atomic_store(&mutex.held, 1);
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    for (int i = 0; i < count; i++) {
        atomic_store(&waiters[i].state, i == 0 ? head : PAWL_ASLEEP);
        pawl_mutex_enqueue(b, &mutex, &waiters[i]);
    }
    pawl_bucket_unlock(b);
    atomic_store(&mutex.queue, bits);
    begun = pawl_ticks();
    mutex.due = begun + PAWL_TICKS(ROUND);
    return &waiters[0];
}

enum { TIMED = PAWL_M_WAITERS | PAWL_M_TIMED, UP = TIMED | PAWL_M_AWAKE, ASKED = TIMED | PAWL_M_HANDOFF };

/* ---- the queue */

static void expect_share(int count, uint32_t share)
{
    pawl_sleeper *w = behind(count, PAWL_ASLEEP, PAWL_M_WAITERS);
    if (count == 0) { /* a child of fork() may have lost count */
        w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
        w->length = 0;
    }
    uint32_t before = pawl_ticks();
    CHECK(pawl_mutex_rouse(&mutex, w) == w, "not to be woken");
    uint32_t took = pawl_ticks() - before, start = mutex.due - PAWL_TICKS(share) - before;
    w->length = count > 0 ? (uint32_t)count : 1;
    CHECK(start <= took, "%d waiters, and the share is not %u ns", count, share);
    CHECK(queue() == UP && state(w) == PAWL_AWAKE, "not up: %u", queue());
}

static void waiters_divide_a_round(const lock_info *unused)
{
    (void)unused;
    expect_share(0, ROUND);
    expect_share(1, ROUND);
    expect_share(8, ROUND / 8);
    expect_share(40, SHARE);
    expect_share(MOST, SHARE);
}

static void a_share_begins_once(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_WATCHING, TIMED);
    uint32_t due = mutex.due -= 7;
    CHECK(pawl_mutex_rouse(&mutex, w) == NULL, "to be woken, but it watches");
    CHECK(mutex.due == due && queue() == UP && state(w) == PAWL_AWAKE, "another share");
}

/* What a child of fork() finds there is about its parent. */
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
    depart(&mutex, w + 2);
    CHECK(queue() == UP && patience() == 9, "somebody behind the head went");
    depart(&mutex, w);
    CHECK(queue() == PAWL_M_WAITERS && patience() == 0 && first() == w + 1, "%u, patience %u", queue(),
          patience());
    depart(&mutex, w + 1);
    CHECK(queue() == 0 && first() == NULL, "nobody waits: %u", queue());
}

static void no_share_lasts_longer_than_a_round(const lock_info *unused)
{
    (void)unused;
    uint32_t most = PAWL_TICKS(ROUND);
    mutex.due = 5;
    CHECK(pawl_mutex_left(&mutex, 5 - most) == most && pawl_mutex_left(&mutex, 4) == 1, "something is left");
    CHECK(pawl_mutex_left(&mutex, 5) == 0 && pawl_mutex_left(&mutex, 6) == 0, "nothing is left");
    CHECK(pawl_mutex_left(&mutex, 5 - most - 1) == 0, "the clock has come round");
}

/* ---- releases */

static void expect_released(const pawl_sleeper *w, uint32_t as, const char *when)
{
    CHECK(!is_held(), "%s: still held", when);
    CHECK(state(w) == as && first() == w, "%s: the head's state is %u", when, state(w));
    CHECK(!(queue() & PAWL_M_AWAKE) == (as != PAWL_AWAKE), "%s: %u", when, queue());
}

static void expect_handed_over(const pawl_sleeper *w, const char *when)
{
    CHECK(is_held() && state(w) == PAWL_OWNER && first() == w->next, "%s: not handed over", when);
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

static void a_release_wakes_the_head_when_it_may(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(2, PAWL_ASLEEP, PAWL_M_WAITERS);
    pawl_mutex_unlock(&mutex);
    expect_released(w, PAWL_AWAKE, "new head");

    do {
        behind(1, PAWL_ASLEEP, TIMED);
        mutex.wake = (uint16_t)(pawl_ticks() - 1);
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_AWAKE, "slept long enough");

    do {
        behind(1, PAWL_ASLEEP, TIMED);
        mutex.wake = (uint16_t)(begun + 2 * PAWL_TICKS(ROUND));
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    expect_released(w, PAWL_ASLEEP, "has just lost");

    do {
        behind(1, PAWL_ASLEEP, UP); /* which a wake-up would change */
        mutex.wake = (uint16_t)(begun - 1);
        pawl_mutex_unlock(&mutex);
    } while (took_too_long());
    CHECK(state(w) == PAWL_ASLEEP && !is_held(), "woken, but it is up");
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

/* Not before: it may be about to run. */
static void the_grace_is_over_when_it_is(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w;
    uint32_t due, after;
    do {
        w = behind(1, PAWL_AWAKE, UP);
        due = mutex.due = pawl_ticks() - 1;
        pawl_mutex_unlock(&mutex);
        after = pawl_ticks();
    } while (after - due >= PAWL_TICKS(GRACE));
    expect_released(w, PAWL_AWAKE, "within its grace");

    behind(1, PAWL_AWAKE, UP);
    mutex.due = pawl_ticks() - PAWL_TICKS(GRACE);
    pawl_mutex_unlock(&mutex);
    expect_handed_over(w, "after its grace");
}

/* Twice as many releases until the next look if the last one was not long ago, none if it was. */
static void looks_are_as_rare_as_sections_are_short(const lock_info *unused)
{
    (void)unused;
    bool seen[2] = {false, false};
    for (uint16_t ago = 0; !seen[0] || !seen[1]; ago = ago == 0 ? 1000 : 0) {
        static const uint8_t steps[][2] = {{0, 1}, {3, 7}, {127, 255}, {255, 255}};
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            behind(1, PAWL_AWAKE, UP);
            mutex.step = steps[i][0];
            uint16_t looked = mutex.looked = (uint16_t)(pawl_ticks() - ago);
            pawl_mutex_unlock(&mutex);
            if (took_too_long())
                continue;
            uint16_t since = (uint16_t)(mutex.looked - looked);
            bool rare = since > PAWL_TICKS(LOOK);
            seen[rare] = true;
            CHECK(since >= ago, "looked at no clock");
            CHECK(mutex.step == (rare ? 0 : steps[i][1]), "from %u to %u", steps[i][0], mutex.step);
            CHECK(patience() == mutex.step, "patience is %u", patience());
        }
    }
}

static void a_release_with_nobody_left_forgets_them(const lock_info *unused)
{
    (void)unused;
    behind(0, 0, UP);
    pawl_mutex_unlock(&mutex);
    CHECK(!is_held() && queue() == 0, "%u", queue());
}

/* ---- the head */

static void the_more_often_it_lost_the_longer_it_sleeps(const lock_info *unused)
{
    (void)unused;
    head h = {.slept = true};
    for (unsigned before = 0; before <= LOSSES_MOST; before++) {
        unsigned lost = before < LOSSES_MOST ? before + 1 : LOSSES_MOST;
        pawl_sleeper *w = behind(1, PAWL_AWAKE, UP);
        mutex.step = 7;
        set_losses(&mutex, before);
        uint32_t begin = pawl_ticks(), pause = (1u << lost) - 1;
        uint64_t time = lie_down(&mutex, w, &h);
        uint32_t end = pawl_ticks();
        CHECK(losses(&mutex) == lost, "%u losses, not %u", losses(&mutex), lost);
        CHECK((uint16_t)(mutex.wake - pause - begin) <= end - begin, "woken at another time");
        CHECK(time == (uint64_t)pause << 10 || pawl_mutex_left(&mutex, end) < pause, "sleeps for %llu ns",
              (unsigned long long)time);
        CHECK(patience() == 7 && state(w) == PAWL_WATCHING && queue() == TIMED, "still up: %u", queue());
    }
}

/* A first loss says little: it sleeps until its share is over, and the next release wakes it. */
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
    CHECK((uint16_t)(mutex.wake - begin) <= end - begin, "a release may not wake it");
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
    return spin(&mutex, w, PAWL_AWAKE, 1000);
}

static bool by_yielding(const pawl_sleeper *w)
{
    return yield(&mutex, w);
}

/* Nobody takes the mutex who may have been handed it. */
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
    CHECK(!is_due(&mutex, w) && queue() == UP, "asks for what it has");
    atomic_store(&w->state, PAWL_AWAKE);
    CHECK(!compete(&mutex, w, &h) && h.asked && queue() == (UP | PAWL_M_HANDOFF), "does not ask");
    bool due;
    do {
        w = behind(1, PAWL_AWAKE, UP);
        due = is_due(&mutex, w);
    } while (took_too_long());
    CHECK(!due && queue() == UP, "asks before its share is over");
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

static const promise promises[] = {
    ONE("mutex", waiters_divide_a_round),
    ONE("mutex", a_share_begins_once),
    ONE("mutex", the_first_to_queue_up_forgets_what_was),
    ONE("mutex", nobody_is_patient_with_a_new_head),
    ONE("mutex", no_share_lasts_longer_than_a_round),
    ONE("mutex", a_patient_release_does_nothing_else),
    ONE("mutex", a_release_wakes_the_head_when_it_may),
    ONE("mutex", a_head_that_asks_is_handed_the_mutex),
    ONE("mutex", the_grace_is_over_when_it_is),
    ONE("mutex", looks_are_as_rare_as_sections_are_short),
    ONE("mutex", a_release_with_nobody_left_forgets_them),
    ONE("mutex", the_more_often_it_lost_the_longer_it_sleeps),
    ONE("mutex", a_newcomer_does_not_count_its_loss),
    ONE("mutex", an_owner_does_not_lie_down),
    ONE("mutex", naps_double_and_have_an_end),
    ONE("mutex", whoever_gets_up_says_so),
    ONE("mutex", whoever_watches_takes_what_is_free),
    ONE("mutex", it_looks_as_long_as_it_competes),
    ONE("mutex", a_sleep_ends_in_time),
    ONE("mutex", it_asks_when_its_share_is_over),
    ONE("mutex", who_wins_after_a_sleep_has_not_lost),
    ONE("mutex", a_head_that_leaves_wakes_the_next),
};

HARNESS_MAIN(promises)
