/* fairmutex.c - promises of pawl_fairmutex */
#include "sleepers.h"

#include <pawl/fairmutex.h>

enum { LINE = 24 };

static pawl_fairmutex mutex PAWL_ALIGNED;
static uint64_t counter; /* guarded by it */
static atomic_int entered;

/* ---- exclusion */

static void count_up(int me, void *arg)
{
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        pawl_fairmutex_lock(&mutex);
        counter++;
        if (draw_below(&random, 64) == 0)
            sched_yield();
        pawl_fairmutex_unlock(&mutex);
    }
}

static void excludes(const lock_info *unused)
{
    (void)unused;
    for (int threads = 1; threads <= 16; threads += threads < 4 ? 1 : 4) {
        size_t each = scaled(4000);
        counter = 0;
        team_run(threads, count_up, &each);
        CHECK(counter == each * (size_t)threads, "%d threads: increments were lost", threads);
        CHECK(pawl_fairmutex_trylock(&mutex), "not free in the end");
        CHECK(!pawl_fairmutex_trylock(&mutex), "taken twice");
        pawl_fairmutex_unlock(&mutex);
    }
}

/* ---- order */

typedef struct line {
    int next;                 /* whom to expect at the earliest; guarded by the mutex     */
    int overtaken;            /* how many were                                             */
    unsigned impatient;       /* every so many give up, at the deadline                   */
    struct timespec deadline; /* when everybody is in line; else the scene is played again */
} line;

static void stand_in_line(int me, void *arg)
{
    line *l = arg;
    if (l->impatient != 0 && (unsigned)me % l->impatient == 0) {
        CHECK(pawl_fairmutex_clocklock(&mutex, CLOCK_MONOTONIC, &l->deadline) == ETIMEDOUT,
              "%d did not give up", me);
        return;
    }
    pawl_fairmutex_lock(&mutex);
    l->overtaken += l->next > me;
    l->next = me + 1;
    atomic_fetch_add(&entered, 1);
    pawl_fairmutex_unlock(&mutex);
}

/* Each arrival changes the word, so the word shows who is in line. False: somebody gave up before the last one had
 * come. */
static bool form_line(line *l, int64_t patience)
{
    team_member team[LINE];
    int64_t until = l->impatient != 0 ? clock_ns(CLOCK_MONOTONIC) + patience : INT64_MAX;
    l->deadline = in_ns(CLOCK_MONOTONIC, patience);
    atomic_store(&entered, 0);
    pawl_fairmutex_lock(&mutex);
    for (int i = 0; i < LINE; i++) {
        uint64_t before = atomic_load(&mutex.word);
        team[i] = (team_member){.me = i, .body = stand_in_line, .arg = l};
        CHECK(pthread_create(&team[i].thread, NULL, team_member_run, &team[i]) == 0,
              "cannot create a thread");
        while (atomic_load(&mutex.word) == before && clock_ns(CLOCK_MONOTONIC) < until)
            sched_yield();
    }
    bool in_time = clock_ns(CLOCK_MONOTONIC) < until;
    for (int i = 0; l->impatient != 0 && i < LINE; i += (int)l->impatient)
        pthread_join(team[i].thread, NULL); /* gives up */
    pawl_fairmutex_unlock(&mutex);
    for (int i = 0; i < LINE; i++)
        if (l->impatient == 0 || (unsigned)i % l->impatient != 0)
            pthread_join(team[i].thread, NULL);
    CHECK(atomic_load(&mutex.word) == 0, "not free in the end");
    return in_time;
}

static void check_line(unsigned impatient, int expected)
{
    for (int64_t patience = 100000000;; patience *= 2) {
        line l = {.impatient = impatient};
        if (!form_line(&l, patience))
            continue;
        CHECK(l.overtaken == 0, "%d were overtaken", l.overtaken);
        CHECK(atomic_load(&entered) == expected, "%d of %d were served", atomic_load(&entered), expected);
        return;
    }
}

static void first_come_first_served(const lock_info *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++)
        check_line(0, LINE);
}

static void those_who_give_up_leave_the_line(const lock_info *unused)
{
    (void)unused;
    for (unsigned every = 1; every <= 4; every++) {
        int leave = (LINE + (int)every - 1) / (int)every;
        check_line(every, LINE - leave);
    }
}

/* ---- deadlines */

static int lock_until(int clock, const struct timespec *deadline)
{
    return pawl_fairmutex_clocklock(&mutex, clock, deadline);
}

static void deadlines_are_kept(const lock_info *unused)
{
    (void)unused;
    const struct timespec never = {.tv_nsec = -1};
    pawl_fairmutex_lock(&mutex);
    for (int i = 0; i < 6; i++)
        expect_timeout(lock_until, i % 2 == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 20000000);
    CHECK(pawl_fairmutex_timedlock(&mutex, &never) == EINVAL, "-1 ns is a time");
}

static void wait_impatiently(int me, void *arg)
{
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        struct timespec deadline = in_ns(CLOCK_MONOTONIC, (int64_t)draw_below(&random, 300000));
        if (me % 2 == 0)
            pawl_fairmutex_lock(&mutex);
        else if (pawl_fairmutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) != 0)
            continue;
        counter++;
        atomic_fetch_add(&entered, 1);
        if (draw_below(&random, 8) == 0)
            rest(30000);
        pawl_fairmutex_unlock(&mutex);
    }
}

static void giving_up_harms_nobody(const lock_info *unused)
{
    (void)unused;
    size_t each = scaled(1000);
    team_run(8, wait_impatiently, &each);
    CHECK(counter == (uint64_t)atomic_load(&entered), "increments were lost");
    CHECK(atomic_load(&mutex.word) == 0, "not free in the end");
}

static const promise promises[] = {
    ONE("fairmutex", excludes),
    ONE("fairmutex", first_come_first_served),
    ONE("fairmutex", those_who_give_up_leave_the_line),
    ONE("fairmutex", deadlines_are_kept),
    ONE("fairmutex", giving_up_harms_nobody),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
