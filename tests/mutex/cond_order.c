/* cond_order.c - pawl_cond wakes in order, in time, and nobody else */
#include "cond_locks.h"

static atomic_int arrived, errors;

/* ---- order */

static pawl_cond queue;
static int next_up;

static void wait_in_order(int me, void *arg)
{
    (void)arg;
    pawl_mcs_ctx c = {0};
    lock(&c);
    atomic_store(&arrived, me + 1);
    wait_until(&queue, &c, NULL);
    if (next_up++ != me)
        atomic_fetch_add(&errors, 1);
    atomic_fetch_sub(&arrived, 1);
    unlock(&c);
}

static void signal_wakes_the_oldest(const lock_info *unused)
{
    (void)unused;
    enum { LINE = 12 };
    for (use = 0; use < LOCKS; use++) {
        team_member team[LINE];
        next_up = 0;
        atomic_store(&arrived, 0);
        for (int i = 0; i < LINE; i++) {
            team[i] = (team_member){.me = i, .body = wait_in_order};
            CHECK(pthread_create(&team[i].thread, NULL, team_member_run, &team[i]) == 0,
                  "cannot create a thread");
            await(&arrived, i + 1);
        }
        for (int i = LINE; i > 0; i--) {
            pawl_mcs_ctx c = {0};
            lock(&c); /* the last one to arrive waits by now */
            pawl_cond_signal(&queue);
            unlock(&c);
            while (atomic_load(&arrived) == i)
                sched_yield();
        }
        team_join(team, LINE);
        CHECK(atomic_load(&errors) == 0, "lock %d: not in order of arrival", use);
    }
}

/* ---- deadlines */

static pawl_mcs_ctx *context;

static int wait_in_vain(int clock, const struct timespec *deadline)
{
    (void)clock;
    errno = 4711;
    int result = wait_until(&queue, context, deadline);
    CHECK(errno == 4711, "errno is %d now", errno);
    return result;
}

static void deadlines_are_kept(const lock_info *unused)
{
    (void)unused;
    for (use = 0; use < LOCKS; use++) {
        pawl_mcs_ctx c = {0};
        const struct timespec never = {.tv_nsec = 1000000000};
        lock(&c);
        context = &c;
        for (int i = 0; i < 5; i++)
            expect_timeout(wait_in_vain, CLOCK_MONOTONIC, 20000000);
        CHECK(wait_until(&queue, &c, &never) == EINVAL, "1000000000 ns are a second");
        unlock(&c);
    }
    pawl_mutex_lock(&mutex);
    struct timespec deadline = in_ns(CLOCK_REALTIME, 20000000);
    CHECK(pawl_cond_timedwait(&queue, &mutex, &deadline) == ETIMEDOUT, "signalled by nobody");
    CHECK(!pawl_mutex_trylock(&mutex), "not held after a timeout");
}

/* A wait that was not signalled says so: no more waits end with 0 than there were signals that found a waiter. */
static pawl_cond token_cond;
static int waits_signalled, signals_heard, waiters_left;

static void want_tokens(int me, void *arg)
{
    pawl_mcs_ctx c = {0};
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        struct timespec soon = in_ns(CLOCK_MONOTONIC, (int64_t)draw_below(&random, 100000));
        lock(&c);
        waits_signalled += wait_until(&token_cond, &c, &soon) == 0;
        unlock(&c);
    }
    lock(&c);
    waiters_left--;
    unlock(&c);
}

static void give_tokens(int me, void *arg)
{
    pawl_mcs_ctx c = {0};
    if (me > 0) {
        want_tokens(me, arg);
        return;
    }
    for (bool more = true; more;) {
        lock(&c);
        uint32_t before = atomic_load(&token_cond.waiters);
        pawl_cond_signal(&token_cond);
        if (before > 0)
            signals_heard++;
        more = waiters_left > 0;
        unlock(&c);
        sched_yield();
    }
}

static void no_wait_ends_unsignalled(const lock_info *unused)
{
    (void)unused;
    for (use = 0; use < LOCKS; use++) {
        size_t each = scaled(1000);
        waits_signalled = signals_heard = 0;
        waiters_left = 4;
        team_run(1 + 4, give_tokens, &each);
        CHECK(waits_signalled <= signals_heard, "%d waits were signalled by %d signals", waits_signalled,
              signals_heard);
        CHECK(atomic_load(&token_cond.waiters) == 0, "somebody is still counted");
    }
}

static const promise promises[] = {
    ONE("cond", signal_wakes_the_oldest),
    ONE("cond", deadlines_are_kept),
    ONE("cond", no_wait_ends_unsignalled),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
