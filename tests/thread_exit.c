/* thread_exit.c - a thread may end right after unlock; nobody touches its memory afterwards
 *
 * How the library gets to know of it is not exported, so its source is part of this program.
 */
#include "hook.h"
#include "../src/slices.h"
#include "sanitized.h"
#include "team.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { PATTERN = 0x5A };

/* The successor is held in its waiting loop while the owner hands over and ends, if it can, and another
 * thread gets its memory. */
typedef struct scene {
    const lock_info *lock;
    void *l;
    atomic_int owned, waits, resume, entered, compared;
    void *owners_memory;
    bool reused;
} scene;

static __thread scene *held_in;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (held_in == NULL || atomic_load(&held_in->resume)) {
        sched_yield();
        return;
    }
    atomic_store(&held_in->waits, 1);
    await(&held_in->resume, 1);
}

static void *own_and_end(void *arg)
{
    scene *s = arg;
    lock_ctx c;
    s->owners_memory = &pawl_hemlock_self;
    s->lock->lock(s->l, &c);
    atomic_store(&s->owned, 1);
    await(&s->waits, 1);
    s->lock->unlock(s->l, &c);
    return NULL;
}

static void *succeed(void *arg)
{
    scene *s = arg;
    lock_ctx c;
    await(&s->owned, 1);
    held_in = s;
    s->lock->lock(s->l, &c);
    held_in = NULL;
    s->lock->unlock(s->l, &c);
    atomic_store(&s->entered, 1);
    return NULL;
}

static void fill_slices(int byte)
{
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        memset(s->address(), byte, s->size);
}

/* Uses no lock itself: its slices are a canvas on which any foreign write shows. */
static void *inherit(void *arg)
{
    scene *s = arg;
    s->reused = (void *)&pawl_hemlock_self == s->owners_memory;
    fill_slices(PATTERN);
    atomic_store(&s->resume, 1);
    await(&s->entered, 1);
    const pawl_slice *slice;
    for (int i = 0; (slice = pawl_slice_at(i)) != NULL; i++)
        for (size_t at = 0; at < slice->size; at++)
            CHECK(((volatile unsigned char *)slice->address())[at] == PATTERN,
                  "a dead thread's `%s` was written", slice->name);
    fill_slices(0);
    return NULL;
}

/* Some locks' owners cannot end before their successor goes on: nobody waits long for those. */
static bool ends_within(pthread_t thread, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds % 1000 * 1000000L;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

/* True if the owner had ended, and its memory was another's, when its successor went on. */
static bool play(const lock_info *lock, int milliseconds)
{
    pthread_t owner, successor, heir;
    scene s = {.lock = lock, .l = calloc(1, lock->size)};
    CHECK(pthread_create(&owner, NULL, own_and_end, &s) == 0, "cannot create a thread");
    CHECK(pthread_create(&successor, NULL, succeed, &s) == 0, "cannot create a thread");
    await(&s.waits, 1);
    bool ended = ends_within(owner, milliseconds);
    CHECK(pthread_create(&heir, NULL, inherit, &s) == 0, "cannot create a thread");
    pthread_join(heir, NULL);
    pthread_join(successor, NULL);
    if (!ended)
        pthread_join(owner, NULL);
    if (lock->destroy != NULL)
        lock->destroy(s.l);
    free(s.l);
    return ended && s.reused;
}

static void nobody_writes_to_a_dead_thread(const lock_info *lock)
{
    for (size_t rounds = scaled(5); rounds > 0; rounds--)
        play(lock, 30);
}

/* The scene is only worth something if a thread's memory goes to the next one: true of every lock whose
 * unlock does not wait for the successor. */
static void memory_of_a_dead_thread_is_reused(const lock_info *lock)
{
    (void)lock;
    for (int i = 0; i < 10; i++)
        if (play(lock_find("ticket"), 60000))
            return;
    skip("this system gives each thread new memory");
}

/* In a hurry: every thread ends right after a contended unlock, and its successors live on its memory. */
typedef struct relay {
    const lock_info *lock;
    void *l;
    size_t entered;
} relay;

static void enter_and_end(int me, void *arg)
{
    relay *r = arg;
    lock_ctx c;
    (void)me;
    r->lock->lock(r->l, &c);
    r->entered++;
    sched_yield();
    r->lock->unlock(r->l, &c);
}

static void threads_end_right_after_unlock(const lock_info *lock)
{
    relay r = {.lock = lock, .l = calloc(1, lock->size)};
    size_t rounds = scaled(400);
    for (size_t i = 0; i < rounds; i++)
        team_run(4, enter_and_end, &r);
    CHECK(r.entered == 4 * rounds, "%zu of %zu threads counted", r.entered, 4 * rounds);
    if (lock->destroy != NULL)
        lock->destroy(r.l);
    free(r.l);
}

/* ---- how the library gets to know of a thread's end; in place of libc's */

#ifndef SANITIZED /* which has a pthread_setspecific() of its own */

static const ElfW(Dyn) * dynamic; /* what the library takes for that of the file it is in */
#define _DYNAMIC dynamic
#include "../src/thread_exit.c"

static atomic_int asked; /* for the end of a thread */
static bool refuse;
static __thread bool enters;

int pthread_setspecific(pthread_key_t key, const void *value)
{
    static int (*libc)(pthread_key_t, const void *);
    if (enters) {
        CHECK(atomic_fetch_add(&asked, 1) < 2, "asks again, without end");
        CHECK(pawl_thread_enter(), "what an allocator's lock would do");
        if (refuse)
            return ENOMEM;
    }
    if (libc == NULL)
        *(void **)&libc = dlsym(RTLD_NEXT, "pthread_setspecific");
    return libc(key, value);
}

static void *enter_often(void *unused)
{
    enters = true;
    refuse = true;
    CHECK(!pawl_thread_enter() && atomic_load(&asked) == 1, "takes no for an answer");
    refuse = false;
    for (int i = 0; i < 3; i++)
        CHECK(pawl_thread_enter() && atomic_load(&asked) == 2, "asked %d times", atomic_load(&asked));
    enters = false;
    return unused;
}

static void *enter_without_a_key(void *unused)
{
    have_key = false; /* there were none left */
    enters = true;
    CHECK(!pawl_thread_enter() && atomic_load(&asked) == 0, "asked without a key");
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
    CHECK(pawl_thread_enter() && have_key && atomic_load(&asked) == 1, "there is no key");
    enters = false;
    return unused;
}

static void in_a_thread(void *(*body)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0, "cannot create a thread");
    pthread_join(thread, NULL);
}

