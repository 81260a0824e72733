/* reports.c - what debug mode reports, and what it does not
 *
 * Every case is another run of this program, with PAWL_DEBUG set for it: `--case NAME LOCK`.
 */
#include "harness.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static const char *program;

typedef struct outcome {
    int status;
    pid_t process;
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
    o.process = child;
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
static void reports(const char *name, const char *lock, const char *mode, const char *title, const char *one,
                    const char *other)
{
    outcome o = run(name, lock, mode);
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
    reports("self", lock->name, NULL, "pawl: self-deadlock", "takes_first", "takes_again");
}

static void unlock_not_held(const lock_info *lock)
{
    reports("unlock", lock->name, NULL, "pawl: unlock of a lock that is not held", "unlocks_first",
            "unlocks_again");
}

static void unlock_by_another(const lock_info *lock)
{
    if (lock->oblivious)
        is_silent("foreign", lock->name, "1");
    else
        reports("foreign", lock->name, NULL, "pawl: unlock by a thread that does not hold the lock",
                "takes_first", "unlocks_elsewhere");
}

static void inversion(const lock_info *lock)
{
    reports("inversion", lock->name, NULL, "pawl: lock-order inversion", "takes_a_then_b", "takes_b_then_a");
}

static void cycle_of_three(const lock_info *lock)
{
    reports("three", lock->name, NULL, "pawl: lock-order inversion", "takes_a_then_b", "takes_c_then_a");
    outcome o = run("three", lock->name, "abort");
    CHECK(strstr(o.text, "takes_b_then_c") != NULL, "the second of three is missing\n%s", o.text);
}

static void destruction(const lock_info *lock)
{
    reports("destruction", lock->name, NULL, "pawl: destruction of a lock that is held", "takes_first",
            "destroys");
}

static void shared_by_processes(const lock_info *lock)
{
    reports("shared", lock->name, NULL, "pawl: lock that two processes use", "takes_shared",
            "has taken it before");
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

/* ---- what a report says, word for word */

/* The function that calls the lock's is the first or the second frame. */
#define STACK(function) "    #0  *" function "+0x[1-9a-f]* (debug_reports+0x[1-9a-f]*)\n*"

static const struct {
    const char *name, *lock, *text;
} wordings
    [] =
        {
            {"self", "mcs",
             "pawl: self-deadlock (process @)\n"
             "  thread @ waits for pawl_mcs 0x*, which it holds; it waits here:\n" STACK(
                 "takes_again") "  and took it here:\n" STACK("takes_first")},
            {"unlock", "mcs",
             "pawl: unlock of a lock that is not held (process @)\n"
             "  thread @ unlocks pawl_mcs 0x* here:\n" STACK(
                 "unlocks_again") "  it was last unlocked here:\n" STACK("unlocks_first")},
            {"abort_forks", "pawl_mutex",
             "pawl: unlock of a lock that is not held (process @)\n"
             "  thread @ unlocks pawl_mutex 0x* here:\n" STACK("drop_m") "  it was not locked lately\n"},
            {"foreign", "hemlock",
             "pawl: unlock by a thread that does not hold the lock (process @)\n"
             "  thread [1-9]* unlocks pawl_hemlock 0x* here:\n" STACK(
                 "unlocks_elsewhere") "  thread @ took it here:\n" STACK("takes_first")},
            {"three", "mcs",
             "pawl: lock-order inversion (process @)\n"
             "  thread @ holds pawl_mcs 0x*, taken here:\n" STACK(
                 "takes_c_then_a") "  and takes pawl_mcs 0x* "
                                   "here:\n" STACK("takes_c_then_a") "  but thread @ held pawl_mcs 0x*, "
                                                                     "taken here:\n" STACK("takes_b_then_c") "  and took pawl_mcs 0x* here:\n" STACK(
                                                                         "takes_b_then_c") "  but "
                                                                                           "thread @ "
                                                                                           "held "
                                                                                           "pawl_mcs "
                                                                                           "0x*, "
                                                                                           "taken "
                                                                                           "here:"
                                                                                           "\n" STACK(
                                                                                               "takes_a_then_"
                                                                                               "b") "  and "
                                                                                                    "took "
                                                                                                    "pawl_"
                                                                                                    "mcs 0x* "
                                                                                                    "here:"
                                                                                                    "\n" STACK(
                                                                                                        "take"
                                                                                                        "s_a_"
                                                                                                        "then"
                                                                                                        "_"
                                                                                                        "b")},
            {"destruction", "mcs",
             "pawl: destruction of a lock that is held (process @)\n"
             "  thread @ destroys pawl_mcs 0x* here:\n" STACK("destroys") "  thread @ took it here:\n" STACK(
                 "takes_first")},
            {"shared", "mcs",
             "pawl: lock that two processes use (process [1-9]*)\n"
             "  thread [1-9]* takes pawl_mcs 0x*, in shared memory, here:\n" STACK(
                 "takes_shared") "  process @ has taken it before; locks are for the threads of one "
                                 "process\n"},
            {"bare_destruction", "pawl_mutex",
             "pawl: destruction of a lock that is held (process @)\n"
             "  thread @ destroys pawl_mutex 0x* here:\n" STACK(
                 "destroys_m") "  nobody knows who took it: not code that is compiled with -DPAWL_DEBUG\n"},
};

/* Replaces every @ by the process's number, which is also that of its first thread. */
static void fill_in(char *to, size_t size, const char *pattern, pid_t process)
{
    size_t length = 0;
    for (; *pattern != '\0' && length + 16 < size; pattern++)
        length += (size_t)(*pattern == '@' ? sprintf(to + length, "%d", (int)process)
                                           : sprintf(to + length, "%c", *pattern));
}

/* Frames count up from 0, and none is the library's own. */
static void check_frames(const char *text)
{
    int last = -1, number;
    for (const char *line = text; line != NULL; line = strchr(line + 1, '\n')) {
        if (sscanf(line, "\n    #%d", &number) != 1)
            continue;
        CHECK(number == 0 || number == last + 1, "frame %d after %d\n%s", number, last, text);
        last = number;
    }
    CHECK(last > 0 && strstr(text, "pawl_debug") == NULL, "a frame of the library's\n%s", text);
}

static void wording(const lock_info *unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
        char pattern[4096] = "";
        outcome o = run(wordings[i].name, wordings[i].lock, "1");
        fill_in(pattern, sizeof pattern, wordings[i].text, o.process);
        CHECK(fnmatch(pattern, o.text, 0) == 0, "%s says\n%s\ninstead of\n%s", wordings[i].name, o.text,
              pattern);
        check_frames(o.text);
    }
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
    is_silent("inversions", "pawl_fairmutex", "0");
}

static void waits(const lock_info *unused)
{
    (void)unused;
    is_silent("conditions", "pawl_mutex", NULL);
    is_silent("conditions", "pawl_mutex", "1");
}

static void waits_backwards(const lock_info *unused)
{
    (void)unused;
    reports("backwards", "pawl_mutex", NULL, "pawl: lock-order inversion", "waits_with_both",
            "waits_with_both");
}

static void forks(const lock_info *unused)
{
    (void)unused;
    is_silent("forks", "pawl_mutex", NULL);
}

static void forks_with_handlers(const lock_info *unused)
{
    (void)unused;
    is_silent("forks_with_handlers", "pawl_mutex", NULL);
    is_silent("forks_with_handlers", "pawl_mutex", "1");
}

static void abort_forks(const lock_info *unused)
{
    (void)unused;
    outcome o = run("abort_forks", "pawl_mutex", NULL);
    CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "status %#x\n%s", o.status, o.text);
    CHECK(times(o.text, "pawl: unlock of a lock that is not held") == 1, "not one report\n%s", o.text);
}

