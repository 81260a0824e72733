/* hint.c - what libpawl makes of the service of `pawl hint`, with one that this test plays */
#include "hint_service.h"

#include <pawl/mutex.h>
#include <pawl/ticket.h>

#include <fcntl.h>
#include <sys/wait.h>

enum { LOOKS = 160 };

/* ---- what is read */

/* How often a thread looks before it sleeps. */
static unsigned looks(void)
{
    unsigned count = 0;
    while (pawl_hint_looks_on(count, LOOKS))
        count++;
    return count;
}

static void a_map_tells_how_long_to_look(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    CHECK(looks() == LOOKS && pawl_hint_cpu() == PAWL_CPU_UNKNOWN, "without a hint");
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    atomic_store(&pawl_hint_now, &h);
    static const struct {
        uint32_t ready, running; /* on each CPU; on so many CPUs */
        unsigned looks;
        pawl_cpu cpu;
    } cases[] = {{0, 0, LOOKS, PAWL_CPU_OURS},
                 {1, 0, LOOKS, PAWL_CPU_OURS},
                 {1, PAWL_HINT_CPUS, LOOKS * PAWL_HINT_LONGER, PAWL_CPU_OURS},
                 {2, PAWL_HINT_CPUS, 0, PAWL_CPU_WANTED},
                 {2, 0, 0, PAWL_CPU_WANTED},
                 {900, 0, 0, PAWL_CPU_WANTED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_all(cases[i].ready, cases[i].running);
        CHECK(looks() == cases[i].looks && pawl_hint_cpu() == cases[i].cpu, "%u ready, %u running: %u looks",
              cases[i].ready, cases[i].running, looks());
    }
}

/* Of the thread itself the sheet says nothing new. */
static void a_thread_is_not_its_own_neighbour(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "not bound");
    make_maps();
    set_all(1, 0);
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    atomic_store(&pawl_hint_now, &h);
    fake.sheet->cpu[sched_getcpu()] = 7;
    CHECK(looks() == LOOKS, "it waits for itself: %u looks", looks());
    fake.sheet->cpu[sched_getcpu() + 1] = 7;
    CHECK(looks() == LOOKS * PAWL_HINT_LONGER, "it does not see another: %u looks", looks());
    fake.cpus->count = (uint32_t)sched_getcpu() + 1;
    CHECK(looks() == LOOKS, "it looks where no CPU is");
}

static void what_is_stale_is_forgotten(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    for (int what = 0; what < 5; what++) {
        fake.cpus->magic = PAWL_HINT_MAGIC + (what == 1);
        fake.cpus->version = what == 2 ? 0 : PAWL_HINT_VERSION + (what == 3);
        fake.cpus->heartbeat = milliseconds() - (what == 4 ? PAWL_HINT_STALE_MS : 0);
        atomic_store(&pawl_hint_now, &h);
        pawl_hint_begin();
        CHECK((atomic_load(&pawl_hint_now) == &h) == (what == 0), "case %d", what);
    }
}

/* ---- how it is found */

static void it_can_be_switched_off(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    begin(getuid());
    team_start(team, 1, serve, NULL);
    make_maps();
    hint.wanted = 0;
    setenv("PAWL_HINT", "off", 1);
    find_service();
    sleep_often();
    CHECK(!hint.wanted && fake.requests == 0 && pawl_hint_find() == PAWL_HINT_UNWANTED, "it is used");
    setenv("PAWL_HINT", "/nowhere", 1);
    find_service();
    sleep_often();
    CHECK(!hint.wanted && fake.requests == 0 && pawl_hint_find() == PAWL_HINT_NONE,
          "it is looked for elsewhere");
    end(team);
}

