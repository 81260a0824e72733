/* parking.c - what the parking layer promises the locks above it
 *
 * Not all of what decides whether to spin is exported, so its source is part of this program.
 */
#include "sanitized.h"
#include "team.h"

#include "../src/park/events.h"
#include "../src/park/fence.h"
#include "../src/park/pause.c"
#include "../src/park/word.h"

#include <pawl/ticket.h>

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

/* ---- a post pays only for those that are parked in its place */

static pawl_ticket ticket;

static void lock_once(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    pawl_ticket_unlock(&ticket, &c);
}

static void posts_elsewhere_pay_nothing(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    pawl_ticket_ctx c;
    const volatile void *other = (const volatile void *)((uintptr_t)&ticket.serving + 256);
    if (!pawl_use_membarrier(true))
        skip("every post fences");
    pawl_set_wait(PAWL_WAIT_PARK);
    pawl_ticket_lock(&ticket, &c);
    team_start(team, 1, lock_once, NULL);
    while (pawl_parked_threads() == 0)
        sched_yield();
    CHECK(pawl_is_parked_on(&ticket.serving), "a post would not wake it");
    CHECK(!pawl_is_parked_on(other), "a post to another word looks for it");
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, 1);
    CHECK(!pawl_is_parked_on(&ticket.serving), "still counted");
    CHECK(pawl_events(PAWL_MEMBARRIERS) > 0, "membarriers are not counted");
}

static void calls_are_counted(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    pawl_ticket_ctx c;
    pawl_ticket_lock(&ticket, &c);
    team_start(team, 1, lock_once, NULL);
    while (pawl_parked_threads() == 0)
        sched_yield();
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, 1);
    CHECK(pawl_events(PAWL_FUTEX_WAKES) == 1, "%llu wakes",
          (unsigned long long)pawl_events(PAWL_FUTEX_WAKES));
    CHECK(pawl_events(PAWL_FUTEX_WAITS) >= pawl_events(PAWL_FUTEX_WAITS_VOID),
          "more were void than there were");
}

/* Asleep in the order of their tickets, all at one word. A sleeper that is woken before its turn sleeps once more. */
static void a_post_wakes_the_one_whose_turn_it_is(const lock_info *unused)
{
    enum { SLEEPERS = 124 };
    (void)unused;
    static team_member team[SLEEPERS];
    pawl_ticket_ctx c;
    pawl_set_wait(PAWL_WAIT_PARK);
    pawl_ticket_lock(&ticket, &c);
    team_start(team, SLEEPERS, lock_once, NULL);
    while (pawl_parked_threads() < SLEEPERS)
        sched_yield();
    pawl_ticket_unlock(&ticket, &c);
    team_join(team, SLEEPERS);
    uint64_t waits = pawl_events(PAWL_FUTEX_WAITS);
    CHECK(waits <= SLEEPERS + SLEEPERS / 8, "%llu waits of %d", (unsigned long long)waits, SLEEPERS);
}

/* ---- lines that every post reads */

static void read_lines_have_no_neighbours(const lock_info *unused)
{
    (void)unused;
    CHECK((uintptr_t)pawl_parked % PAWL_SECTOR == 0, "at %p", (void *)pawl_parked);
    _Static_assert(sizeof pawl_parked % PAWL_SECTOR == 0, "whole sectors");
}

/* ---- whether to spin */

static cpu_set_t all;
static int cpus[2];

static void find_two_cpus(void)
{
    int found = 0;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0, "no affinity");
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &all))
            cpus[found++] = cpu;
    if (found < 2)
        skip("one CPU");
}

static void bind_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "cannot bind to CPU %d", cpu);
}

