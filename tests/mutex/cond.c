/* cond.c - pawl_cond loses no signal and touches no dead memory */
#include "cond_locks.h"

#include <stdlib.h>

/* ---- a bounded buffer: every item is taken once, and nobody sleeps with work to do */

enum { ROOM = 4, MAKERS = 4, TAKERS = 4 };

static struct {
    pawl_cond not_full, not_empty;
    size_t item[ROOM], in, out, count;
    uint64_t taken;
    size_t left;
} buffer;

static void make(pawl_mcs_ctx *c, size_t item)
{
    while (buffer.count == ROOM)
        wait_until(&buffer.not_full, c, NULL);
    buffer.item[buffer.in++ % ROOM] = item;
    buffer.count++;
}

static bool take(pawl_mcs_ctx *c)
{
    while (buffer.count == 0 && buffer.left > 0)
        wait_until(&buffer.not_empty, c, NULL);
    if (buffer.left == 0)
        return false;
    buffer.taken += buffer.item[buffer.out++ % ROOM];
    buffer.count--;
    if (--buffer.left == 0)
        pawl_cond_broadcast(&buffer.not_empty);
    return true;
}

static void produce_or_consume(int me, void *arg)
{
    pawl_mcs_ctx c = {0};
    bool more = true;
    for (size_t i = *(size_t *)arg; more && i > 0; i -= me < MAKERS) {
        lock(&c);
        if (me < MAKERS)
            make(&c, i);
        else
            more = take(&c);
        bool early = i % 2 == 0; /* signal with the lock held, and without */
        if (early)
            pawl_cond_signal(me < MAKERS ? &buffer.not_empty : &buffer.not_full);
        unlock(&c);
        if (!early)
            pawl_cond_signal(me < MAKERS ? &buffer.not_empty : &buffer.not_full);
    }
}

static void no_signal_is_lost(const lock_info *unused)
{
    (void)unused;
    size_t each = scaled(5000);
    for (use = 0; use < LOCKS; use++) {
        memset(&buffer, 0, sizeof buffer);
        buffer.left = MAKERS * each;
        team_run(MAKERS + TAKERS, produce_or_consume, &each);
        CHECK(buffer.taken == MAKERS * (uint64_t)each * (each + 1) / 2,
              "lock %d: not every item was taken once", use);
    }
}

/* ---- a barrier: all of them, again and again */

static struct {
    pawl_cond all_here;
    int here, generation, size;
} gate;

static void pass_gate(int me, void *arg)
{
    pawl_mcs_ctx c = {0};
    uint64_t random = (uint64_t)me + 1;
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        lock(&c);
        int mine = gate.generation;
        if (++gate.here == gate.size) {
            gate.here = 0;
            gate.generation++;
            pawl_cond_broadcast(&gate.all_here);
        }
        while (gate.generation == mine) { /* some with deadlines, which come or not */
            struct timespec soon = in_ns(CLOCK_MONOTONIC, (int64_t)draw_below(&random, 200000));
            wait_until(&gate.all_here, &c, me % 2 == 0 ? NULL : &soon);
        }
        CHECK(gate.generation == mine + 1, "the gate opened twice");
        unlock(&c);
    }
}

static void broadcast_reaches_everybody(const lock_info *unused)
{
    (void)unused;
    for (use = 0; use < LOCKS; use++)
        for (int threads = 2; threads <= 8; threads += 3) {
            size_t rounds = scaled(500);
            memset(&gate, 0, sizeof gate);
            gate.size = threads;
            team_run(threads, pass_gate, &rounds);
            CHECK(atomic_load(&gate.all_here.waiters) == 0, "somebody is still counted");
        }
}

/* ---- prompt destruction */

enum { POISON = 0xDB, WAITERS = 3 };

static struct {
    pawl_cond *cond;
    int waiting, generation;
} doomed;

