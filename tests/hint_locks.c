/* hint_locks.c - what locks make of the service of `pawl hint`, with one that this test plays */
#include "hint_service.h"

#include <pawl/cond.h>
#include <pawl/fairmutex.h>
#include <pawl/mutex.h>
#include <pawl/ticket.h>

#include <sys/wait.h>

static pawl_ticket ticket;
static _Atomic(uint32_t) over;
static __thread int yields;

/* What libpawl calls, too. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static pawl_mutex mutex;
static atomic_int waits;

static void wait_for_both(int me, void *counts)
{
    (void)me;
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    pawl_ticket_unlock(&ticket, &c);
    ((int *)counts)[0] = yields;
    atomic_store(&waits, 1);
    pawl_mutex_lock(&mutex);
    pawl_mutex_unlock(&mutex);
    ((int *)counts)[1] = yields - ((int *)counts)[0];
}

/* A thread that waits for a lock of the papers yields if others want its CPU; one that waits for a mutex, if that is not
 * known. Neither calls the kernel to yield to nobody. */
static void waiters_yield_to_those_that_want_the_cpu(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    for (uint32_t ready = 0; ready < 3; ready++) { /* 0: no hint */
        team_member team[1];
        pawl_ticket_ctx c;
        int counts[2];
        atomic_store(&waits, 0);
        memset(&mutex, 0, sizeof mutex); /* it learns */
        set_all(ready, 0);
        pawl_ticket_lock(&ticket, &c);
        pawl_mutex_lock(&mutex);
        beat();
        atomic_store(&pawl_hint_now, ready > 0 ? &h : NULL);
        team_start(team, 1, wait_for_both, counts);
        team_await_asleep(team, 1);
        pawl_ticket_unlock(&ticket, &c);
        await(&waits, 1);
        team_await_asleep(team, 1);
        bool believed = atomic_load(&pawl_hint_now) != NULL;
        pawl_mutex_unlock(&mutex);
        team_join(team, 1);
        if (ready > 0 && !believed) { /* the heart stood still, because this thread did not run */
            ready--;
            continue;
        }
        CHECK(ready == 2 ? counts[0] >= 1 && counts[0] <= 64 : counts[0] == 0, "%u ready: %d yields", ready,
              counts[0]);
        CHECK((counts[1] > 0) == (ready != 1), "%u ready: %d yields for a mutex", ready, counts[1]);
    }
    atomic_store(&pawl_hint_now, NULL);
}

static pawl_cond cond;
static atomic_int stage, taken; /* of the thread that waits; how often the mutex was taken from it */

/* Waits for the mutex until it is registered, and then once more, and on a condition variable. */
static void wait_often(int index, void *unused)
{
    (void)index, (void)unused;
    for (int i = 0; i < SLEEPS + 1; i++) {
        await(&taken, i + 1);
        atomic_fetch_add(&stage, 1);
        pawl_mutex_lock(&mutex);
        atomic_fetch_add(&stage, 1);
        if (i < SLEEPS)
            pawl_mutex_unlock(&mutex);
    }
    await(&taken, SLEEPS + 2); /* until it was looked at */
    pawl_cond_wait(&cond, &mutex);
    atomic_fetch_add(&stage, 1);
}

/* Hands the mutex to the thread that waits for it; what it says then. */
static uint32_t hand_over(team_member *team, int from)
{
    team_await_asleep(team, 1);
    beat();
    pawl_mutex_unlock_fair(&mutex);
    uint32_t says = atomic_load(&mutex.held);
    await(&stage, from + 1);
    return says;
}

