/* mode.c - debug mode from inside: what it does when, and what it does without memory
 *
 * Little of that is exported, so its source is part of this program, with counters in what it calls.
 */
#include "team.h"

#include <pawl/detail/thread.h>
#include "../../src/debug_report.h"
#include "../../src/debug_shared.h"

#include <stdlib.h>

static bool no_memory;
static int prepared, entered, stacks;

static debug_thread *new_thread(pid_t id)
{
    return no_memory ? NULL : pawl_debug_thread_new(id);
}

static debug_lock *get_lock(const void *address, const char *kind)
{
    return no_memory ? NULL : pawl_debug_lock_get(address, kind);
}

static const debug_stack *stack_here(const void *caller)
{
    stacks++;
    return pawl_debug_stack_here(caller);
}

static void prepare_stack(void)
{
    prepared++;
}

static bool enter_thread(void)
{
    entered++;
    return true;
}

#define pawl_thread_enter        enter_thread
#define pawl_debug_thread_new    new_thread
#define pawl_debug_lock_get      get_lock
#define pawl_debug_stack_here    stack_here
#define pawl_debug_stack_prepare prepare_stack
#include "../../src/debug.c"
#undef pawl_debug_lock_get

static int locks[2];
#define KIND "lock"

static void begin(debug_mode now)
{
    atomic_store(&mode, now);
    pawl_debug_on = now == ABORT || now == CONTINUE;
}

static bool is_free(void)
{
    return atomic_load(&guard) == FREE && !busy;
}

static bool can_be_cancelled(void)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, NULL);
    return state == PTHREAD_CANCEL_ENABLE;
}

static void lock(void *l)
{
    pawl_debug_locking(l, KIND, 0);
    pawl_debug_locked(l, KIND, 0);
}

static void unlock(void *l)
{
    pawl_debug_unlocking(l, KIND, 0);
    pawl_debug_unlocked(l);
}

/* ---- on and off */

