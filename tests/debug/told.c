/* told.c - what Helgrind and DRD are told, one request at a time
 *
 * A request is an instruction that does nothing, which Valgrind recognises. So does this program, which runs one
 * instruction at a time. The library's source is part of it, for its mode.
 */
#include "harness.h"
#include "step.h"

#include <pawl.h>

#include "../../src/debug.c"

#define leave leave_thread                 /* debug.c has one, too */
#pragma GCC diagnostic ignored "-Waddress" /* debug mode is not missing here */
#include "../../src/thread_exit.c"

typedef struct request {
    uint64_t what, object, more;
} request;

static request told[64];
static int count;

static bool look(int instruction)
{
    (void)instruction;
    const greg_t *r = step_registers->uc_mcontext.gregs;
    if (memcmp((const void *)r[REG_RIP], "\x48\x87\xdb", 3) == 0) { /* xchg %rbx, %rbx */
        CHECK(count < 64, "no end of them");
        memcpy(&told[count++], (const void *)r[REG_RAX], sizeof told[0]);
    }
    return true;
}

static const char *name_of(const request *r)
{
    static const struct {
        uint64_t what;
        const char *name;
    } names[] = {
        {VALGRIND_CLEAN, "clean"},      {VALGRIND_LOCK_DESTROYED, "destroyed"},
        {VALGRIND_LOCK_TAKEN, "taken"}, {VALGRIND_LOCK_RELEASED, "released"},
        {VALGRIND_SENT, "sent"},        {VALGRIND_RECEIVED, "received"},
    };
    if (r->what == VALGRIND_ERRORS)
        return r->object == 1 ? "quiet" : r->object == (uint64_t)-1 ? "loud" : "?";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (r->what == VALGRIND_TOOL + names[i].what)
            return names[i].name;
    return "?";
}

/* Runs it, and compares. Of locks and other objects there is only one. */
static void tells(void (*function)(void *), void *object, const char *wanted)
{
    char all[1024] = "";
    count = 0;
    step_through(function, object, look);
    for (int i = 0; i < count; i++) {
        const char *name = name_of(&told[i]);
        strcat(strcat(all, i > 0 ? " " : ""), name);
        if (strcmp(name, "taken") == 0 || strcmp(name, "released") == 0)
            CHECK(told[i].object == (uintptr_t)object && told[i].more == 1, "%s: another lock", name);
        else if (strcmp(name, "clean") == 0) /* on this stack */
            CHECK(told[i].more == 4096 && llabs((char *)told[i].object - all) < 16384,
                  "clean: another place");
        else if (strcmp(name, "quiet") != 0 && strcmp(name, "loud") != 0)
            CHECK(told[i].object == (uintptr_t)object, "%s: another object", name);
    }
    CHECK(strcmp(all, wanted) == 0, "'%s' instead of '%s'", all, wanted);
}

/* ---- what programs do */

static pawl_ticket_ctx no_ctx;

static void lock(void *l)
{
    pawl_ticket_lock(l, &no_ctx);
}

static void try_lock(void *l)
{
    pawl_ticket_trylock(l, &no_ctx);
}

static void unlock(void *l)
{
    pawl_ticket_unlock(l, &no_ctx);
}

static void lock_call(void *m)
{
    pawl_mutex_lock_call(m);
}

static void try_call(void *m)
{
    pawl_mutex_trylock_call(m);
}

static void unlock_call(void *m)
{
    pawl_mutex_unlock_call(m);
}

static void unlock_fair_call(void *m)
{
    pawl_mutex_unlock_fair_call(m);
}

static void post(void *s)
{
    pawl_semaphore_post(s);
}

static void take_one(void *s)
{
    pawl_semaphore_take(s);
}

static void clean(void *place)
{
    pawl_debug_clean(place, 4096);
}

/* ---- promises */

static void begin(debug_mode now)
{
    if (!step_possible())
        skip("cannot run one instruction at a time");
    atomic_store(&mode, now);
    pawl_debug_on = now != OFF;
}

static void valgrind_knows_who_has_a_lock(const lock_info *unused)
{
    (void)unused;
    pawl_ticket l = {0};
    begin(OFF);
    tells(lock, &l, "quiet clean loud taken");
    tells(try_lock, &l, "quiet clean loud");
    tells(unlock, &l, "released quiet loud");
    tells(try_lock, &l, "quiet clean loud taken");
    tells(unlock, &l, "released quiet loud");
    tells(pawl_destroy, &l, "destroyed");
}

/* The debug mode's own locks and tables are of no concern to it, and every `quiet` has its `loud`. */
static void debug_mode_tells_the_same(const lock_info *unused)
{
    (void)unused;
    pawl_ticket l = {0};
    begin(CONTINUE);
    lock(&l); /* the first time more happens */
    unlock(&l);
    tells(lock, &l, "quiet quiet loud quiet loud clean loud taken");
    tells(try_lock, &l, "quiet quiet loud clean loud");
    tells(unlock, &l, "released quiet quiet loud loud");
    tells(pawl_destroy, &l, "destroyed quiet loud");
}

static void calls_tell_the_same_in_debug_mode_only(const lock_info *unused)
{
    (void)unused;
    pawl_mutex m = {0};
    begin(OFF);
    tells(lock_call, &m, "");
    CHECK(!pawl_mutex_trylock_call(&m), "not locked");
    tells(unlock_call, &m, "");
    CHECK(pawl_mutex_trylock_call(&m) && !pawl_mutex_trylock_call(&m), "not unlocked, or not locked");
    unlock_call(&m);
    begin(CONTINUE);
    lock_call(&m); /* the first time more happens */
    unlock_call(&m);
    tells(lock_call, &m, "quiet quiet loud quiet loud clean loud taken");
    tells(try_call, &m, "quiet quiet loud clean loud");
    tells(unlock_call, &m, "released quiet quiet loud loud");
    tells(try_call, &m, "quiet quiet loud quiet loud clean loud taken");
    tells(unlock_fair_call, &m, "released quiet quiet loud loud");
    CHECK(pawl_mutex_trylock(&m), "not unlocked");
}

static void valgrind_knows_what_a_semaphore_orders(const lock_info *unused)
{
    (void)unused;
    pawl_semaphore s = {0};
    char below[4096];
    begin(OFF);
    tells(post, &s, "sent quiet loud");
    tells(take_one, &s, "quiet loud received");
    tells(clean, below, "clean");
    CHECK(told[0].object == (uintptr_t)below, "clean: another place");
}

static void a_threads_end_is_no_race(const lock_info *unused)
{
    (void)unused;
    pawl_ticket l = {0};
    begin(OFF);
    tells(leave_thread, NULL, "quiet loud");
    begin(CONTINUE);
    lock(&l);
    unlock(&l);
    tells(leave_thread, NULL, "quiet quiet loud loud");
}

#define TOLD(check_)                                                                                         \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "valgrind"                                              \
    }

static const promise promises[] = {
    TOLD(valgrind_knows_who_has_a_lock),
    TOLD(debug_mode_tells_the_same),
    TOLD(calls_tell_the_same_in_debug_mode_only),
    TOLD(valgrind_knows_what_a_semaphore_orders),
    TOLD(a_threads_end_is_no_race),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