static void a_mutex_says_whose_it_is(const lock_info *unused)
{
    (void)unused;
    team_member service[1], team[1];
    uint32_t says, after;
    bool believed;
    make_maps();
    begin(getuid());
    team_start(service, 1, serve, NULL);
    do { /* unless this thread did not run, and the heart stood still */
        memset(&mutex, 0, sizeof mutex);
        atomic_store(&stage, 0);
        atomic_store(&taken, 1);
        hint.next_ms = milliseconds();
        pawl_mutex_lock(&mutex);
        team_start(team, 1, wait_often, NULL);
        for (int i = 0; i < SLEEPS; i++) {
            await(&stage, 2 * i + 1);
            hand_over(team, 2 * i + 1);
            pawl_mutex_lock(&mutex);
            atomic_fetch_add(&taken, 1);
        }
        await(&stage, 2 * SLEEPS + 1);
        CHECK(fake.requests > 0, "whoever waits for a mutex does not register");
        says = hand_over(team, 2 * SLEEPS + 1);
        atomic_fetch_add(&taken, 1);
        team_await_asleep(team, 1); /* on the condition variable */
        pawl_mutex_lock(&mutex);
        beat();
        pawl_cond_signal(&cond);
        after = hand_over(team, 2 * SLEEPS + 2);
        believed = atomic_load(&pawl_hint_now) != NULL;
        team_join(team, 1);
    } while (!believed && (says == 1 || after == 1));
    CHECK(says == 1 + 2 * SLOT, "%u", says);
    CHECK(after == 1 + 2 * SLOT, "%u, of a thread that waited for a signal", after);
    fake.cpus->version = 0;
    struct timespec now = {0, 0};
    CHECK(pawl_mutex_lock_until(&mutex, CLOCK_MONOTONIC, &now) == ETIMEDOUT, "free");
    CHECK(atomic_load(&pawl_hint_now) == NULL, "a service that has ended is believed");
    fake.cpus->version = PAWL_HINT_VERSION;
    end(service);
}

/* An answer may take some milliseconds. */
static void whoever_has_a_deadline_does_not_ask(const lock_info *unused)
{
    (void)unused;
    static pawl_fairmutex fair;
    team_member service[1];
    struct timespec now = {0, 0};
    make_maps();
    begin(getuid());
    team_start(service, 1, serve, NULL);
    pawl_mutex_lock(&mutex);
    pawl_fairmutex_lock(&fair);
    me.sleeps = 2 * SLEEPS;
    CHECK(pawl_mutex_lock_until(&mutex, CLOCK_MONOTONIC, &now) == ETIMEDOUT && fake.requests == 0,
          "for a mutex");
    CHECK(pawl_fairmutex_lock_until(&fair, CLOCK_MONOTONIC, &now) == ETIMEDOUT && fake.requests == 0,
          "for a fair mutex");
    pawl_fairmutex_unlock(&fair);
    CHECK(pawl_fairmutex_lock_until(&fair, CLOCK_MONOTONIC, NULL) == 0 && fake.requests == 1,
          "whoever has none does not ask");
    end(service);
}

enum { LIED_TO = 6, TOGETHER = 50 };
static uint64_t counts[3];

/* Each time they wait for one another, somebody is the last in line: no other release makes up for one that woke nobody. */
static void add(int me, void *rounds)
{
    (void)me;
    static pawl_fairmutex fair;
    static atomic_size_t arrived;
    pawl_ticket_ctx c;
    for (size_t i = 0; i < *(size_t *)rounds; i++) {
        if (i % TOGETHER == 0) {
            atomic_fetch_add(&arrived, 1);
            while (atomic_load(&arrived) < LIED_TO * (i / TOGETHER + 1))
                sched_yield();
            sleep_often(); /* or it would rarely ask */
        }
        pawl_ticket_lock(&ticket, &c);
        counts[0]++;
        sched_yield();
        pawl_ticket_unlock(&ticket, &c);
        pawl_mutex_lock(&mutex);
        counts[1]++;
        sched_yield();
        pawl_mutex_unlock(&mutex);
        pawl_fairmutex_lock(&fair);
        counts[2]++;
        sched_yield();
        pawl_fairmutex_unlock(&fair);
    }
}