static void await_no_spinning(void)
{
    for (int i = 0; pawl_may_spin(); i++) {
        CHECK(i < 3000, "still spins");
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

/* Each leaves notes until the other has found one: they are good for a second only. */
static void ask_on(int me, void *arg)
{
    atomic_int *sure = arg;
    bool spins = false;
    bind_to(cpus[me]);
    for (int i = 0; atomic_load(sure) < 2; i++) {
        if (pawl_may_spin() && !spins) {
            spins = true;
            atomic_fetch_add(sure, 1);
        }
        CHECK(i < 3000, "thread %d does not spin", me);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void threads_bound_to_cpus_of_their_own_spin(const lock_info *unused)
{
    (void)unused;
    atomic_int sure = 0;
    find_two_cpus();
    bind_to(cpus[0]); /* the main thread tells nothing then to the first of them */
    team_run(2, ask_on, &sure);
}

static void ask_once(int me, void *arg)
{
    (void)me;
    *(bool *)arg = pawl_may_spin();
}

static void a_process_on_one_cpu_does_not_spin(const lock_info *unused)
{
    (void)unused;
    bool other = true;
    find_two_cpus();
    bind_to(cpus[0]);
    CHECK(!pawl_may_spin(), "spins");
    CHECK(pawl_pauses(1000) == 0, "spins");
    team_run(1, ask_once, &other);
    CHECK(!other, "another thread spins");
}

/* A thread's answer holds for some waits, and the notes of others for a second. */
static void affinity_may_change(const lock_info *unused)
{
    (void)unused;
    atomic_int sure = 0;
    find_two_cpus();
    CHECK(pawl_pauses(1000) > 0, "does not spin");
    bind_to(cpus[0]);
    for (int i = 0; pawl_pauses(1000) > 0; i++)
        CHECK(i < 1000, "still spins on one CPU");
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0, "cannot be freed");
    for (int i = 0; pawl_pauses(1000) == 0; i++)
        CHECK(i < 1000, "still does not spin");
    bind_to(cpus[0]);
    team_run(2, ask_on, &sure);
    await_no_spinning();
}

static void notes_tell_of_other_cpus_for_a_second(const lock_info *unused)
{
    (void)unused;
    uint32_t now = 7; /* the ticks have just come round */
    for (int i = 0; i < NOTES; i++) {
        uint64_t five = (uint64_t)(5 + 1) << 32, oldest = now - (RECENT - 1);
        memset(notes, 0, sizeof notes);
        CHECK(!is_bound_elsewhere(5, now), "no notes, and somebody is bound");
        atomic_store(&notes[i], five | now);
        CHECK(is_bound_elsewhere(4, now) && !is_bound_elsewhere(5, now), "place %d: another CPU", i);
        atomic_store(&notes[i], five | oldest);
        CHECK(is_bound_elsewhere(4, now) && !is_bound_elsewhere(4, now + 1), "place %d: another time", i);
    }
}

static void a_bound_thread_leaves_a_note(const lock_info *unused)
{
    (void)unused;
    find_two_cpus();
    for (int i = 0; i < 2; i++) {
        bind_to(cpus[i]);
        uint32_t before = pawl_ticks();
        pawl_may_spin();
        uint64_t note = atomic_load(&notes[cpus[i] % NOTES]);
        CHECK(note >> 32 == (uint64_t)cpus[i] + 1, "CPU %d, not %d", (int)(note >> 32) - 1, cpus[i]);
        CHECK((uint32_t)note - before <= pawl_ticks() - before, "another time");
    }
}

#ifndef SANITIZED /* which has a sched_getaffinity() of its own */

static pid_t refused = -1; /* to tell the affinity of this one */

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    static int (*libc)(pid_t, size_t, cpu_set_t *);
    if (pid == refused) {
        errno = EINVAL;
        return -1;
    }
    if (libc == NULL)
        *(void **)&libc = dlsym(RTLD_NEXT, "sched_getaffinity");
    return libc(pid, size, set);
}

static void ask_in_vain(int me, void *arg)
{
    (void)me, (void)arg;
    bind_to(cpus[1]);
    refused = getpid();
    errno = 77;
    CHECK(!pawl_may_spin(), "takes the main thread's affinity for another");
    CHECK(errno == 77, "errno is %d", errno);
}

/* A machine of more than 1024 CPUs is no reason to sleep, and a main thread that may run anywhere is no reason to
 * spin. */
static void an_affinity_may_not_be_told(const lock_info *unused)
{
    (void)unused;
    find_two_cpus();
    bind_to(cpus[0]);
    refused = 0;
    errno = 77;
    CHECK(pawl_may_spin(), "sleeps");
    CHECK(errno == 77, "errno is %d", errno);
    team_run(1, ask_in_vain, NULL);
}

#endif

static int64_t time_of(uint32_t pauses)
{
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < pauses; i++)
        pawl_pause();
    return clock_ns(CLOCK_MONOTONIC) - begin;
}

/* A thread that loses its CPU takes longer, and measures too little. That happens, but not each time. */
static void pauses_take_about_as_long(const lock_info *unused)
{
    (void)unused;
    enum { ABOUT = 200000, ROUNDS = 9, MOST = 100 };
    int rounds = 0, too_few = 0;
    bool short_enough = false;
#ifdef PAWL_TEST_EMULATED
    skip("an emulator takes its time");
#endif
    CHECK(pawl_pauses(0) == 0 && spins == 0, "asked for nothing, and counted");
    if (!pawl_may_spin())
        skip("nobody spins on one CPU");
    for (; rounds < ROUNDS || (!short_enough && rounds < MOST); rounds++) {
        atomic_store(&pauses_in_64us, 0);
        uint32_t pauses = pawl_pauses(ABOUT);
        CHECK(atomic_load(&pauses_in_64us) != 0, "measures every time");
        int64_t took = time_of(pauses);
        short_enough |= took < 4 * ABOUT;
        too_few += took < ABOUT / 4;
    }
    CHECK(short_enough, "too many");
    CHECK(2 * too_few < rounds, "too few");
}

static const promise promises[] = {
    {.name = "notes_tell_of_other_cpus_for_a_second",
     .check = notes_tell_of_other_cpus_for_a_second,
     .subject = "park"},
    {.name = "a_bound_thread_leaves_a_note", .check = a_bound_thread_leaves_a_note, .subject = "park"},
#ifndef SANITIZED
    {.name = "an_affinity_may_not_be_told", .check = an_affinity_may_not_be_told, .subject = "park"},
#endif
    {.name = "pauses_take_about_as_long", .check = pauses_take_about_as_long, .subject = "park"},
    {.name = "posts_elsewhere_pay_nothing", .check = posts_elsewhere_pay_nothing, .subject = "park"},
    {.name = "calls_are_counted", .check = calls_are_counted, .subject = "park"},
    {.name = "a_post_wakes_the_one_whose_turn_it_is",
     .check = a_post_wakes_the_one_whose_turn_it_is,
     .subject = "park"},
    {.name = "read_lines_have_no_neighbours", .check = read_lines_have_no_neighbours, .subject = "park"},
    {.name = "threads_bound_to_cpus_of_their_own_spin",
     .check = threads_bound_to_cpus_of_their_own_spin,
     .subject = "park"},
    {.name = "a_process_on_one_cpu_does_not_spin",
     .check = a_process_on_one_cpu_does_not_spin,
     .subject = "park"},
    {.name = "affinity_may_change", .check = affinity_may_change, .subject = "park"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
