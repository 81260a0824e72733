/* policy.c - how threads wait is chosen by the environment, or by the program at any time */
#include "team.h"

#include <pawl/ticket.h>
#include "../src/hardware.h"
#include "../src/park/hint.h"
#include "../src/park/word.h"
#include "../src/park/yield.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Yields of a waiter, so many of which pay, and its sleeps; with a hint that this test gives. */
static int turns, worthwhile, sleeps;
static pawl_cpu cpu = PAWL_CPU_UNKNOWN;

static bool fake_yield(void)
{
    return turns++ < worthwhile;
}

static void fake_slept(void)
{
    sleeps++;
}

static pawl_cpu fake_cpu(void)
{
    return cpu;
}

#define pawl_yield      fake_yield
#define pawl_hint_slept fake_slept
#define pawl_hint_cpu   fake_cpu
#include "../src/wait.c"

static const char *program;

/* The policy of a new process with that PAWL_WAIT, or none. */
static int policy_with(const char *value)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0, "cannot fork");
    if (child == 0) {
        if (value != NULL)
            setenv("PAWL_WAIT", value, 1);
        else
            unsetenv("PAWL_WAIT");
        execl(program, program, "--policy", (char *)NULL);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "status %#x", (unsigned)status);
    if (WEXITSTATUS(status) == 99)
        skip("cannot run itself: under an emulator, say");
    return WEXITSTATUS(status);
}

static void environment_chooses(const lock_info *unused)
{
    (void)unused;
    CHECK(policy_with("spin") == PAWL_WAIT_SPIN, "not spin");
    CHECK(policy_with("yield") == PAWL_WAIT_YIELD, "not yield");
    CHECK(policy_with("park") == PAWL_WAIT_PARK, "not park");
    CHECK(policy_with(NULL) == PAWL_WAIT_PARK, "the default is not park");
    CHECK(policy_with("nap") == PAWL_WAIT_PARK, "an unknown value changes the default");
}

static void unknown_values_are_refused(const lock_info *unused)
{
    (void)unused;
    CHECK(pawl_set_wait(PAWL_WAIT_YIELD) && pawl_get_wait() == PAWL_WAIT_YIELD, "cannot be set");
    CHECK(!pawl_set_wait((pawl_policy)17), "17 is a policy");
    CHECK(pawl_get_wait() == PAWL_WAIT_YIELD, "and was set");
}

static pawl_ticket ticket;

static void lock_once(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    pawl_ticket_unlock(&ticket, &c);
}

static void waits_under_way_change(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    pawl_ticket_ctx c;
    pawl_set_wait(PAWL_WAIT_SPIN);
    pawl_ticket_lock(&ticket, &c);
    team_start(team, 1, lock_once, NULL);
    while (atomic_load(&ticket.next) != 2)
        sched_yield();
    CHECK(pawl_parked_threads() == 0, "sleeps instead of spinning");
    pawl_set_wait(PAWL_WAIT_PARK);
    while (pawl_parked_threads() == 0)
        sched_yield();
    pawl_set_wait(PAWL_WAIT_SPIN);
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, 1);
}

/* In place of libc's: which threads yield? */
static __thread bool counted;
static atomic_int yields;

int sched_yield(void)
{
    if (counted)
        atomic_fetch_add(&yields, 1);
    return (int)syscall(SYS_sched_yield);
}

static clockid_t cpu_time;
static atomic_int started;

static void lock_counted(int me, void *arg)
{
    pthread_getcpuclockid(pthread_self(), &cpu_time);
    counted = true;
    atomic_store(&started, 1);
    lock_once(me, arg);
}

/* That the waiter has run so long. */
static bool has_run(int64_t nanoseconds)
{
    struct timespec used;
    clock_gettime(cpu_time, &used);
    return used.tv_sec > 0 || used.tv_nsec >= nanoseconds;
}

static void a_policy_is_kept(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    pawl_ticket_ctx c;
    pawl_set_wait(PAWL_WAIT_SPIN);
    pawl_ticket_lock(&ticket, &c);
    team_start(team, 1, lock_counted, NULL);
    await(&started, 1);
    while (!has_run(20000000))
        sched_yield();
    CHECK(atomic_load(&yields) == 0 && pawl_parked_threads() == 0, "does not only spin");
    pawl_set_wait(PAWL_WAIT_YIELD);
    while (atomic_load(&yields) < 5000) /* asleep, it would not get so far */
        sched_yield();
    CHECK(pawl_parked_threads() == 0, "sleeps instead of yielding");
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, 1);
}