static void calls(const lock_info *unused)
{
    (void)unused;
    is_silent("calls", "pawl_mutex", NULL);
    outcome o = run("calls", "pawl_mutex", "1");
    CHECK(aborted(&o) && strstr(o.text, "calls_a_then_b") && strstr(o.text, "calls_b_then_a"),
          "status %#x\n%s", o.status, o.text);
    is_silent("call_waits", "pawl_mutex", "1");
    is_silent("calls_mixed", "pawl_mutex", "1");
    reports("try_call_then_again", "pawl_mutex", "1", "pawl: self-deadlock", "try_call_then_again",
            "try_call_then_again");
}

/* A wait in code without hooks: the library reports it. */
static void bare_waits(const lock_info *unused)
{
    (void)unused;
    outcome o = run("bare_wait_then_again", "pawl_mutex", "1");
    CHECK(aborted(&o) && strstr(o.text, "pawl: self-deadlock") && strstr(o.text, "locks_after_waiting"),
          "not held after the wait: status %#x\n%s", o.status, o.text);
    o = run("bare_wait_then_foreign", "pawl_mutex", "1");
    CHECK(aborted(&o) && strstr(o.text, "pawl: unlock of a lock that is not held"),
          "held during the wait: status %#x\n%s", o.status, o.text);
}

