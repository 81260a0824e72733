/* forks.c - a child of fork() can use what threads of its parent waited for */
#include "sleepers.h"
#include "../step.h"
#include "../../src/park/fence.h"
#include "../../src/park/queue.h"
#include "../../src/park/word.h"

#include <pawl/cond.h>
#include <pawl/ticket.h>

#include <sys/wait.h>

enum { THREADS = 3 };

static pawl_mutex m;
static pawl_cond condition;
static bool go;

/* Runs it in a child of its own, while the others wait. If it hangs there, it is ended. */
static void in_child(void (*body)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0, "cannot fork");
    if (child == 0) {
        alarm(120);
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child's status is %#x", (unsigned)status);
}

/* Long enough for a waiter to be due, which would never take the mutex. */
static void use_mutex(void)
{
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    pawl_mutex_unlock(&m);
    while (clock_ns(CLOCK_MONOTONIC) - begin < 20000000) {
        struct timespec soon = in_ns(CLOCK_MONOTONIC, 100000);
        pawl_mutex_lock(&m);
        CHECK(pawl_mutex_clocklock(&m, CLOCK_MONOTONIC, &soon) == ETIMEDOUT, "locked twice");
        pawl_mutex_unlock(&m);
    }
}

/* Nobody comes who could put it right in passing. */
static void use_mutex_alone(void)
{
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    pawl_mutex_unlock(&m);
    while (clock_ns(CLOCK_MONOTONIC) - begin < 20000000) {
        pawl_mutex_lock(&m);
        pawl_mutex_unlock(&m);
    }
    CHECK(atomic_load(&m.queue) == 0, "every release looks for those that waited in the parent");
}

static void lock_once(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
}

static void child_of_the_owner_may_unlock_and_lock(const lock_info *unused)
{
    (void)unused;
    team_member team[THREADS];
    pawl_mutex_lock(&m);
    team_start(team, THREADS, lock_once, NULL);
    team_await_asleep(team, THREADS);
    in_child(use_mutex);
    in_child(use_mutex_alone);
    pawl_mutex_unlock(&m);
    team_join(team, THREADS);
}

/* ---- in a handler of the program, registered as early as a program may: libpawl.a is linked after it */

static void (*at_child)(void);

static void child_handler(void)
{
    if (at_child != NULL)
        at_child();
}

__attribute__((constructor(101))) static void register_handler(void)
{
    pthread_atfork(NULL, NULL, child_handler);
}

static void use_mutex_in_handler(void)
{
    alarm(30);
    use_mutex_alone();
}

static void nothing(void)
{
}

static unsigned waiting_for(pawl_mutex *mutex)
{
    pawl_bucket *b = pawl_bucket_lock(mutex);
    const pawl_sleeper *first = pawl_queue_first(b, mutex);
    unsigned length = first != NULL ? first->length : 0;
    pawl_bucket_unlock(b);
    return length;
}

static void child_handler_of_the_program_may_lock(const lock_info *unused)
{
    (void)unused;
    team_member team[THREADS];
    pawl_mutex_lock(&m);
    team_start(team, THREADS, lock_once, NULL);
    while (waiting_for(&m) != THREADS)
        sched_yield();
    at_child = use_mutex_in_handler;
    in_child(nothing);
    at_child = NULL;
    pawl_mutex_unlock(&m);
    team_join(team, THREADS);
}

static void use_condition(void)
{
    struct timespec soon = in_ns(CLOCK_MONOTONIC, 1000000);
    pawl_mutex_lock(&m);
    pawl_cond_signal(&condition);
    CHECK(pawl_cond_clockwait(&condition, &m, CLOCK_MONOTONIC, &soon) == ETIMEDOUT, "signalled");
    pawl_cond_broadcast(&condition);
    use_mutex();
}

static void wait_to_go(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&m);
    while (!go)
        pawl_cond_wait(&condition, &m);
    pawl_mutex_unlock(&m);
}

static void child_has_no_waiters(const lock_info *unused)
{
    (void)unused;
    team_member team[THREADS];
    team_start(team, THREADS, wait_to_go, NULL);
    while (atomic_load(&condition.waiters) < THREADS)
        sched_yield();
    team_await_asleep(team, THREADS); /* or else the child may inherit the mutex locked */
    in_child(use_condition);
    pawl_mutex_lock(&m);
    go = true;
    pawl_cond_broadcast(&condition);
    pawl_mutex_unlock(&m);
    team_join(team, THREADS);
}

static pawl_ticket ticket;

static void lock_ticket(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    pawl_ticket_unlock(&ticket, &c);
}

/* Or else its posts would look for them for ever. */
static void count_nobody(void)
{
    CHECK(pawl_parked_threads() == 0, "%u are parked", pawl_parked_threads());
}

static void child_counts_no_sleepers(const lock_info *unused)
{
    (void)unused;
    team_member team[THREADS];
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    team_start(team, THREADS, lock_ticket, NULL);
    while (pawl_parked_threads() != THREADS)
        sched_yield();
    in_child(count_nobody);
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, THREADS);
}

/* ---- what the tables say of the parent's threads */

static pawl_sleeper sleeper;
static pawl_word word PAWL_ALIGNED;
static uint32_t sequence;

static void expect_clean_tables(void)
{
    pawl_bucket *b = pawl_bucket_of(&word);
    CHECK(atomic_load(&b->lock) == 0, "locked by a thread of its parent");
    CHECK(atomic_load(&b->parked) == 0 && pawl_parked_threads() == 0, "threads of its parent sleep");
    CHECK(atomic_load(&b->sequence) == sequence + 1, "a thread that a handler has interrupted would sleep");
    CHECK(b->queues == NULL, "threads of its parent wait");
    CHECK(!pawl_uses_membarrier(), "both sides fence"); /* as a thread of its parent was about to say */
    CHECK(atomic_load(&pawl_parked[pawl_parked_at(&word)]) == (uint64_t)1 << 32,
          "posts do not fence any more");
    pawl_queue_remove(b, &sleeper); /* as that thread does */
    CHECK(b->queues == NULL, "it waits again");
}

