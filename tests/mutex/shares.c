/* shares.c - how long the head of a pawl_mutex's queue is barged past, and how owners learn how far apart releases are */
#include "still.h"

static void expect_share(int count, uint8_t step, uint32_t share)
{
    pawl_sleeper *w = behind(count, PAWL_ASLEEP, PAWL_M_WAITERS);
    if (count == 0) { /* a child of fork() may have lost count */
        w = behind(1, PAWL_ASLEEP, PAWL_M_WAITERS);
        w->length = 0;
    }
    mutex.step = step;
    uint32_t before = pawl_ticks();
    CHECK(pawl_mutex_rouse(&mutex, w) == w, "not to be woken");
    uint32_t took = pawl_ticks() - before, start = mutex.due - PAWL_TICKS(share) - before;
    w->length = count > 0 ? (uint32_t)count : 1;
    CHECK(start <= took, "%d waiters, step %u, and the share is not %u ns", count, step, share);
    CHECK(queue() == UP && state_of(w) == PAWL_AWAKE, "not up: %u", queue());
}

static void waiters_divide_a_round(const lock_info *unused)
{
    (void)unused;
    expect_share(0, 0, ROUND);
    expect_share(1, 0, ROUND);
    expect_share(8, 0, ROUND / 8);
    expect_share(27, 0, SHARE);
    expect_share(MOST, 0, SHARE);
}

static void shares_are_short_where_sections_are(const lock_info *unused)
{
    (void)unused;
    expect_share(8, 1, ROUND / 8);
    for (int count = 1; count <= MOST; count += MOST - 1) {
        expect_share(count, 3, SHARE);
        expect_share(count, 15, SHARE);
        expect_share(count, 31, SHORT);
        expect_share(count, 255, SHORT);
    }
}

/* The share of a fresh mutex is long, since nobody knows of its sections yet. A look that finds sections shorter cuts what is
 * left to the share that it knows now, and whoever lies in its sleep beyond that is woken. */
static void a_share_is_cut_when_sections_turn_out_short(const lock_info *unused)
{
    (void)unused;
    static const struct {
        uint8_t step;
        uint32_t share;
    } cases[] = {{0, ROUND}, {1, SHARE}, {15, SHORT}, {63, SHORT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t before, after;
        do {
            behind(1, PAWL_AWAKE, UP);
            mutex.step = cases[i].step;
            before = begun;
            mutex.looked = (uint16_t)before;
            mutex.attend = (uint16_t)(before + 2 * PAWL_TICKS(ROUND));
            pawl_mutex_unlock(&mutex);
            after = pawl_ticks();
        } while (mutex.step < cases[i].step || after - before > PAWL_TICKS(LOOK)); /* it was late */
        uint32_t most = PAWL_TICKS(cases[i].share);
        CHECK(mutex.due - after <= most && mutex.due - before >= most, "step %u: %u ticks", cases[i].step,
              mutex.due - after);
        uint32_t attend = cases[i].share == ROUND ? before + 2 * PAWL_TICKS(ROUND) : mutex.due;
        CHECK(mutex.attend == (uint16_t)attend, "step %u: who sleeps is woken when it was to be",
              cases[i].step);
    }
}

static void a_look_prolongs_no_share(const lock_info *unused)
{
    (void)unused;
    for (unsigned step = 0; step < 256; step += 51) {
        behind(1, PAWL_AWAKE, UP);
        mutex.step = (uint8_t)step;
        uint32_t due = mutex.due = pawl_ticks() + 10;
        mutex.looked = (uint16_t)pawl_ticks();
        pawl_mutex_unlock(&mutex);
        CHECK(mutex.due == due, "step %u: %u ticks more", step, mutex.due - due);
    }
}

static void a_share_begins_once(const lock_info *unused)
{
    (void)unused;
    pawl_sleeper *w = behind(1, PAWL_WATCHING, TIMED);
    uint32_t due = mutex.due -= 7;
    CHECK(pawl_mutex_rouse(&mutex, w) == NULL, "to be woken, but it watches");
    CHECK(mutex.due == due && queue() == UP && state_of(w) == PAWL_AWAKE, "another share");
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

/* After so many ticks, a look comes in time (0), late (1) or very late (2). */
static size_t lateness(uint32_t since)
{
    return since > 4 * PAWL_TICKS(LOOK) ? 2 : since > PAWL_TICKS(LOOK);
}

/* Twice as many releases until the next look if the last one was not long ago, half as many if it was, and none if it was
 * very long ago. */
static void looks_are_as_rare_as_sections_are_short(const lock_info *unused)
{
    (void)unused;
    bool seen[3] = {false, false, false};
    static const uint16_t agos[] = {0, 2 * LOOK / 1024, 5 * LOOK / 1024};
    for (size_t k = 0; !seen[0] || !seen[1] || !seen[2]; k = (k + 1) % 3) {
        static const uint8_t steps[][3] = {{0, 1, 0}, {1, 3, 0}, {3, 7, 1}, {127, 255, 63}, {255, 255, 127}};
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            behind(1, PAWL_AWAKE, UP);
            mutex.step = steps[i][0];
            uint16_t looked = mutex.looked = (uint16_t)(pawl_ticks() - agos[k]);
            pawl_mutex_unlock(&mutex);
            if (took_too_long())
                continue;
            uint16_t since = (uint16_t)(mutex.looked - looked);
            size_t late = lateness(since);
            seen[late] = true;
            CHECK(since >= agos[k], "looked at no clock");
            CHECK(mutex.step == (late == 2 ? 0 : steps[i][1 + late]), "from %u to %u", steps[i][0],
                  mutex.step);
            CHECK(patience() == mutex.step, "patience is %u", patience());
        }
    }
}

/* Where heads ask within every section, no release looks. */
static void a_request_tells_how_long_sections_are(const lock_info *unused)
{
    (void)unused;
    static const struct {
        uint32_t ago;
        uint8_t before, after;
    } cases[] = {{5 * LOOK / 1024, 63, 0}, {2 * LOOK / 1024, 63, 31}, {0, 63, 63}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t asked;
        do {
            behind(1, PAWL_AWAKE, ASKED);
            mutex.step = cases[i].before;
            asked = pawl_ticks() - cases[i].ago;
            mutex.looked = (uint16_t)asked;
            pawl_mutex_unlock(&mutex);
        } while (lateness(pawl_ticks() - asked) != lateness(cases[i].ago)); /* it took too long */
        CHECK(mutex.step == cases[i].after, "from %u to %u", cases[i].before, mutex.step);
    }
}

static const promise promises[] = {
    ONE("mutex", waiters_divide_a_round),
    ONE("mutex", shares_are_short_where_sections_are),
    ONE("mutex", a_share_is_cut_when_sections_turn_out_short),
    ONE("mutex", a_look_prolongs_no_share),
    ONE("mutex", a_share_begins_once),
    ONE("mutex", no_share_lasts_longer_than_a_round),
    ONE("mutex", looks_are_as_rare_as_sections_are_short),
    ONE("mutex", a_request_tells_how_long_sections_are),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
