/* thread_exit.c - a thread may end right after unlock; nobody touches its memory afterwards */
#include "hook.h"
#include "../src/slices.h"
#include "team.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { PATTERN = 0x5A };

/* The successor is held in its waiting loop while the owner hands over and ends, if it can, and another thread gets
 * the owner's memory. */
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

/* Uses no lock itself: any foreign write to its slices shows. */
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

/* The test means something only if a thread's memory goes to the next thread, which is true of every lock whose
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

static const promise promises[] = {
    {.name = "nobody_writes_to_a_dead_thread",
     .check = nobody_writes_to_a_dead_thread,
     .concerns = waits_are_seen},
    {.name = "memory_of_a_dead_thread_is_reused",
     .check = memory_of_a_dead_thread_is_reused,
     .subject = "system"},
    {.name = "threads_end_right_after_unlock", .check = threads_end_right_after_unlock},
};

HARNESS_MAIN(promises)
