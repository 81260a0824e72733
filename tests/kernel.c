/* kernel.c - what the parking layer asks of the kernel, and what it makes of the answers
 *
 * The kernel is simulated: it records what it is asked, and answers as the test says. Parts of the fence that are not
 * exported are tested as well, so its source is part of this program.
 */
#include "team.h"

#include "../src/park/fence.c"
#include "../src/park/queue.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { CALLS = 64, MS = 1000000 };

static bool acting; /* else it is the kernel itself */
static long asked[CALLS][7];
static int answers[CALLS], count; /* 0, or an error */

/* Replaces libc's, with as many arguments as there may be. */
long syscall(long number, ...)
{
    static long (*libc)(long, ...);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (!acting) {
        if (libc == NULL)
            *(void **)&libc = dlsym(RTLD_NEXT, "syscall");
        return libc(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    CHECK(count < CALLS, "no end of calls");
    asked[count][0] = number;
    memcpy(&asked[count][1], a, sizeof a);
    int answer = answers[count++];
    if (answer == 0)
        return 0;
    errno = answer;
    return -1;
}

/* The answers to the next calls, as far as they are errors. */
static void act(int first, int second, int third)
{
    acting = true;
    count = 0;
    memset(answers, 0, sizeof answers);
    answers[0] = first;
    answers[1] = second;
    answers[2] = third;
    errno = 77;
}

static void expect_calls(int n)
{
    CHECK(count == n, "%d calls, not %d", count, n);
    CHECK(errno == 77, "errno is %d", errno);
}

/* ---- futexes */

static _Atomic(uint32_t) futex;

static void deadlines_are_checked(const lock_info *unused)
{
    (void)unused;
    static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    struct timespec first = {0, 0}, last = {5, 999999999}, negative = {5, -1}, beyond = {5, 1000000000};
    for (int i = 0; i < 2; i++) {
        CHECK(pawl_deadline_check(clocks[i], &first) == 0, "0 is no time");
        CHECK(pawl_deadline_check(clocks[i], &last) == 0, "the last nanosecond is no time");
        CHECK(pawl_deadline_check(clocks[i], &negative) == EINVAL, "a nanosecond too early");
        CHECK(pawl_deadline_check(clocks[i], &beyond) == EINVAL, "a nanosecond too late");
    }
    CHECK(pawl_deadline_check(CLOCK_PROCESS_CPUTIME_ID, &first) == EINVAL, "a clock that nobody waits by");
}

static void a_wait_says_whether_its_time_came(const lock_info *unused)
{
    (void)unused;
    static const int answers[] = {0, EAGAIN, EINTR, ETIMEDOUT};
    uint64_t waits = pawl_events(PAWL_FUTEX_WAITS), none = pawl_events(PAWL_FUTEX_WAITS_VOID);
    for (int i = 0; i < 4; i++) {
        act(answers[i], 0, 0);
        int result = pawl_futex_wait_bits(&futex, 5, CLOCK_MONOTONIC, NULL, 6);
        CHECK(result == (answers[i] == ETIMEDOUT ? ETIMEDOUT : 0), "%d becomes %d", answers[i], result);
        expect_calls(1);
    }
    CHECK(pawl_events(PAWL_FUTEX_WAITS) == waits + 4, "waits are not counted");
    CHECK(pawl_events(PAWL_FUTEX_WAITS_VOID) == none + 1, "waits that were none are not counted");
}

static void a_wait_is_by_its_clock(const lock_info *unused)
{
    (void)unused;
    struct timespec deadline = {5, 6}, long_ago = {-1, 6};
    for (int real = 0; real < 2; real++) {
        int op = FUTEX_WAIT_BITSET_PRIVATE | (real ? FUTEX_CLOCK_REALTIME : 0);
        act(0, 0, 0);
        pawl_futex_wait_bits(&futex, 7, real ? CLOCK_REALTIME : CLOCK_MONOTONIC, &deadline, 8);
        expect_calls(1);
        const long expected[] = {SYS_futex, (long)&futex, op, 7, (long)&deadline};
        for (int i = 0; i < 5; i++)
            CHECK(i == 2 || i == 3 ? (int)asked[0][i] == expected[i] : asked[0][i] == expected[i],
                  "argument %d is %lx", i, asked[0][i]);
        CHECK((uint32_t)asked[0][6] == 8, "bits %lx", asked[0][6]);
    }
    act(0, 0, 0);
    CHECK(pawl_futex_wait(&futex, 7, CLOCK_REALTIME, &long_ago) == ETIMEDOUT, "waits for the past");
    expect_calls(0);
}

static void wakes_are_for_one_or_for_all(const lock_info *unused)
{
    (void)unused;
    uint64_t wakes = pawl_events(PAWL_FUTEX_WAKES);
    act(EFAULT, EFAULT, EFAULT); /* the memory may be gone */
    pawl_futex_wake(&futex);
    pawl_futex_wake_bits(&futex, 6);
    pawl_futex_wake_shared(&futex);
    expect_calls(3);
    for (int i = 0; i < 3; i++) {
        CHECK(asked[i][0] == SYS_futex && asked[i][1] == (long)&futex, "something else");
        int op = i < 2 ? FUTEX_WAKE_BITSET_PRIVATE : FUTEX_WAKE_BITSET;
        CHECK((int)asked[i][2] == op, "operation %lx", asked[i][2]);
        CHECK((int)asked[i][3] == (i == 0 ? 1 : INT_MAX), "%d are woken", (int)asked[i][3]);
        CHECK((uint32_t)asked[i][6] == (i == 1 ? 6 : UINT32_MAX), "bits %lx", asked[i][6]);
    }
    CHECK(pawl_events(PAWL_FUTEX_WAKES) == wakes + 3, "wakes are not counted");
}

static void a_nap_outlasts_signals(const lock_info *unused)
{
    (void)unused;
    act(EINTR, EINTR, 0);
    pawl_nap(MS);
    expect_calls(3);
    act(EINVAL, 0, 0);
    pawl_nap(MS);
    expect_calls(1);
    acting = false;
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    pawl_nap(2 * MS);
    CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= 2 * MS, "too short");
}

static void from_now_goes_beyond_the_second(const lock_info *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        long ahead = i * (PAWL_SECOND / 1000);
        int64_t before = clock_ns(CLOCK_MONOTONIC);
        struct timespec t = pawl_from_now(CLOCK_MONOTONIC, ahead);
        int64_t at = t.tv_sec * (int64_t)PAWL_SECOND + t.tv_nsec - ahead;
        CHECK(t.tv_nsec >= 0 && t.tv_nsec < PAWL_SECOND, "%ld ns", t.tv_nsec);
        CHECK(before <= at && at <= clock_ns(CLOCK_MONOTONIC), "another time");
    }
}