/* The child's own order, with what the parent did before; and the parent goes on. */
static void forks_and_reports(const lock_info *unused)
{
    (void)unused;
    outcome o = run("fork_inverts", "pawl_mutex", "continue");
    CHECK(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "status %#x\n%s", o.status, o.text);
    CHECK(times(o.text, "pawl: lock-order inversion") == 2, "not one report of each\n%s", o.text);
    const char *child = strstr(o.text, "(process ");
    int process = 0, thread = -1;
    CHECK(child != NULL && sscanf(child, "(process %d)\n  thread %d", &process, &thread) == 2, "%s", o.text);
    CHECK(process == thread && process != o.process, "process %d, thread %d\n%s", process, thread, o.text);
}

static void comes_and_goes(const lock_info *unused)
{
    (void)unused;
    is_silent("threads_of_their_own", "pawl_mutex", NULL);
    is_silent("little_memory", "pawl_mutex", NULL);
    reports("destroys_then_inverts", "mcs", NULL, "pawl: lock-order inversion", "takes_a_then_b",
            "takes_b_then_a");
}

static void errno_stays(const lock_info *unused)
{
    (void)unused;
    is_silent("keeps_errno", "pawl_mutex", "continue");
    is_silent("keeps_errno", "pawl_mutex", "0");
    is_silent("keeps_errno", "mcs", "0");
}

static void exempts_mixed(const lock_info *unused)
{
    (void)unused;
    is_silent("mixed", "pawl_mutex", NULL);
    is_silent("mixed_threads", "pawl_mutex", NULL);
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
    {.name = "reports_name_threads_locks_and_places", .check = wording, .subject = "debug"},
    {.name = "waits_of_other_code_are_watched", .check = bare_waits, .subject = "debug"},
    {.name = "children_of_fork_report", .check = forks_and_reports, .subject = "debug"},
    {.name = "threads_and_locks_come_and_go", .check = comes_and_goes, .subject = "debug"},
    {.name = "errno_is_left_alone", .check = errno_stays, .subject = "debug"},
    {.name = "locks_taken_by_other_code_are_no_error", .check = exempts_mixed, .subject = "debug"},
};

int main(int argc, char **argv)
{
    static lock_info locks[SUBJECTS]; /* without the semaphore, which nobody owns */
    if (argc == 4 && strcmp(argv[1], "--case") == 0)
        return run_case(argv[2], argv[3]);
    program = argv[0];
    memcpy(locks, lock_table, sizeof lock_table);
    return harness_run(argc, argv, promises, sizeof promises / sizeof *promises, locks, false);
}
