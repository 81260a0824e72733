/* parking.c - what the parking layer promises the locks above it */
#include "team.h"

#include "../src/mutex.h"
#include "../src/park/events.h"
#include "../src/park/fence.h"
#include "../src/park/pause.h"
#include "../src/park/word.h"

#include <pawl/ticket.h>

#include <sched.h>
#include <sys/mman.h>
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
    const void *other = (const void *)((uintptr_t)&ticket.serving + 256); /* never read */
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

/* ---- lines that every unlock reads */

static void read_lines_have_no_neighbours(const lock_info *unused)
{
    (void)unused;
    CHECK((uintptr_t)&pawl_unlock_fences % PAWL_SECTOR == 0, "at %p", (void *)&pawl_unlock_fences);
    CHECK((uintptr_t)pawl_parked % PAWL_SECTOR == 0, "at %p", (void *)pawl_parked);
    CHECK((uintptr_t)pawl_mutex_dormant % PAWL_SECTOR == 0, "at %p", (void *)pawl_mutex_dormant);
    _Static_assert(sizeof pawl_unlock_fences % PAWL_SECTOR == 0, "whole sectors");
    _Static_assert(sizeof pawl_parked % PAWL_SECTOR == 0, "whole sectors");
    _Static_assert(sizeof pawl_mutex_dormant % PAWL_SECTOR == 0, "whole sectors");
}

/* If it is written, this process ends. */
static void unchanged_slots_are_not_written(const lock_info *unused)
{
    (void)unused;
    static pawl_mutex m;
    CHECK(mprotect(pawl_mutex_dormant, sizeof pawl_mutex_dormant, PROT_READ) == 0, "cannot protect it");
    pawl_bucket *b = pawl_bucket_lock(&m);
    pawl_mutex_set_dormant(b, &m, false);
    pawl_bucket_unlock(b);
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

static void ask_on(int me, void *arg)
{
    bind_to(cpus[me]);
    pawl_may_spin();
    pthread_barrier_wait(arg);
    CHECK(pawl_may_spin(), "thread %d does not spin", me);
}

static void threads_bound_to_cpus_of_their_own_spin(const lock_info *unused)
{
    (void)unused;
    pthread_barrier_t both;
    find_two_cpus();
    bind_to(cpus[0]); /* the main thread tells nothing then to the first of them */
    pthread_barrier_init(&both, NULL, 2);
    team_run(2, ask_on, &both);
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

/* A thread's answer holds for some waits, and notes of others for a second. */
static void affinity_may_change(const lock_info *unused)
{
    (void)unused;
    pthread_barrier_t both;
    find_two_cpus();
    CHECK(pawl_pauses(1000) > 0, "does not spin");
    bind_to(cpus[0]);
    for (int i = 0; pawl_pauses(1000) > 0; i++)
        CHECK(i < 1000, "still spins on one CPU");
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0, "cannot be freed");
    for (int i = 0; pawl_pauses(1000) == 0; i++)
        CHECK(i < 1000, "still does not spin");
    pthread_barrier_init(&both, NULL, 2);
    bind_to(cpus[0]);
    team_run(2, ask_on, &both);
    await_no_spinning();
}

static const promise promises[] = {
    {.name = "posts_elsewhere_pay_nothing", .check = posts_elsewhere_pay_nothing, .subject = "park"},
    {.name = "calls_are_counted", .check = calls_are_counted, .subject = "park"},
    {.name = "read_lines_have_no_neighbours", .check = read_lines_have_no_neighbours, .subject = "park"},
    {.name = "unchanged_slots_are_not_written", .check = unchanged_slots_are_not_written, .subject = "park"},
    {.name = "threads_bound_to_cpus_of_their_own_spin",
     .check = threads_bound_to_cpus_of_their_own_spin,
     .subject = "park"},
    {.name = "a_process_on_one_cpu_does_not_spin",
     .check = a_process_on_one_cpu_does_not_spin,
     .subject = "park"},
    {.name = "affinity_may_change", .check = affinity_may_change, .subject = "park"},
};

HARNESS_MAIN(promises)