static void child_has_tables_of_its_own(const lock_info *unused)
{
    (void)unused;
    pawl_waiter waiter = PAWL_WAITER;
    pawl_parked_fence(true);
    pawl_park(&waiter, &word, PAWL_ANY, true);
    pawl_bucket *b = pawl_bucket_lock(&word);
    pawl_queue_append(b, &word, &sleeper);
    sequence = atomic_load(&b->sequence);
    in_child(expect_clean_tables);
    pawl_queue_remove(b, &sleeper);
    pawl_bucket_unlock(b);
    pawl_wait_over(&waiter, &word);
    CHECK(pawl_parked_threads() == 0, "the parent's tables changed");
}

/* ---- a handler that forks while its thread waits: the child's thread goes on waiting */

static pawl_waiter interrupted = PAWL_WAITER;

static void expect_parked(unsigned n)
{
    const pawl_bucket *b = pawl_place_of(&word, PAWL_ANY).bucket;
    CHECK(atomic_load(&b->parked) == n && pawl_parked_threads() == n, "%u and %u are counted instead of %u",
          atomic_load(&b->parked), pawl_parked_threads(), n);
}

static void wait_on(void)
{
    pawl_park(&interrupted, &word, PAWL_ANY, true);
    expect_parked(1); /* or else a post of the child would not wake it */
    CHECK(interrupted.state == PAWL_READY, "does not look before it sleeps");
    pawl_park(&interrupted, &word, PAWL_ANY, true);
    expect_parked(1);
    pawl_wait_over(&interrupted, &word);
    expect_parked(0);
}

static void end_the_wait(void)
{
    pawl_waiter other = PAWL_WAITER;
    pawl_park(&other, &word, PAWL_ANY, true);
    pawl_wait_over(&interrupted, &word);
    expect_parked(1); /* the other one */
}

static void child_counts_the_thread_that_a_handler_interrupted(const lock_info *unused)
{
    (void)unused;
    pawl_park(&interrupted, &word, PAWL_ANY, true);
    in_child(wait_on);
    in_child(end_the_wait);
    expect_parked(1);
    pawl_wait_over(&interrupted, &word);
    expect_parked(0);
}

/* Anywhere in its wait: one count too many costs posts a look, one too few would lose a wake-up. */
static int fork_at;
static pid_t forked;

static bool fork_there(int instruction)
{
    if (instruction == fork_at)
        forked = fork();
    return instruction < fork_at;
}

static void wait_briefly(void *unused)
{
    (void)unused;
    pawl_waiter w = PAWL_WAITER;
    pawl_park(&w, &word, PAWL_ANY, true);
    pawl_wait_over(&w, &word);
}

static void expect_no_debts(void)
{
    pawl_waiter w = PAWL_WAITER;
    pawl_park(&w, &word, PAWL_ANY, true);
    unsigned in_bucket = atomic_load(&pawl_place_of(&word, PAWL_ANY).bucket->parked);
    CHECK(in_bucket - 1 <= 1 && pawl_parked_threads() - 1 <= 1, "instruction %d: %u and %u are counted",
          fork_at, in_bucket, pawl_parked_threads());
}

static void child_never_counts_too_few(const lock_info *unused)
{
    (void)unused;
    int status;
    if (!step_possible())
        skip("only on x86-64, without a sanitizer");
    for (fork_at = 0; step_through(wait_briefly, NULL, fork_there) > fork_at; fork_at++) {
        CHECK(forked >= 0, "cannot fork");
        if (forked == 0) {
            expect_no_debts();
            _exit(0);
        }
        CHECK(waitpid(forked, &status, 0) == forked && status == 0, "the child's status is %#x",
              (unsigned)status);
        expect_parked(0);
    }
    CHECK(fork_at > 20, "%d instructions", fork_at);
}

/* The thread that was to empty its mailboxes does not exist here, and the rest of its block of hapaxes is the
 * parent's. */
static void expect_clean_thread(void)
{
    const pawl_mailboxes *boxes = &pawl_hemlock_self;
    CHECK(atomic_load(&boxes->grant) == 0 && atomic_load(&boxes->overlap) == 0, "mail for its parent");
    CHECK(atomic_load(&boxes->flagged) == 0 && atomic_load(&boxes->chain) == 0, "mail for its parent");
    CHECK(pawl_hapax_self == 0, "draws its parent's hapaxes");
    CHECK(pawl_random_self == 7, "lost what it may keep");
}

static void child_has_a_thread_state_of_its_own(const lock_info *unused)
{
    (void)unused;
    pawl_mailboxes *boxes = &pawl_hemlock_self;
    pawl_word *all[] = {&boxes->grant, &boxes->overlap, &boxes->flagged, &boxes->chain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        atomic_store(all[i], 64);
    pawl_hapax_self = 5;
    pawl_random_self = 7;
    in_child(expect_clean_thread);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        atomic_store(all[i], 0);
}

static const promise promises[] = {
    ONE("mutex", child_of_the_owner_may_unlock_and_lock),
    ONE("mutex", child_handler_of_the_program_may_lock),
    ONE("cond", child_has_no_waiters),
    ONE("wait", child_counts_no_sleepers),
    ONE("wait", child_has_tables_of_its_own),
    ONE("wait", child_counts_the_thread_that_a_handler_interrupted),
    ONE("wait", child_never_counts_too_few),
    ONE("system", child_has_a_thread_state_of_its_own),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