static void join_once(int me, void *tid)
{
    (void)me;
    *(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
    sleep_often();
}

static void each_thread_registers_itself_once(const lock_info *unused)
{
    (void)unused;
    team_member team[1], other[1];
    uint32_t tid;
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    int files = open_files();
    for (int i = 1; i < SLEEPS; i++) {
        pawl_hint_slept();
        pawl_hint_join();
    }
    CHECK(fake.requests == 0, "a thread that rarely sleeps asks");
    errno = 12345;
    pawl_hint_slept();
    pawl_hint_join();
    CHECK(errno == 12345, "errno is lost");
    CHECK(fake.requests == 1 && fake.pid == (uint32_t)getpid() && fake.tid == (uint32_t)syscall(SYS_gettid),
          "it has not said who it is");
    pawl_hint *h = atomic_load(&pawl_hint_now);
    CHECK(h != NULL, "nothing mapped");
    await_files(files);
    for (int i = 0; i < 10; i++)
        sleep_often();
    CHECK(fake.requests == 1, "it asks again");
    team_start(other, 1, join_once, &tid);
    team_join(other, 1);
    CHECK(fake.requests == 2 && fake.tid == tid, "the other thread");
    CHECK(atomic_load(&pawl_hint_now) == h, "mapped twice");
    CHECK(pawl_hint_find() == PAWL_HINT_WORKS, "doctor");
    /* it stops, and another starts */
    fake.cpus->version = 0;
    pawl_hint_begin();
    fake.cpus->version = PAWL_HINT_VERSION;
    fake.instance = 2;
    sleep_often();
    CHECK(fake.requests == 4 && atomic_load(&pawl_hint_now) != NULL && atomic_load(&pawl_hint_now) != h,
          "the new one is not used");
    await_files(files);
    end(team);
}

static void bad_answers_cost_a_try(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    int files = open_files();
    for (int how = SILENT; how <= CLOSING; how++) {
        atomic_store(&fake.manner, how);
        uint32_t before = fake.requests;
        hint.next_ms = milliseconds();
        sleep_often();
        CHECK(atomic_load(&pawl_hint_now) == NULL, "manner %d is believed", how);
        while (fake.requests == before)
            sched_yield();
        CHECK(fake.requests == before + 1, "manner %d: %u requests", how, fake.requests - before);
        if (how == SILENT)
            close(fake.held);
        await_files(files);
        CHECK(hint.pause_ms >= PAWL_HINT_PAUSE && hint.pause_ms <= MOST_MS, "it would ask again at once");
    }
    CHECK(hint.used == 0, "mapped");
    uint32_t requests = fake.requests;
    hint.next_ms = milliseconds() + MOST_MS;
    sleep_often();
    CHECK(fake.requests == requests, "it asks too early");
    atomic_store(&fake.manner, GOOD);
    hint.next_ms = milliseconds();
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) != NULL && hint.pause_ms == 0, "a good answer is not used");
    end(team);
}

static void another_user_is_not_trusted(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    if (geteuid() != 0)
        skip("only root can be another user");
    make_maps();
    begin(65534);
    team_start(team, 1, serve, NULL);
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) == NULL, "trusted");
    shutdown(fake.listener, SHUT_RDWR); /* which ends accept() */
    end(team);
}

