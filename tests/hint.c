/* hint.c - how libpawl finds the service of `pawl hint` and what it reads, with one that this test plays */
#include "hint_service.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

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

/* On one CPU; which. */
static int stay_here(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "not bound");
    return sched_getcpu();
}

/* Of the thread itself the sheet says nothing new. */
static void a_thread_is_not_its_own_neighbour(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    stay_here();
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

/* Wherever it runs, and if it runs elsewhere the next time. */
static void one_neighbour_is_enough(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    int mine = stay_here();
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    atomic_store(&pawl_hint_now, &h);
    for (int count = 1; count <= PAWL_HINT_CPUS; count = count < 4 ? count + 1 : 4 * count) {
        fake.cpus->count = (uint32_t)count;
        for (int at = 0; at < PAWL_HINT_CPUS; at += 1 + at / 4) {
            set_all(1, 0);
            fake.sheet->cpu[at] = 7;
            unsigned expected = at < count && at != mine ? LOOKS * PAWL_HINT_LONGER : LOOKS;
            CHECK(looks() == expected, "on CPU %d of %d: %u looks", at, count, looks());
        }
    }
}

static void an_owner_is_known_by_its_slot(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    CHECK(!pawl_hint_is_off(7) && pawl_hint_slot() == 0, "without a hint");
    atomic_store(&pawl_hint_now, &h);
    CHECK(pawl_hint_slot() == 0, "not registered");
    me.number = 1;
    me.slot = 7;
    CHECK(pawl_hint_slot() == 7, "slot %u", pawl_hint_slot());
    me.number = 2;
    CHECK(pawl_hint_slot() == 0, "registered for another");
    static const struct {
        uint32_t slot, last, at_last; /* its last CPU, plus one; who runs there */
        bool off;
    } cases[] = {{7, 0, 0, false},
                 {7, 1, 7, false},
                 {7, 1, 0, true},
                 {7, 1, 8, true},
                 {7, PAWL_HINT_CPUS, 7, false},
                 {7, PAWL_HINT_CPUS, 6, true},
                 {7, PAWL_HINT_CPUS + 1, 0, false},
                 {PAWL_HINT_SLOTS - 1, 3, 0, true},
                 {0, 1, 7, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset((void *)fake.sheet, 0, sizeof *fake.sheet);
        fake.sheet->thread[cases[i].slot] = cases[i].last;
        if (cases[i].last >= 1 && cases[i].last <= PAWL_HINT_CPUS)
            fake.sheet->cpu[cases[i].last - 1] = cases[i].at_last;
        CHECK(pawl_hint_is_off(cases[i].slot) == cases[i].off, "case %zu", i);
    }
    CHECK(!pawl_hint_is_off(PAWL_HINT_SLOTS) && !pawl_hint_is_off(UINT32_MAX), "beyond the sheet");
}

static void a_sleeper_is_where_it_ran_last(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    for (uint32_t ready = 0; ready < 4; ready++)
        for (uint32_t last = 0; last <= PAWL_HINT_CPUS + 1; last += last < 3 ? 1 : PAWL_HINT_CPUS - 3) {
            atomic_store(&pawl_hint_now, NULL);
            set_all(0, 0);
            fake.sheet->thread[7] = fake.sheet->thread[0] = last;
            if (last >= 1 && last <= PAWL_HINT_CPUS)
                fake.cpus->cpu[last - 1].ready = ready;
            CHECK(!pawl_hint_is_crowded(7), "without a hint");
            atomic_store(&pawl_hint_now, &h);
            bool expected = ready > 1 && last >= 1 && last <= PAWL_HINT_CPUS;
            CHECK(pawl_hint_is_crowded(7) == expected, "%u ready, last on %u", ready, last);
            CHECK(!pawl_hint_is_crowded(0) && !pawl_hint_is_crowded(6), "another");
        }
    CHECK(!pawl_hint_is_crowded(PAWL_HINT_SLOTS), "beyond the sheet");
}

static void what_is_stale_is_forgotten(const lock_info *unused)
{
    (void)unused;
    static pawl_hint h;
    make_maps();
    h = (pawl_hint){fake.cpus, fake.sheet, 1};
    uint32_t before = (uint32_t)(clock_ns(CLOCK_MONOTONIC) / 1000000), now = milliseconds(),
             after = (uint32_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
    CHECK(now - before <= after - before, "%u ms: not the service's clock", now);
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

static int open_files(void)
{
    int count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

/* Until the service has closed its side, too. */
static void await_files(int count)
{
    while (open_files() != count)
        sched_yield();
}

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
    errno = 12345;
    find_service();
    CHECK(errno == 12345, "errno is lost");
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
    hint.next_ms = milliseconds() + MOST_MS;
    begin(getuid());
    CHECK(milliseconds() - hint.next_ms < INT32_MAX, "not at once");
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
    CHECK(h != NULL && pawl_hint_slot() == SLOT, "nothing mapped, or slot %u", pawl_hint_slot());
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

/* Of the service's memory. */
static int maps(void)
{
    char line[512];
    int count = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f != NULL, "no list of mappings");
    while (fgets(line, sizeof line, f) != NULL)
        count += strstr(line, "memfd:hint") != NULL;
    fclose(f);
    return count;
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
        patience_us = how == SILENT ? BRIEFLY : 600000000;
        uint32_t before = fake.requests, start = hint.next_ms = milliseconds();
        errno = 12345;
        sleep_often();
        CHECK(errno == 12345 && me.sleeps == 0, "errno %d, %u sleeps", errno, me.sleeps);
        CHECK(atomic_load(&pawl_hint_now) == NULL, "manner %d is believed", how);
        CHECK(hint.next_ms - start >= hint.pause_ms && hint.next_ms - start < INT32_MAX,
              "it would ask sooner");
        while (fake.requests == before)
            sched_yield();
        CHECK(fake.requests == before + 1, "manner %d: %u requests", how, fake.requests - before);
        if (how == SILENT)
            close(fake.held);
        await_files(files);
        CHECK(hint.pause_ms >= PAWL_HINT_PAUSE && hint.pause_ms <= MOST_MS, "it would ask again at once");
    }
    CHECK(hint.used == 0 && maps() == 2, "%u in use, %d mapped", hint.used, maps());
    hint.pause_ms = MOST_MS - 1;
    hint.next_ms = milliseconds();
    sleep_often();
    CHECK(hint.pause_ms == MOST_MS, "no try for %u ms", hint.pause_ms);
    await_files(files);
    uint32_t requests = fake.requests;
    hint.next_ms = milliseconds() + MOST_MS;
    sleep_often();
    CHECK(fake.requests == requests, "it asks too early");
    atomic_store(&fake.manner, GOOD);
    hint.next_ms = milliseconds();
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) != NULL && hint.pause_ms == 0, "a good answer is not used");
    fake.cpus->version = 0; /* it answers, but says in the map that it does not live */
    pawl_hint_begin();
    atomic_store(&fake.manner, OLD_MAP);
    me.number = 0;
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) == NULL && hint.pause_ms != 0 && pawl_hint_slot() == 0,
          "it is believed");
    end(team);
}

