/* hint.c - what libpawl makes of the service of `pawl hint`, with one that this test plays */
#include "hint_service.h"

#include <pawl/ticket.h>

#include <sys/wait.h>

enum { LOOKS = 100 };

/* ---- what is read */

static void a_map_tells_how_long_to_look(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    CHECK(pawl_hint_most(LOOKS) == LOOKS, "without a hint");
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    atomic_store(&pawl_hint_now, &h);
    static const struct {
        uint32_t ready, running;
        unsigned looks;
    } cases[] = {{0, 0, LOOKS}, {1, 1, LOOKS}, {1, 2, LOOKS * PAWL_HINT_LONGER},
                 {2, 2, 0},     {2, 1, 0},     {900, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_all(cases[i].ready, cases[i].running);
        unsigned looks = pawl_hint_most(LOOKS);
        CHECK(looks == cases[i].looks, "%u ready, %u running: %u looks", cases[i].ready, cases[i].running,
              looks);
    }
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
    for (int i = 1; i < SLEEPS; i++)
        pawl_hint_join();
    CHECK(fake.requests == 0, "a thread that rarely sleeps asks");
    errno = 12345;
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
    {.name = "what_is_stale_is_forgotten", .check = what_is_stale_is_forgotten, .subject = "hint"},
    {.name = "it_can_be_switched_off", .check = it_can_be_switched_off, .subject = "hint"},
    {.name = "each_thread_registers_itself_once",
     .check = each_thread_registers_itself_once,
     .subject = "hint"},
    {.name = "bad_answers_cost_a_try", .check = bad_answers_cost_a_try, .subject = "hint"},
    {.name = "another_user_is_not_trusted", .check = another_user_is_not_trusted, .subject = "hint"},
    {.name = "a_child_registers_for_itself", .check = a_child_registers_for_itself, .subject = "hint"},
    {.name = "lies_cost_no_wake_up", .check = lies_cost_no_wake_up, .subject = "hint"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