static void a_child_registers_for_itself(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) != NULL, "not mapped");
    pid_t child = fork();
    if (child == 0) {
        bool forgotten = atomic_load(&pawl_hint_now) == NULL;
        sleep_often();
        _exit(!forgotten ? 1 : atomic_load(&pawl_hint_now) == NULL ? 2 : 0);
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
    patience_us = 600000000;
    team_start(talker, 1, join_once_more, NULL);
    while (fake.requests == 0)
        sched_yield();
    int talks_on = hint.open[SOCKET] - 1;
    CHECK(talks_on >= 0 && fcntl(talks_on, F_GETFD) == FD_CLOEXEC, "descriptor %d", talks_on);
    pid_t child = fork();
    if (child == 0)
        _exit(fcntl(talks_on, F_GETFD) == -1 && errno == EBADF && hint.busy == 0 && hint.open[SOCKET] == 0
                  ? 0
                  : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child has it");
    CHECK(fcntl(talks_on, F_GETFD) == FD_CLOEXEC, "and the parent has not");
    atomic_store(&fake.manner, GOOD);
    shutdown(fake.held, SHUT_RDWR);
    team_join(talker, 1);
    patience_us = 50000; /* nobody answers the last request */
    end(team);
}

/* A service that stood still for a while and goes on is the same: a process has room for 32. */
static void a_service_that_stops_and_goes_on_is_mapped_once(const lock_info *unused)
{
    (void)unused;
    team_member team[1];
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    sleep_often();
    for (int i = 0; i < 2 * MAPPINGS; i++) {
        fake.cpus->heartbeat = milliseconds() - 2 * PAWL_HINT_STALE_MS;
        pawl_hint_begin();
        CHECK(atomic_load(&pawl_hint_now) == NULL, "it is still believed");
        hint.next_ms = milliseconds();
        sleep_often();
        CHECK(atomic_load(&pawl_hint_now) != NULL && hint.used == 1, "round %d: %u are mapped", i, hint.used);
    }
    end(team);
}

/* ---- locks */

static pawl_ticket ticket;
static _Atomic(uint32_t) over;
static uint64_t count;

static void add(int me, void *rounds)
{
    (void)me;
    pawl_ticket_ctx c;
    for (size_t i = 0; i < *(size_t *)rounds; i++) {
        pawl_ticket_lock(&ticket, &c);
        count++;
        pawl_ticket_unlock(&ticket, &c);
    }
}

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

/* Service and kernel at once, whatever comes to their minds. */
static void lie(int me, void *unused)
{
    (void)me, (void)unused;
    for (uint32_t i = 0; !atomic_load(&over); i++) {
        set_all(i % 3, i % 4);
        fake.cpus->heartbeat = milliseconds() - (i % 7 == 0 ? 2 * PAWL_HINT_STALE_MS : 0);
        fake.cpus->version = PAWL_HINT_VERSION + (i % 11 == 0);
        fake.instance = i / 64;
        sched_yield();
    }
}

static void lies_cost_no_wake_up(const lock_info *unused)
{
    (void)unused;
    enum { THREADS = 6 };
    team_member service[1], liar[1], team[THREADS];
    size_t rounds = scaled(3000);
    make_maps();
    begin(getuid());
    team_start(service, 1, serve, NULL);
    team_start(liar, 1, lie, NULL);
    team_start(team, THREADS, add, &rounds);
    team_join(team, THREADS);
    atomic_store(&over, 1);
    team_join(liar, 1);
    CHECK(count == THREADS * rounds, "counted %ju", (uintmax_t)count);
    CHECK(hint.used <= MAPPINGS, "mapped %u times", hint.used);
    end(service);
}

static const promise promises[] = {
    {.name = "a_map_tells_how_long_to_look", .check = a_map_tells_how_long_to_look, .subject = "hint"},
    {.name = "a_thread_is_not_its_own_neighbour",
     .check = a_thread_is_not_its_own_neighbour,
     .subject = "hint"},
    {.name = "what_is_stale_is_forgotten", .check = what_is_stale_is_forgotten, .subject = "hint"},
    {.name = "it_can_be_switched_off", .check = it_can_be_switched_off, .subject = "hint"},
    {.name = "each_thread_registers_itself_once",
     .check = each_thread_registers_itself_once,
     .subject = "hint"},
    {.name = "bad_answers_cost_a_try", .check = bad_answers_cost_a_try, .subject = "hint"},
    {.name = "another_user_is_not_trusted", .check = another_user_is_not_trusted, .subject = "hint"},
    {.name = "a_child_registers_for_itself", .check = a_child_registers_for_itself, .subject = "hint"},
    {.name = "a_child_inherits_no_descriptor", .check = a_child_inherits_no_descriptor, .subject = "hint"},
    {.name = "a_service_that_stops_and_goes_on_is_mapped_once",
     .check = a_service_that_stops_and_goes_on_is_mapped_once,
     .subject = "hint"},
    {.name = "waiters_yield_to_those_that_want_the_cpu",
     .check = waiters_yield_to_those_that_want_the_cpu,
     .subject = "hint"},
    {.name = "lies_cost_no_wake_up", .check = lies_cost_no_wake_up, .subject = "hint"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