static void the_environment_is_read_once(const lock_info *unused)
{
    (void)unused;
    static const struct {
        const char *text;
        debug_mode mode;
    } known[] = {{"0", OFF}, {"1", ABORT}, {"abort", ABORT}, {"continue", CONTINUE}, {"?", DEFAULT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        atomic_store(&mode, UNKNOWN);
        setenv("PAWL_DEBUG", known[i].text, 1);
        CHECK(get_mode() == known[i].mode, "%s is not known", known[i].text);
        setenv("PAWL_DEBUG", known[i].mode == OFF ? "1" : "0", 1);
        CHECK(get_mode() == known[i].mode, "%s was forgotten", known[i].text);
    }
    atomic_store(&mode, UNKNOWN);
    unsetenv("PAWL_DEBUG");
    CHECK(get_mode() == DEFAULT, "no default");
}

/* A first backtrace loads code and allocates memory, maybe by an allocator that locks. */
static void it_is_prepared_before_the_first_lock(const lock_info *unused)
{
    (void)unused;
    static const debug_mode not [] = {OFF, DEFAULT};
    for (int i = 0; i < 2; i++) {
        begin(not [i]);
        debug_from_environment();
        CHECK(prepared == 0 && !pawl_debug_on, "prepared for nothing");
    }
    begin(ABORT);
    debug_from_environment();
    CHECK(prepared == 1 && pawl_debug_on, "not prepared");
    begin(CONTINUE);
    debug_from_environment();
    CHECK(prepared == 1 && pawl_debug_on, "prepared twice");
}

static void a_threads_first_lock_prepares_for_its_end(const lock_info *unused)
{
    (void)unused;
    begin(DEFAULT);
    for (int i = 0; i < 2; i++) {
        lock(&locks[0]);
        unlock(&locks[0]);
        CHECK(prepared == 1 && entered == 1, "prepared %d times, and %d times for the end", prepared,
              entered);
    }
}

/* ---- its lock */

static atomic_bool inside;

static void enter_and_tell(int me, void *unused)
{
    (void)me, (void)unused;
    lock_guard();
    atomic_store(&inside, true);
    unlock_guard();
}

static void threads_are_in_there_one_at_a_time(const lock_info *unused)
{
    (void)unused;
    enum { THREADS = 3 };
    team_member team[THREADS];
    lock_guard();
    team_start(team, THREADS, enter_and_tell, NULL);
    team_await_asleep(team, THREADS);
    CHECK(!atomic_load(&inside), "two at a time");
    unlock_guard();
    team_join(team, THREADS);
    CHECK(atomic_load(&inside) && is_free(), "not unlocked");
}

static void a_fork_waits_for_those_in_there(const lock_info *unused)
{
    (void)unused;
    before_fork();
    CHECK(atomic_load(&guard) == HELD && busy, "forks while another thread is in there");
    after_fork();
    CHECK(is_free(), "not unlocked after a fork");
    lock_guard();
    busy = true;
    before_fork(); /* in there, as a handler of SIGABRT is */
    after_fork();
    CHECK(atomic_load(&guard) == HELD && busy, "unlocked by a fork inside");
}

static void nobody_is_cancelled_in_there(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    for (int i = 0; i < 2; i++) {
        bool could = can_be_cancelled();
        CHECK(enter() != NULL && !can_be_cancelled(), "a lock is a cancellation point");
        leave();
        CHECK(can_be_cancelled() == could, "another state than before");
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    }
}

/* ---- without memory */

static void a_thread_without_memory_is_not_watched(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    no_memory = true;
    CHECK(enter() == NULL && is_free() && can_be_cancelled(), "still in there");
    lock(&locks[0]);
    unlock(&locks[0]);
}

static void a_lock_without_memory_is_not_watched(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    lock(&locks[0]);
    no_memory = true;
    lock(&locks[1]);
    CHECK(self->held != NULL && self->held->address == &locks[0], "a lock without a record is held");
    no_memory = false;
    unlock(&locks[0]);
    CHECK(self->held == NULL && is_free(), "still held, or in there");
}

static void a_stack_without_memory_is_not_known(const lock_info *unused)
{
    (void)unused;
    char text[1024] = "";
    int says[2];
    begin(CONTINUE);
    CHECK(pipe(says) == 0, "pipe");
    int before = dup(STDERR_FILENO);
    dup2(says[1], STDERR_FILENO);
    pawl_debug_report_not_held(&(debug_thread){0}, &locks[0], KIND, NULL, NULL);
    dup2(before, STDERR_FILENO);
    CHECK(read(says[0], text, sizeof text - 1) > 0, "no report");
    CHECK(strstr(text, "here:\n    (not known)\n  it was not locked lately\n") != NULL, "it says\n%s", text);
}

/* ---- what is recorded */

static const debug_lock *record(const void *l)
{
    return pawl_debug_lock_find(l);
}

static void a_lock_costs_one_backtrace(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    lock(&locks[0]);
    CHECK(stacks == 1 && record(&locks[0])->taken == self->stack, "%d backtraces", stacks);
    pawl_debug_locked(&locks[1], KIND, PAWL_HOW_TRY); /* unannounced */
    CHECK(stacks == 2 && record(&locks[1])->taken != self->stack, "%d backtraces", stacks);
}

static void a_wait_takes_the_lock_anew(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    lock(&locks[0]);
    const debug_stack *first = record(&locks[0])->taken;
    CHECK(pawl_debug_wait_begin(&locks[0]) && self->held == NULL, "held while it waits");
    CHECK(!pawl_debug_wait_begin(&locks[0]), "a wait without the lock");
    pawl_debug_wait_end(&locks[0], KIND);
    CHECK(record(&locks[0])->taken != first, "taken where it was before");
}

static void no_wait_is_watched_without_debug_mode(const lock_info *unused)
{
    (void)unused;
    begin(OFF);
    CHECK(!pawl_debug_wait_begin(&locks[0]), "watched");
    pawl_debug_wait_end(&locks[0], KIND); /* for code that was compiled with hooks */
    CHECK(record(&locks[0]) == NULL && is_free(), "recorded");
}

static void memory_may_become_another_lock(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    lock(&locks[0]);
    lock(&locks[1]);
    unlock(&locks[1]);
    CHECK(record(&locks[1]) != NULL, "a lock with an order was forgotten");
    pawl_debug_locked(&locks[1], "other", 0);
    CHECK(strcmp(record(&locks[1])->kind, "other") == 0, "still a %s", record(&locks[1])->kind);
}

static void a_thread_ends_and_may_come_back(const lock_info *unused)
{
    (void)unused;
    begin(CONTINUE);
    pawl_debug_thread_end(); /* of one that has not locked */
    CHECK(self == NULL && is_free(), "known before its time");
    for (int i = 0; i < 2; i++) {
        lock(&locks[0]);
        unlock(&locks[0]);
        CHECK(self != NULL && self->id == thread_id(), "not known");
        pawl_debug_thread_end();
        CHECK(self == NULL && is_free(), "still known");
    }
}

#define MODE(check_)                                                                                         \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "mode"                                                  \
    }

static const promise promises[] = {
    MODE(the_environment_is_read_once),
    MODE(it_is_prepared_before_the_first_lock),
    MODE(a_threads_first_lock_prepares_for_its_end),
    MODE(threads_are_in_there_one_at_a_time),
    MODE(a_fork_waits_for_those_in_there),
    MODE(nobody_is_cancelled_in_there),
    MODE(a_thread_without_memory_is_not_watched),
    MODE(a_lock_without_memory_is_not_watched),
    MODE(a_stack_without_memory_is_not_known),
    MODE(a_lock_costs_one_backtrace),
    MODE(a_wait_takes_the_lock_anew),
    MODE(no_wait_is_watched_without_debug_mode),
    MODE(memory_may_become_another_lock),
    MODE(a_thread_ends_and_may_come_back),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