static void what_is_left_is_known_for_a_year(const lock_info *unused)
{
    (void)unused;
    struct timespec now = pawl_from_now(CLOCK_MONOTONIC, 0), soon = now, later = now;
    CHECK(!pawl_is_before(&now, &now) && pawl_left(CLOCK_MONOTONIC, &now) == 0, "now is later");
    soon.tv_sec += 3600;
    later.tv_sec += 2 * 31536000;
    CHECK(pawl_is_before(&now, &soon) && !pawl_is_before(&later, &soon), "another order");
    int64_t left = pawl_left(CLOCK_MONOTONIC, &soon);
    CHECK(left > 0 && left <= INT64_C(3600) * PAWL_SECOND, "an hour is %lld ns", (long long)left);
    CHECK(pawl_left(CLOCK_MONOTONIC, &later) == INT64_MAX, "in years, and soon");
}

/* ---- the fence */

static bool posts_fence(void)
{
    int fenced = 0;
    for (int i = 0; i < 1 << PAWL_PARKED_BITS; i++)
        fenced += atomic_load(&pawl_parked[i]) != 0;
    CHECK(fenced == 0 || fenced == 1 << PAWL_PARKED_BITS, "some fence and some do not");
    return fenced > 0;
}

static void expect_membarriers(int first, int second, int third)
{
    const int commands[] = {first, second, third};
    for (int i = 0; i < 3; i++)
        if (commands[i] != 0)
            CHECK(i < count && asked[i][0] == SYS_membarrier && (int)asked[i][1] == commands[i],
                  "call %d of %d is %ld (%ld)", i, count, asked[i][0], asked[i][1]);
}

enum { DO = MEMBARRIER_CMD_PRIVATE_EXPEDITED, REGISTER = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED };

static void the_kernel_is_asked_once(const lock_info *unused)
{
    (void)unused;
    act(0, 0, 0);
    CHECK(pawl_use_membarrier(true) && !posts_fence(), "does not want what it is offered");
    expect_membarriers(REGISTER, 0, 0);
    expect_calls(1);
    act(0, 0, 0);
    pawl_fence_heavy();
    expect_membarriers(DO, 0, 0);
    expect_calls(1);
    CHECK(!posts_fence(), "posts fence, too");
    act(EPERM, 0, 0);
    CHECK(!pawl_use_membarrier(true) && posts_fence(), "takes no for a yes");
    expect_calls(1);
    act(0, 0, 0);
    CHECK(pawl_use_membarrier(true) && !posts_fence(), "posts fence for ever");
    act(0, 0, 0);
    CHECK(!pawl_use_membarrier(false) && posts_fence(), "uses it all the same");
    pawl_fence_heavy();
    expect_calls(0);
}

/* In a child of fork() and before the constructor it has to be asked again. */
static void fence_as(uint32_t now, int refusals)
{
    pawl_parked_fence(false);
    atomic_store(&how, now);
    act(refusals > 0 ? EPERM : 0, refusals > 1 ? EPERM : 0, 0);
    pawl_fence_heavy();
}

static void a_kernel_that_refuses_is_asked_no_more(const lock_info *unused)
{
    (void)unused;
    uint64_t before = pawl_events(PAWL_MEMBARRIERS);
    fence_as(BY_MEMBARRIER, 1);
    expect_membarriers(DO, REGISTER, DO);
    expect_calls(3);
    CHECK(!posts_fence() && atomic_load(&how) == BY_MEMBARRIER, "gave up");
    CHECK(pawl_events(PAWL_MEMBARRIERS) >= before + 3, "not counted");

    fence_as(BY_MEMBARRIER, 2);
    expect_membarriers(DO, REGISTER, 0);
    CHECK(asked[2][0] == SYS_nanosleep, "no grace period");
    expect_calls(3);
    CHECK(posts_fence(), "and nobody fences");
    act(0, 0, 0);
    pawl_fence_heavy();
    expect_calls(0);
}

static void frequent_membarriers_make_posts_fence(const lock_info *unused)
{
    (void)unused;
    uint32_t now = pawl_ticks();
    CHECK(pawl_use_membarrier(true), "none here");
    CHECK(!pawl_gave_up_membarrier(), "given up from the start");
    atomic_store(&cost.since, now);
    atomic_store(&cost.spent, 0);
    for (int i = 0; i < 39; i++)
        CHECK(!is_too_dear(now, now + 200), "%d calls that may have lost their CPUs", i);
    CHECK(!is_too_dear(now, now + PAWL_TICKS(WINDOW) + 1), "of another window");
    CHECK(atomic_load(&cost.spent) == PAWL_TICKS(CALL), "something is left over");
    CHECK(atomic_load(&cost.since) == now + PAWL_TICKS(WINDOW) + 1, "no window begins");

    atomic_store(&cost.since, pawl_ticks());
    atomic_store(&cost.spent, PAWL_TICKS(WINDOW) / 4);
    fence_as(BY_MEMBARRIER, 0);
    expect_membarriers(DO, DO, 0);
    expect_calls(2);
    CHECK(posts_fence() && !pawl_uses_membarrier(), "nobody fences");
    CHECK(pawl_gave_up_membarrier(), "and nobody is told");
    act(0, 0, 0);
    pawl_fence_heavy();
    expect_calls(0);
    atomic_store(&how, BY_MEMBARRIER); /* as seen by a thread that was under way: it does not switch, too */
    pawl_fence_heavy();
    expect_calls(1);
    CHECK(pawl_use_membarrier(true) && !pawl_gave_up_membarrier(), "given up for ever");
}

static void a_refusal_as_posts_begin_to_fence_means_a_grace_period(const lock_info *unused)
{
    (void)unused;
    CHECK(pawl_use_membarrier(true), "none here");
    atomic_store(&cost.since, pawl_ticks());
    atomic_store(&cost.spent, PAWL_TICKS(WINDOW) / 4);
    pawl_parked_fence(false);
    act(0, EPERM, 0);
    uint32_t start = pawl_ticks();
    pawl_fence_heavy();
    expect_membarriers(DO, DO, 0);
    CHECK(count == 3 && asked[2][0] == SYS_nanosleep, "no grace period");
    CHECK(pawl_ticks() - start > PAWL_TICKS(GRACE_NS), "not if the kernel refuses that, too");
    CHECK(posts_fence() && !pawl_uses_membarrier(), "nobody fences");
}

