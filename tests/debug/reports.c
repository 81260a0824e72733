/* reports.c - what the debug mode reports, and what it does not
 *
 * Every case is another run of this program, with PAWL_DEBUG set for it: `--case NAME LOCK`.
 */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static const char *program;

typedef struct outcome {
    int status;
    char text[16384];
} outcome;

/* Runs a case with that PAWL_DEBUG, or none, and keeps what it says. */
static outcome run(const char *name, const char *lock, const char *mode)
{
    outcome o = {0};
    int says[2];
    CHECK(pipe(says) == 0, "pipe");
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        alarm(300);
        dup2(says[1], STDERR_FILENO);
        close(says[0]);
        close(says[1]);
        if (mode != NULL)
            setenv("PAWL_DEBUG", mode, 1);
        else
            unsetenv("PAWL_DEBUG");
        execl(program, program, "--case", name, lock, (char *)NULL);
        _exit(99);
    }
    close(says[1]);
    size_t length = 0;
    ssize_t n;
    while ((n = read(says[0], o.text + length, sizeof o.text - 1 - length)) > 0)
        length += (size_t)n;
    close(says[0]);
    waitpid(child, &o.status, 0);
    return o;
}

static bool aborted(const outcome *o)
{
    return WIFSIGNALED(o->status) && WTERMSIG(o->status) == SIGABRT;
}

static int times(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

/* Aborts after a report with that title and the names of both functions. */
static void reports(const char *name, const char *lock, const char *title, const char *one, const char *other)
{
    outcome o = run(name, lock, NULL);
    CHECK(aborted(&o), "%s of %s: status %#x, and no abort\n%s", name, lock, o.status, o.text);
    CHECK(times(o.text, title) == 1, "%s of %s: no '%s'\n%s", name, lock, title, o.text);
    CHECK(strstr(o.text, one) != NULL, "%s of %s: no '%s'\n%s", name, lock, one, o.text);
    CHECK(strstr(o.text, other) != NULL, "%s of %s: no '%s'\n%s", name, lock, other, o.text);
}

static void is_silent(const char *name, const char *lock, const char *mode)
{
    outcome o = run(name, lock, mode);
    CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "%s of %s: status %#x\n%s", name, lock, o.status,
          o.text);
    CHECK(o.text[0] == '\0', "%s of %s says\n%s", name, lock, o.text);
}

/* ---- for every lock */

static void self_deadlock(const lock_info *lock)
{
    reports("self", lock->name, "pawl: self-deadlock", "takes_first", "takes_again");
}

static void unlock_not_held(const lock_info *lock)
{
    reports("unlock", lock->name, "pawl: unlock of a lock that is not held", "unlocks_first",
            "unlocks_again");
}

static void unlock_by_another(const lock_info *lock)
{
    if (lock->oblivious)
        is_silent("foreign", lock->name, "1");
    else
        reports("foreign", lock->name, "pawl: unlock by a thread that does not hold the lock", "takes_first",
                "unlocks_elsewhere");
}

static void inversion(const lock_info *lock)
{
    reports("inversion", lock->name, "pawl: lock-order inversion", "takes_a_then_b", "takes_b_then_a");
}

static void cycle_of_three(const lock_info *lock)
{
    reports("three", lock->name, "pawl: lock-order inversion", "takes_a_then_b", "takes_c_then_a");
    outcome o = run("three", lock->name, "abort");
    CHECK(strstr(o.text, "takes_b_then_c") != NULL, "the second of three is missing\n%s", o.text);
}

static void destruction(const lock_info *lock)
{
    reports("destruction", lock->name, "pawl: destruction of a lock that is held", "takes_first", "destroys");
}

static void shared_by_processes(const lock_info *lock)
{
    reports("shared", lock->name, "pawl: lock that two processes use", "takes_shared", "has taken it before");
}

static void correct_programs(const lock_info *lock)
{
    is_silent("correct", lock->name, "1");
    is_silent("correct", lock->name, NULL);
    is_silent("reuse", lock->name, NULL);
    is_silent("exit", lock->name, NULL);
    if (lock->trylock != NULL)
        is_silent("trylock", lock->name, NULL);
}

/* ---- once */