/* ---- waiting for a cache line, by a processor that we make up */

static unsigned room; /* for such waits in a spinning phase */
static atomic_int hardware_waits;

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    (void)w, (void)seen;
    atomic_fetch_add(&hardware_waits, 1);
    return room;
}

static pawl_word word;

static unsigned looks_after(pawl_waiter *me)
{
    atomic_store(&hardware_waits, 0);
    pawl_wait_turn(me, &word, 0, PAWL_ANY);
    return me->looks;
}

static void a_spinning_phase_is_shorter_by_hardware_waits(const lock_info *unused)
{
    (void)unused;
    pawl_waiter me = {.looks = 10, .most = 100}, fresh = PAWL_WAITER;
    pawl_set_wait(PAWL_WAIT_PARK);
    CHECK(looks_after(&fresh) == 0 && fresh.most > 0 && fresh.state == PAWL_LOOKING, "parks at once");
    CHECK(looks_after(&me) == 10 && atomic_load(&hardware_waits) == 1, "%u looks", me.looks);
    room = 4;
    CHECK(looks_after(&me) == 35 && atomic_load(&hardware_waits) == 1, "%u looks", me.looks);
    CHECK(me.most == 100 && me.state == PAWL_LOOKING, "another phase");
    me.looks = 100;
    CHECK(looks_after(&me) == 100 && atomic_load(&hardware_waits) == 0, "looks for ever");
    CHECK(me.state != PAWL_LOOKING, "does not park");
    pawl_wait_over(&me, &word);
    pawl_set_wait(PAWL_WAIT_SPIN);
    CHECK(looks_after(&me) == 100 && atomic_load(&hardware_waits) == 1, "does not spin");
    pawl_set_wait(PAWL_WAIT_YIELD);
    CHECK(looks_after(&me) == 100 && atomic_load(&hardware_waits) == 0, "waits while it could yield");
}

static void a_waiter_yields_as_long_as_it_pays(const lock_info *unused)
{
    (void)unused;
    static const struct {
        pawl_cpu cpu;
        int worthwhile, turns;
    } cases[] = {{PAWL_CPU_OURS, 9, 0},
                 {PAWL_CPU_UNKNOWN, 9, 0},
                 {PAWL_CPU_WANTED, 0, 1},
                 {PAWL_CPU_WANTED, 9, 10},
                 {PAWL_CPU_WANTED, INT_MAX, PAWL_WAIT_YIELDS}};
    pawl_set_wait(PAWL_WAIT_PARK); /* whatever the environment says */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pawl_waiter me = {.looks = 100, .most = 100};
        cpu = cases[i].cpu;
        worthwhile = cases[i].worthwhile;
        turns = sleeps = 0;
        while (me.state == PAWL_LOOKING && turns < 1000)
            pawl_wait_turn(&me, &word, 0, PAWL_ANY);
        CHECK(turns == cases[i].turns && sleeps == 1, "case %zu: %d yields, %d sleeps", i, turns, sleeps);
        pawl_wait_over(&me, &word);
    }
}

static const promise promises[] = {
    {.name = "a_spinning_phase_is_shorter_by_hardware_waits",
     .check = a_spinning_phase_is_shorter_by_hardware_waits,
     .subject = "wait"},
    {.name = "a_waiter_yields_as_long_as_it_pays",
     .check = a_waiter_yields_as_long_as_it_pays,
     .subject = "wait"},
    {.name = "environment_chooses", .check = environment_chooses, .subject = "wait"},
    {.name = "unknown_values_are_refused", .check = unknown_values_are_refused, .subject = "wait"},
    {.name = "a_policy_is_kept", .check = a_policy_is_kept, .subject = "wait"},
    {.name = "waits_under_way_change", .check = waits_under_way_change, .subject = "wait"},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--policy") == 0)
        return (int)pawl_get_wait();
    program = argv[0];
    return harness_run(argc, argv, promises, sizeof promises / sizeof *promises, subjects(), false);
}