static void wait_for_the_end(int me, void *arg)
{
    pawl_mcs_ctx c = {0};
    for (size_t i = *(size_t *)arg; i > 0; i--) {
        lock(&c);
        int mine = doomed.generation;
        if (me < WAITERS) {
            doomed.waiting++;
            struct timespec soon = in_ns(CLOCK_MONOTONIC, 100000);
            while (doomed.generation == mine)
                wait_until(doomed.cond, &c, me == 0 ? &soon : NULL);
            unlock(&c);
            continue;
        }
        while (doomed.waiting < WAITERS) {
            unlock(&c);
            sched_yield();
            lock(&c);
        }
        pawl_cond *cond = doomed.cond;
        doomed.waiting = 0;
        doomed.generation++;
        doomed.cond = calloc(1, sizeof *cond);
        pawl_cond_broadcast(cond);
        memset(cond, POISON, sizeof *cond);
        unlock(&c);
        if (i % 4 == 0)
            rest(50000);
        for (size_t k = 0; k < sizeof *cond; k++)
            CHECK(((unsigned char *)cond)[k] == POISON, "byte %zu of a dead condition variable was written",
                  k);
        free(cond);
    }
}

static void may_be_freed_after_broadcast(const lock_info *unused)
{
    (void)unused;
    for (use = 0; use < LOCKS; use++) {
        size_t rounds = scaled(500);
        memset(&doomed, 0, sizeof doomed);
        doomed.cond = calloc(1, sizeof *doomed.cond);
        team_run(WAITERS + 1, wait_for_the_end, &rounds);
        free(doomed.cond);
    }
}

/* ---- what a wait returns */

static pawl_cond told;
static bool ready;

static void tell(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mcs_ctx c = {0};
    while (atomic_load(&told.waiters) == 0)
        sched_yield();
    lock(&c);
    ready = true;
    pawl_cond_signal(&told);
    unlock(&c);
}

static void lock_any(void *unused, void *c)
{
    (void)unused;
    lock(c);
}

static void unlock_any(void *unused, void *c)
{
    (void)unused;
    unlock(c);
}

static int wait_any(pawl_cond *cond, pawl_mcs_ctx *c, const struct timespec *deadline)
{
    if (deadline != NULL)
        return pawl_cond_clockwait_any(cond, lock_any, unlock_any, NULL, c, CLOCK_MONOTONIC, deadline);
    pawl_cond_wait_any(cond, lock_any, unlock_any, NULL, c);
    return 0;
}

typedef int waits(pawl_cond *cond, pawl_mcs_ctx *c, const struct timespec *deadline);

static void be_told(waits *wait, const struct timespec *deadline)
{
    pawl_mcs_ctx c = {0};
    team_member team[1];
    ready = false;
    lock(&c);
    team_start(team, 1, tell, NULL);
    while (!ready) {
        int result = wait(&told, &c, deadline);
        CHECK(result == 0, "lock %d: %d from a wait that was signalled", use, result);
    }
    unlock(&c);
    team_join(team, 1);
    CHECK(atomic_load(&told.waiters) == 0, "lock %d: still counted after a signal", use);
}

static void check_results(waits *wait)
{
    pawl_mcs_ctx c = {0};
    struct timespec past = {.tv_sec = 1}, wrong = {.tv_nsec = -1},
                    far = in_ns(CLOCK_MONOTONIC, INT64_C(1) << 42);
    lock(&c);
    CHECK(wait(&told, &c, &past) == ETIMEDOUT, "lock %d: a time that is over", use);
    CHECK(atomic_load(&told.waiters) == 0, "lock %d: still counted after the time was over", use);
    CHECK(wait(&told, &c, &wrong) == EINVAL, "lock %d: a time that is none", use);
    CHECK(atomic_load(&told.waiters) == 0, "lock %d: counted, and did not wait", use);
    unlock(&c);
    be_told(wait, &far);
    be_told(wait, NULL);
}

static void a_wait_tells_how_it_ended(const lock_info *unused)
{
    (void)unused;
    for (use = 0; use < LOCKS; use++) {
        check_results(wait_until);
        check_results(wait_any);
    }
}

static const promise promises[] = {
    ONE("cond", a_wait_tells_how_it_ended),
    ONE("cond", no_signal_is_lost),
    ONE("cond", broadcast_reaches_everybody),
    ONE("cond", may_be_freed_after_broadcast),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