static void a_thread_asks_once_for_its_end(const lock_info *unused)
{
    (void)unused;
    CHECK(have_key, "the key is not taken early");
    in_a_thread(enter_often);
}

static void a_thread_asks_only_with_a_key(const lock_info *unused)
{
    (void)unused;
    in_a_thread(enter_without_a_key);
}

static bool key_exists(void)
{
    return pthread_setspecific(key, NULL) == 0;
}

/* Only a plugin's code is gone while its threads live on. */
static void threads_are_forgotten_where_code_is_unloaded(const lock_info *unused)
{
    (void)unused;
    static const ElfW(Dyn) program[] = {{.d_tag = DT_NEEDED}, {.d_tag = DT_DEBUG}, {.d_tag = DT_NULL}},
                           library[] = {{.d_tag = DT_NEEDED},
                                        {.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_NOW | DF_1_NODELETE},
                                        {.d_tag = DT_NULL}},
                           plugin[] = {{.d_tag = DT_NEEDED, .d_un.d_val = DF_1_NODELETE},
                                       {.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_NOW},
                                       {.d_tag = DT_NULL}};
    const ElfW(Dyn) *const stay[] = {NULL, program, library};
    for (int i = 0; i < 3; i++) {
        dynamic = stay[i];
        forget_threads();
        CHECK(have_key && key_exists(), "forgotten in file %d", i);
    }
    dynamic = plugin;
    forget_threads();
    CHECK(!have_key && !key_exists(), "a thread would call code that is gone");
    CHECK(pthread_key_create(&key, NULL) == 0, "no key");
    forget_threads();
    CHECK(key_exists(), "the program's key is gone");
    dynamic = NULL;
}

#endif

static const promise promises[] = {
#ifndef SANITIZED
    {.name = "a_thread_asks_once_for_its_end", .check = a_thread_asks_once_for_its_end, .subject = "system"},
    {.name = "a_thread_asks_only_with_a_key", .check = a_thread_asks_only_with_a_key, .subject = "system"},
    {.name = "threads_are_forgotten_where_code_is_unloaded",
     .check = threads_are_forgotten_where_code_is_unloaded,
     .subject = "system"},
#endif
    {.name = "nobody_writes_to_a_dead_thread",
     .check = nobody_writes_to_a_dead_thread,
     .concerns = waits_are_seen},
    {.name = "memory_of_a_dead_thread_is_reused",
     .check = memory_of_a_dead_thread_is_reused,
     .subject = "system"},
    {.name = "threads_end_right_after_unlock", .check = threads_end_right_after_unlock},
};

HARNESS_MAIN(promises)