/* In the parent, a thread makes posts fence, and this is the moment of the fork. */
static void a_child_finishes_what_another_thread_began(const lock_info *unused)
{
    (void)unused;
    CHECK(pawl_use_membarrier(true), "none here");
    atomic_store(&cost.over, 1);
    pawl_fork_fence();
    CHECK(pawl_uses_membarrier() && !posts_fence(), "it had not begun");
    CHECK(atomic_load(&cost.over) == 0, "the child's membarriers may cost what they want");
    atomic_store(&cost.over, 1);
    atomic_store(&pawl_parked[1], (uint64_t)1 << 32);
    act(0, 0, 0);
    pawl_fork_fence();
    CHECK(posts_fence() && !pawl_uses_membarrier(), "posts fence, and sleepers call the kernel");
    expect_calls(0);
}

static void skip_in_sandbox(void)
{
    if (prctl(PR_GET_SECCOMP) > 0)
        skip("in a sandbox");
}

static void before_the_start_it_is_asked_if_it_may_be(const lock_info *unused)
{
    (void)unused;
    CHECK(unsetenv("PAWL_NO_MEMBARRIER") == 0, "cannot be cleared");
    skip_in_sandbox();
    fence_as(UNDECIDED, 0);
    expect_membarriers(REGISTER, DO, 0);
    expect_calls(2);
    CHECK(!posts_fence(), "posts fence, too");

    act(0, EPERM, 0);
    pawl_fence_heavy(); /* still undecided; it registers, and then refuses */
    expect_membarriers(REGISTER, DO, 0);
    CHECK(count == 3 && asked[2][0] == SYS_nanosleep && posts_fence(), "nobody fences");

    CHECK(setenv("PAWL_NO_MEMBARRIER", "1", 1) == 0, "cannot be set");
    fence_as(UNDECIDED, 0);
    CHECK(count == 1 && asked[0][0] == SYS_nanosleep, "asked all the same");
    CHECK(posts_fence(), "and nobody fences");
}

static void the_environment_may_forbid_it(const lock_info *unused)
{
    (void)unused;
    skip_in_sandbox();
    act(0, 0, 0);
    unsetenv("PAWL_NO_MEMBARRIER");
    ask_kernel();
    expect_calls(1);
    CHECK(!posts_fence(), "posts fence, too");
    act(0, 0, 0);
    setenv("PAWL_NO_MEMBARRIER", "1", 1);
    ask_kernel();
    expect_calls(0);
    CHECK(posts_fence(), "and nobody fences");
}

/* ---- sandboxes */

static void enter_sandbox(void)
{
    struct sock_filter rule = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {1, &rule};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
        skip("no seccomp filters here");
}

static int lowest_free_file(void)
{
    int file = dup(STDERR_FILENO);
    CHECK(file >= 0 && close(file) == 0, "no files");
    return file;
}

static void a_sandbox_is_noticed(const lock_info *unused)
{
    (void)unused;
    int file = lowest_free_file();
    skip_in_sandbox();
    CHECK(!pawl_in_sandbox(), "there is none");
    enter_sandbox();
    CHECK(pawl_in_sandbox(), "not noticed");
    CHECK(lowest_free_file() == file, "a file is left open");
    struct rlimit files, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0, "no limit");
    none = files;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "cannot be limited");
    errno = 77;
    CHECK(!pawl_in_sandbox(), "knows what it cannot read");
    CHECK(errno == 77, "errno is %d", errno);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0, "limited for ever"); /* a leak checker opens some */
}

/* ---- parking on a word, step by step */

static pawl_word word PAWL_ALIGNED;

static void expect_sleepers(uint32_t n, uint32_t which, const char *when)
{
    uint32_t parked = atomic_load(&pawl_place_of(&word, which).bucket->parked);
    CHECK(parked == n, "%u in the bucket %s", parked, when);
    CHECK(pawl_parked_threads() == n && pawl_is_parked_on(&word) == (n > 0), "counted wrongly %s", when);
}

static void expect_sleep(uint32_t number, uint32_t which, bool briefly)
{
    pawl_place p = pawl_place_of(&word, which);
    CHECK(count == 1 && asked[0][0] == SYS_futex && (uint32_t)asked[0][3] == number, "does not sleep");
    CHECK(asked[0][1] == (long)&p.bucket->sequence && (uint32_t)asked[0][6] == p.kind, "elsewhere");
    CHECK((asked[0][4] != 0) == briefly, "for another time");
}