/* With a lock that leaves nothing of a process behind. */
static void shared_in_turn(const lock_info *unused)
{
    (void)unused;
    is_silent("shared_in_turn", "ticket", "1");
}

static void continues(const lock_info *unused)
{
    (void)unused;
    outcome o = run("inversions", "mcs", "continue");
    CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "status %#x\n%s", o.status, o.text);
    CHECK(times(o.text, "pawl: lock-order inversion") == 1, "not one report\n%s", o.text);
}

static void off(const lock_info *unused)
{
    (void)unused;
    is_silent("inversions", "mcs", "0");
    is_silent("inversions", "fairmutex", "0");
}

static void waits(const lock_info *unused)
{
    (void)unused;
    is_silent("conditions", "mutex", NULL);
    is_silent("conditions", "mutex", "1");
}

static void waits_backwards(const lock_info *unused)
{
    (void)unused;
    reports("backwards", "mutex", "pawl: lock-order inversion", "waits_with_both", "waits_with_both");
}

static void forks(const lock_info *unused)
{
    (void)unused;
    is_silent("forks", "mutex", NULL);
}

static void forks_with_handlers(const lock_info *unused)
{
    (void)unused;
    is_silent("forks_with_handlers", "mutex", NULL);
    is_silent("forks_with_handlers", "mutex", "1");
}

static void abort_forks(const lock_info *unused)
{
    (void)unused;
    outcome o = run("abort_forks", "mutex", NULL);
    CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "status %#x\n%s", o.status, o.text);
    CHECK(times(o.text, "pawl: unlock of a lock that is not held") == 1, "not one report\n%s", o.text);
}

static void calls(const lock_info *unused)
{
    (void)unused;
    is_silent("calls", "mutex", NULL);
    outcome o = run("calls", "mutex", "1");
    CHECK(aborted(&o) && strstr(o.text, "calls_a_then_b") && strstr(o.text, "calls_b_then_a"),
          "status %#x\n%s", o.status, o.text);
    is_silent("call_waits", "mutex", "1");
}

static void exempts_mixed(const lock_info *unused)
{
    (void)unused;
    is_silent("mixed", "mutex", NULL);
}

static const promise promises[] = {
    {.name = "self_deadlock_is_reported", .check = self_deadlock},
    {.name = "unlock_not_held_is_reported", .check = unlock_not_held},
    {.name = "unlock_by_another_thread_is_reported_unless_allowed", .check = unlock_by_another},
    {.name = "inversion_is_reported", .check = inversion},
    {.name = "cycle_of_three_is_reported", .check = cycle_of_three},
    {.name = "destruction_while_held_is_reported", .check = destruction},
    {.name = "sharing_by_processes_is_reported", .check = shared_by_processes},
    {.name = "processes_may_take_turns", .check = shared_in_turn, .subject = "debug"},
    {.name = "correct_programs_are_not_reported", .check = correct_programs},
    {.name = "continue_reports_once_and_goes_on", .check = continues, .subject = "debug"},
    {.name = "zero_is_off", .check = off, .subject = "debug"},
    {.name = "waits_on_a_condition_release", .check = waits, .subject = "debug"},
    {.name = "a_wait_that_holds_another_lock_is_reported", .check = waits_backwards, .subject = "debug"},
    {.name = "children_of_fork_go_on", .check = forks, .subject = "debug"},
    {.name = "fork_handlers_may_lock", .check = forks_with_handlers, .subject = "debug"},
    {.name = "who_handles_the_abort_may_fork", .check = abort_forks, .subject = "debug"},
    {.name = "calls_are_watched_at_run_time", .check = calls, .subject = "debug"},
    {.name = "locks_taken_by_other_code_are_no_error", .check = exempts_mixed, .subject = "debug"},
};

int main(int argc, char **argv)
{
    static lock_info locks[SUBJECTS];
    if (argc == 4 && strcmp(argv[1], "--case") == 0)
        return run_case(argv[2], argv[3]);
    program = argv[0];
    memcpy(locks, lock_table, sizeof lock_table);
    locks[LOCK_COUNT] = mutex_as_lock; /* in the place of the semaphore, which nobody owns */
    return harness_run(argc, argv, promises, sizeof promises / sizeof *promises, locks);
}