/* Service and kernel at once, whatever comes to their minds. */
static void lie(int me, void *unused)
{
    (void)me, (void)unused;
    for (uint32_t i = 0; !atomic_load(&over); i++) {
        set_all(i % 3, i % 4);
        fake.sheet->thread[SLOT] = i % 5;
        fake.cpus->heartbeat = milliseconds() - (i % 7 == 0 ? 2 * PAWL_HINT_STALE_MS : 0);
        fake.cpus->version = PAWL_HINT_VERSION + (i % 11 == 0);
        fake.instance = i / 512;
        sched_yield();
    }
}

static void lies_cost_no_wake_up(const lock_info *unused)
{
    (void)unused;
    team_member service[1], liar[1], team[LIED_TO];
    size_t rounds = scaled(1000);
    make_maps();
    begin(getuid());
    team_start(service, 1, serve, NULL);
    while (hint.used == 0) /* else there may be no hint to lie in */
        sleep_often();
    team_start(liar, 1, lie, NULL);
    team_start(team, LIED_TO, add, &rounds);
    team_join(team, LIED_TO);
    atomic_store(&over, 1);
    team_join(liar, 1);
    for (int i = 0; i < 3; i++)
        CHECK(counts[i] == LIED_TO * rounds, "lock %d: counted %ju", i, (uintmax_t)counts[i]);
    CHECK(hint.used <= MAPPINGS, "mapped %u times", hint.used);
    end(service);
}

/* ---- children: what forgets the service there is linked with the locks */

static void a_child_registers_for_itself(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) != NULL, "not mapped");
    const void *parents = atomic_load(&pawl_hint_now)->sheet;
    hint.next_ms = milliseconds() + MOST_MS; /* which is the parent's pause */
    pid_t child = fork();
    if (child == 0) {
        bool forgotten = atomic_load(&pawl_hint_now) == NULL;
        uint32_t slot = pawl_hint_slot();
        sleep_often();
        const pawl_hint *mine = atomic_load(&pawl_hint_now);
        _exit(!forgotten || slot != 0 ? 1 : mine == NULL ? 2 : mine->sheet == parents ? 1 : 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child died");
    CHECK(WEXITSTATUS(status) != 1, "the child uses its parent's slot");
    CHECK(WEXITSTATUS(status) == 0 && fake.pid == (uint32_t)child, "the child has not registered itself");
    end(team);
}

static void join_once_more(int me, void *unused)
{
    (void)me, (void)unused;
    sleep_often();
}

/* One thread talks to the service while another forks: what it has opened is not left to the child. */
static void a_child_inherits_no_descriptor(const lock_info *unused)
{
    (void)unused;
    team_member team[1], talker[1];
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    atomic_store(&fake.manner, SILENT);
    team_start(talker, 1, join_once_more, NULL);
    while (fake.requests == 0)
        sched_yield();
    opened(CPUS, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100)); /* as if the answer were coming in */
    opened(SHEET, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 200));
    int talks_on = hint.open[SOCKET] - 1;
    CHECK(talks_on >= 0 && fcntl(talks_on, F_GETFD) == FD_CLOEXEC, "descriptor %d", talks_on);
    pid_t child = fork();
    if (child == 0)
        _exit(fcntl(talks_on, F_GETFD) == -1 && errno == EBADF && fcntl(100, F_GETFD) == -1 &&
                      fcntl(200, F_GETFD) == -1 && hint.busy == 0 && hint.open[SOCKET] == 0
                  ? 0
                  : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child has it");
    CHECK(fcntl(talks_on, F_GETFD) == FD_CLOEXEC, "and the parent has not");
    atomic_store(&fake.manner, GOOD);
    shutdown(fake.held, SHUT_RDWR);
    team_join(talker, 1);
    end(team);
}

static const promise promises[] = {
    HINT(waiters_yield_to_those_that_want_the_cpu),
    HINT(a_mutex_says_whose_it_is),
    HINT(whoever_has_a_deadline_does_not_ask),
    HINT(lies_cost_no_wake_up),
    HINT(a_child_registers_for_itself),
    HINT(a_child_inherits_no_descriptor),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