static void check_steps(uint32_t which)
{
    pawl_waiter me = PAWL_WAITER;
    _Atomic(uint32_t) *sequence = &pawl_place_of(&word, which).bucket->sequence;
    atomic_store(sequence, 41);
    act(0, 0, 0);
    pawl_park(&me, &word, which, false);
    expect_membarriers(DO, 0, 0);
    CHECK(count == 1 && me.state == PAWL_READY && me.ticket == 41, "sleeps at once");
    expect_sleepers(1, which, "before it sleeps");
    act(EAGAIN, 0, 0);
    atomic_store(sequence, 42);
    pawl_park(&me, &word, which, false);
    expect_sleep(41, which, false);
    CHECK(me.state == PAWL_ANNOUNCED, "does not look before it sleeps again");
    act(0, 0, 0);
    pawl_park(&me, &word, which, false);
    CHECK(count == 0 && me.state == PAWL_READY && me.ticket == 42, "ticket %u", me.ticket);
    pawl_park(&me, &word, which, true);
    expect_sleep(42, which, true);
    act(0, 0, 0);
    pawl_wait_over(&me, &word);
    CHECK(count == 0 && me.state == PAWL_LOOKING, "not over");
    expect_sleepers(0, which, "after its wait");
}

static void a_waiter_looks_between_its_steps(const lock_info *unused)
{
    (void)unused;
    act(0, 0, 0);
    pawl_use_membarrier(true);
    check_steps(PAWL_ANY);
    check_steps(PAWL_VALUE(3));
    check_steps(PAWL_VALUE(0));
}

static void a_brief_sleep_ends_by_itself(const lock_info *unused)
{
    (void)unused;
    pawl_waiter me = PAWL_WAITER;
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 2; i++)
        pawl_park(&me, &word, PAWL_ANY, true);
    CHECK(clock_ns(CLOCK_MONOTONIC) - begin >= MS, "too short");
    pawl_wait_over(&me, &word);
}

/* A post of 3, while somebody sleeps for these posts. */
static void check_post(uint32_t which, bool hears)
{
    pawl_place p = pawl_place_of(&word, which);
    uint32_t before = atomic_load(&p.bucket->sequence);
    act(0, 0, 0);
    atomic_store(&p.bucket->parked, 1);
    pawl_unpark(&word, 3);
    atomic_store(&p.bucket->parked, 0);
    expect_calls(hears ? 1 : 0);
    CHECK(atomic_load(&p.bucket->sequence) == before + hears, "who looks again, sleeps on");
    if (hears)
        CHECK(asked[0][0] == SYS_futex && asked[0][1] == (long)&p.bucket->sequence &&
                  (uint32_t)asked[0][6] == p.kind,
              "something else");
}

static void a_post_calls_the_kernel_if_somebody_sleeps(const lock_info *unused)
{
    (void)unused;
    act(0, 0, 0);
    pawl_unpark(&word, 3);
    expect_calls(0);
    check_post(PAWL_ANY, true);
    check_post(PAWL_VALUE(3), true);
    check_post(PAWL_VALUE(4), false);
}

#define KERNEL(check_)                                                                                       \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "kernel"                                                \
    }

static const promise promises[] = {
    KERNEL(deadlines_are_checked),
    KERNEL(a_wait_says_whether_its_time_came),
    KERNEL(a_wait_is_by_its_clock),
    KERNEL(wakes_are_for_one_or_for_all),
    KERNEL(a_nap_outlasts_signals),
    KERNEL(from_now_goes_beyond_the_second),
    KERNEL(what_is_left_is_known_for_a_year),
    KERNEL(the_kernel_is_asked_once),
    KERNEL(a_kernel_that_refuses_is_asked_no_more),
    KERNEL(frequent_membarriers_make_posts_fence),
    KERNEL(a_child_finishes_what_another_thread_began),
    KERNEL(a_refusal_as_posts_begin_to_fence_means_a_grace_period),
    KERNEL(before_the_start_it_is_asked_if_it_may_be),
    KERNEL(the_environment_may_forbid_it),
    KERNEL(a_sandbox_is_noticed),
    KERNEL(a_waiter_looks_between_its_steps),
    KERNEL(a_brief_sleep_ends_by_itself),
    KERNEL(a_post_calls_the_kernel_if_somebody_sleeps),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