/* Whoever asks may have a lock that others wait for. */
static void no_answer_costs_milliseconds(const lock_info *unused)
{
    (void)unused;
    enum { FEW_MS = 25 }; /* two waits, each rounded up to a tick of 10 ms at most */
    team_member team[1];
    uint32_t took = UINT32_MAX;
    make_maps();
    begin(getuid());
    team_start(team, 1, serve, NULL);
    atomic_store(&fake.manner, SILENT);
    patience_us = BRIEFLY;
    for (int tries = 0; took > FEW_MS && tries < 100; tries++) { /* it may not have run in between */
        hint.next_ms = milliseconds();
        uint32_t before = fake.requests, start = milliseconds();
        sleep_often();
        took = milliseconds() - start;
        while (fake.requests == before)
            sched_yield();
        close(fake.held);
    }
    CHECK(took <= FEW_MS, "%u ms", took);
    CHECK(atomic_load(&pawl_hint_now) == NULL && pawl_hint_slot() == 0, "mapped");
    end(team);
}

static void a_service_that_takes_no_calls_costs_milliseconds(const lock_info *unused)
{
    (void)unused;
    enum { FEW_MS = 25 };
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    uint32_t took = UINT32_MAX;
    begin(getuid());
    patience_us = BRIEFLY;
    memcpy(to.sun_path, path, sizeof path);
    int s;
    do /* fill its queue */
        s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    while (connect(s, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(errno == EAGAIN, "%s", strerror(errno));
    for (int tries = 0; took > FEW_MS && tries < 100; tries++) {
        uint32_t start = hint.next_ms = milliseconds();
        sleep_often();
        took = milliseconds() - start;
    }
    CHECK(took <= FEW_MS, "%u ms", took);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
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
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO,
          "no pair");
    sleep_often();
    CHECK(atomic_load(&pawl_hint_now) == NULL, "trusted");
    struct rlimit all, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &all) == 0, "no limits");
    none = (struct rlimit){0, all.rlim_max};
    hint.next_ms = milliseconds();
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "no limit");
    sleep_often();
    CHECK(setrlimit(RLIMIT_NOFILE, &all) == 0, "no limit");
    char said;
    CHECK(recv(ends[1], &said, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "it asks whoever is there");
    shutdown(fake.listener, SHUT_RDWR); /* which ends accept() */
    end(team);
}

