/* seats.c - the table of a process's regions, and its seats, from within: what happens once in 2^18 deaths, when a plugin
 * is unloaded, and when two threads attach at once */
#include "../../src/unload.h"

static bool unloadable;
#define can_be_unloaded() unloadable

#include "../../src/region_seat.c"
#include "../../src/region_table.c"

#include "common.h"

enum { SIZE = 4096 };

static int file;
static pawl_region *region;
static pawl_mutex_shared *m;

static void set_up(void)
{
    file = new_file();
    region = new_region(file, SIZE);
    m = pawl_region_memory(region);
}

static int lock_once(void)
{
    int error = pawl_mutex_shared_lock(region, m);
    return error != 0 ? error : pawl_mutex_shared_unlock(region, m);
}

/* ---- one at a time */

static void attach_one(void)
{
    attached(file);
}

static void create_one(void)
{
    new_region(new_file(), SIZE);
}

static void detach_one(void)
{
    CHECK(pawl_region_detach(region) == 0, "detach");
}

static void fork_one(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ends_well(child);
}

static atomic_int is_over;

static void use_table(int me, void *what)
{
    (void)me;
    (*(void (**)(void))what)();
    atomic_store(&is_over, 1);
}

/* Whoever uses the table waits for the one that has it. */
static void threads_take_turns(const lock_info *none)
{
    (void)none;
    void (*const all[])(void) = {attach_one, create_one, fork_one, detach_one};
    set_up();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void (*what)(void) = all[i];
        team_member other;
        atomic_store(&is_over, 0);
        pawl_region_lock_table();
        team_start(&other, 1, use_table, &what);
        while (!atomic_load(&is_over) && (atomic_load(&other.tid) == 0 || !is_asleep(other.tid)))
            sched_yield();
        CHECK(!atomic_load(&is_over), "number %zu does not wait", i);
        pawl_region_unlock_table();
        team_join(&other, 1);
        CHECK(atomic_load(&is_over), "number %zu gave up", i);
    }
}

static void serial_is_never_zero(const lock_info *none)
{
    (void)none;
    set_up();
    attachments = UINT32_MAX - 1;
    uint32_t last = attached(file)->serial, first = attached(file)->serial, second = attached(file)->serial;
    CHECK(last == UINT32_MAX && first == 1 && second == 2, "%u, %u, %u", last, first, second);
}

/* ---- seats that are worn out */

static void set_generations(uint32_t generation)
{
    for (unsigned i = 1; i <= PAWL_SEATS; i++)
        atomic_store(&pawl_seat_at(region, i)->generation, generation);
}

static void the_last_generation_is_not_used(const lock_info *none)
{
    (void)none;
    set_up();
    set_generations(PAWL_LAST_GENERATION);
    CHECK(lock_once() == ENOLCK && lock_once() == ENOLCK, "a token of a generation that never ends");
    set_generations(PAWL_LAST_GENERATION - 1);
    CHECK(lock_once() == 0, "the seats that were looked at are not free again");
}

static void die_with_it(void *unused)
{
    (void)unused;
    CHECK(pawl_mutex_shared_lock(region, m) == 0, "lock");
    kill(getpid(), SIGKILL);
}

static void generations_end_with_the_last(const lock_info *none)
{
    (void)none;
    set_up();
    set_generations(PAWL_LAST_GENERATION - 1);
    dies(start(die_with_it, NULL));
    CHECK(pawl_mutex_shared_lock(region, m) == EOWNERDEAD, "the death is not told");
    unsigned worn = 0;
    for (unsigned i = 1; i <= PAWL_SEATS; i++)
        worn += generation_of(pawl_seat_at(region, i)) == PAWL_LAST_GENERATION;
    CHECK(worn == 1, "%u seats are worn out", worn);
}

/* There is only one, so it must be the same. */
static void a_dead_threads_seat_is_used_again(const lock_info *none)
{
    (void)none;
    set_up();
    set_generations(PAWL_LAST_GENERATION);
    atomic_store(&pawl_seat_at(region, 1)->generation, 0);
    for (int i = 0; i < 3; i++) {
        dies(start(die_with_it, NULL));
        int error = pawl_mutex_shared_lock(region, m);
        CHECK(error == EOWNERDEAD, "lock: %s", strerror(error));
        CHECK(pawl_mutex_shared_consistent(region, m) == 0 && pawl_mutex_shared_unlock(region, m) == 0,
              "unlock");
        CHECK(pawl_region_leave(region) == 0, "leave");
    }
}

/* ---- the key */

static void *lock_and_end(void *unused)
{
    CHECK(lock_once() == 0, "lock");
    return unused;
}

static void end_a_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, lock_and_end, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

/* Destructors run at the end of a program, too, while threads go on. */
static void a_program_keeps_its_key(const lock_info *none)
{
    (void)none;
    set_up();
    unloadable = false;
    forget_threads();
    end_a_thread();
    CHECK(pawl_region_detach(region) == 0, "a thread ended, and kept its seat");
}

static void unloading_deletes_the_key(const lock_info *none)
{
    (void)none;
    set_up();
    unloadable = true;
    forget_threads();
    CHECK(pthread_setspecific(key, places) != 0, "threads would call what is not there any more");
}

static void without_regions_there_is_no_key(const lock_info *none)
{
    (void)none;
    pthread_key_t other;
    CHECK(pthread_key_create(&other, NULL) == 0, "pthread_key_create");
    unloadable = true;
    forget_threads();
    CHECK(pthread_setspecific(other, &other) == 0, "it has deleted a key that is not its own");
}

static void too_many_keys_are_told(const lock_info *none)
{
    (void)none;
    pthread_key_t other;
    pawl_region *r = NULL;
    if (!pawl_life_is_told())
        skip("no robust list");
    while (pthread_key_create(&other, NULL) == 0)
        ;
    for (int i = 0; i < 2; i++) {
        int error = i == 0 ? pawl_region_create(&r, new_file(), SIZE) : pawl_region_attach(&r, new_file());
        CHECK(error == ENOMEM && r == NULL, "%s", pawl_region_error(error));
    }
}

#define PROMISE(subject_, check_)                                                                            \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = subject_                                                \
    }

static const promise promises[] = {
    PROMISE("table", threads_take_turns),
    PROMISE("table", serial_is_never_zero),
    PROMISE("seat", the_last_generation_is_not_used),
    PROMISE("seat", generations_end_with_the_last),
    PROMISE("seat", a_dead_threads_seat_is_used_again),
    PROMISE("seat", a_program_keeps_its_key),
    PROMISE("seat", unloading_deletes_the_key),
    PROMISE("seat", without_regions_there_is_no_key),
    PROMISE("seat", too_many_keys_are_told),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