static atomic_int talks = -1;

static void look_whether_it_talks(int signal)
{
    (void)signal;
    atomic_store(&talks, me.talks);
}

static void talk(int index, void *unused)
{
    (void)index, (void)unused;
    CHECK(!me.talks, "before");
    sleep_often();
    CHECK(!me.talks, "after");
}

/* A handler that forks has interrupted the talk: then the child goes on with it. */
static void a_handler_knows_that_its_thread_talks(const lock_info *unused)
{
    (void)unused;
    team_member team[1], talker[1];
#ifdef __SANITIZE_THREAD__
    skip("ThreadSanitizer calls handlers when the thread next calls the C library");
#endif
    make_maps();
    begin(getuid());
    atomic_store(&fake.manner, SILENT);
    signal(SIGUSR1, look_whether_it_talks);
    team_start(team, 1, serve, NULL);
    team_start(talker, 1, talk, NULL);
    while (fake.requests == 0)
        sched_yield();
    pthread_kill(talker[0].thread, SIGUSR1);
    while (atomic_load(&talks) < 0)
        sched_yield();
    CHECK(atomic_load(&talks) == 1, "it does not");
    shutdown(fake.held, SHUT_RDWR);
    team_join(talker, 1);
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

/* A program that has closed one of the first three descriptors may still write there. */
static void the_first_descriptors_stay_closed(const lock_info *unused)
{
    (void)unused;
    int kept[] = {dup(0), dup(1), dup(2)};
    int files = open_files() - 3;
    for (int i = 0; i < 3; i++)
        close(i);
    int socket = make_socket(), flags = fcntl(socket, F_GETFD), left = open_files();
    for (int i = 0; i < 3; i++) {
        dup2(kept[i], i);
        close(kept[i]);
    }
    CHECK(socket > STDERR_FILENO && flags == FD_CLOEXEC && left == files + 1,
          "descriptor %d, flags %d, %d open", socket, flags, left - files);
    close(socket);
}

static const promise promises[] = {
    HINT(a_map_tells_how_long_to_look),
    HINT(a_thread_is_not_its_own_neighbour),
    HINT(one_neighbour_is_enough),
    HINT(an_owner_is_known_by_its_slot),
    HINT(a_sleeper_is_where_it_ran_last),
    HINT(what_is_stale_is_forgotten),
    HINT(it_can_be_switched_off),
    HINT(each_thread_registers_itself_once),
    HINT(bad_answers_cost_a_try),
    HINT(no_answer_costs_milliseconds),
    HINT(another_user_is_not_trusted),
    HINT(a_service_that_takes_no_calls_costs_milliseconds),
    HINT(a_handler_knows_that_its_thread_talks),
    HINT(a_service_that_stops_and_goes_on_is_mapped_once),
    HINT(the_first_descriptors_stay_closed),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
