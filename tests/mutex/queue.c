/* queue.c - the queues of a bucket, compared with plain arrays, and its lock
 *
 * Its source is part of this program, so that a test can act while it pauses.
 */
#include "../team.h"

#include <pawl/mutex.h>
#include "../../src/park/events.h"

static void test_pause(void);

#define pawl_pause test_pause
#include "../../src/park/queue.c"

enum { KEYS = 3, WAITERS = 12, STEPS = 200000 };

static pawl_mutex objects[1 << 16];
static const pawl_mutex *key[KEYS]; /* which share a bucket */
static pawl_sleeper waiter[WAITERS];
static int in_line[KEYS][WAITERS], length[KEYS]; /* numbers of waiters */

static void find_keys(void)
{
    int found = 0;
    for (size_t i = 0; found < KEYS; i++) {
        CHECK(i < sizeof objects / sizeof *objects, "no three objects share a bucket");
        if (pawl_bucket_of(&objects[i]) == pawl_bucket_of(&objects[0]))
            key[found++] = &objects[i];
    }
}

static void check_queue(pawl_bucket *b, int k)
{
    const pawl_sleeper *w = pawl_queue_first(b, key[k]), *before = NULL;
    CHECK((w != NULL) == (length[k] > 0), "%d should wait", length[k]);
    if (w == NULL)
        return;
    CHECK(w->length == (uint32_t)length[k], "%u are counted, %d wait", w->length, length[k]);
    CHECK(w->last == &waiter[in_line[k][length[k] - 1]], "another one is the last");
    for (int i = 0; i < length[k]; i++, before = w, w = w->next) {
        CHECK(w == &waiter[in_line[k][i]] && w->before == before, "not in line");
        CHECK(atomic_load(&w->key) == pawl_address(key[k]), "waits for something else");
    }
    CHECK(w == NULL, "more wait than should");
}

static void add(pawl_bucket *b, int k, int number)
{
    memset(&waiter[number], 0x5a, sizeof waiter[number]);
    pawl_queue_append(b, key[k], &waiter[number]);
    in_line[k][length[k]++] = number;
}

static void insert(pawl_bucket *b, int k, int place, int number)
{
    memset(&waiter[number], 0x5a, sizeof waiter[number]);
    pawl_queue_insert(b, &waiter[in_line[k][place]], &waiter[number]);
    memmove(&in_line[k][place + 2], &in_line[k][place + 1], sizeof(int) * (size_t)(length[k] - place - 1));
    in_line[k][place + 1] = number;
    length[k]++;
}

static void drop(pawl_bucket *b, int k, int place)
{
    pawl_queue_remove(b, &waiter[in_line[k][place]]);
    length[k]--;
    memmove(&in_line[k][place], &in_line[k][place + 1], sizeof(int) * (size_t)(length[k] - place));
}

static void detach(pawl_bucket *b, int k)
{
    const pawl_sleeper *w = pawl_queue_detach(b, key[k]);
    for (int i = 0; i < length[k]; i++, w = w->next)
        CHECK(w == &waiter[in_line[k][i]], "not all of them in line");
    CHECK(w == NULL, "more than were in line");
    length[k] = 0;
}

static int where_is(int number, int *place)
{
    for (int k = 0; k < KEYS; k++)
        for (*place = 0; *place < length[k]; ++*place)
            if (in_line[k][*place] == number)
                return k;
    return -1;
}

static void queues_are_kept_in_order(const lock_info *unused)
{
    (void)unused;
    uint64_t chance = 42;
    find_keys();
    for (size_t i = scaled(STEPS); i > 0; i--) {
        pawl_bucket *b = pawl_bucket_lock(key[0]);
        int number = (int)draw_below(&chance, WAITERS), place;
        int k = where_is(number, &place);
        if (k >= 0)
            drop(b, k, place);
        else if (draw_below(&chance, 20) == 0)
            detach(b, (int)draw_below(&chance, KEYS));
        else if (k = (int)draw_below(&chance, KEYS), length[k] > 0 && draw_below(&chance, 3) == 0)
            insert(b, k, (int)draw_below(&chance, (uint64_t)length[k]), number);
        else
            add(b, k, number);
        for (k = 0; k < KEYS; k++)
            check_queue(b, k);
        pawl_bucket_unlock(b);
    }
}

/* ---- the lock of a bucket */

static uint64_t counter;

static void count(int me, void *arg)
{
    (void)me;
    for (size_t i = scaled(200000); i > 0; i--) {
        pawl_bucket *b = pawl_bucket_lock(arg);
        counter++;
        if (i % 64 == 0)
            sched_yield(); /* so that others find it taken, and sleep */
        pawl_bucket_unlock(b);
    }
}

static void a_bucket_has_one_owner(const lock_info *unused)
{
    (void)unused;
    enum { THREADS = 4 };
    team_run(THREADS, count, objects);
    CHECK(counter == THREADS * scaled(200000), "%zu sections", (size_t)counter);
    CHECK(atomic_load(&pawl_bucket_of(objects)->lock) == 0, "still locked");
}

static atomic_int pauses;
static int freed_at; /* that pause */

static void test_pause(void)
{
    if (atomic_fetch_add(&pauses, 1) + 1 == freed_at)
        atomic_store(&pawl_bucket_of(objects)->lock, FREE);
}

static void a_bucket_is_looked_at_before_anybody_sleeps(const lock_info *unused)
{
    (void)unused;
    pawl_bucket *b = pawl_bucket_lock(objects);
    CHECK(atomic_load(&b->lock) == HELD && atomic_load(&pauses) == 0, "not taken at once");
    freed_at = 5;
    CHECK(pawl_bucket_lock(objects) == b, "another bucket");
    CHECK(atomic_load(&b->lock) == HELD && atomic_load(&pauses) == 5, "taken after %d pauses",
          atomic_load(&pauses));
    pawl_bucket_unlock(b);
    CHECK(atomic_load(&b->lock) == FREE, "not released");
    CHECK(pawl_events(PAWL_FUTEX_WAITS) == 0 && pawl_events(PAWL_FUTEX_WAKES) == 0, "calls the kernel");
}

static void enter_and_leave(int me, void *arg)
{
    (void)me;
    pawl_bucket *b = pawl_bucket_lock(arg);
    CHECK(atomic_load(&b->lock) == SLEPT_ON, "the next to sleep there is forgotten");
    pawl_bucket_unlock(b);
}

static void whoever_sleeps_for_a_bucket_is_woken(const lock_info *unused)
{
    (void)unused;
    team_member team[2];
    pawl_bucket *b = pawl_bucket_lock(objects);
    team_start(team, 2, enter_and_leave, objects);
    await(&pauses, 2 * PAWL_BUCKET_LOOKS);
    team_await_asleep(team, 2);
    CHECK(atomic_load(&b->lock) == SLEPT_ON, "sleep, and nobody knows");
    CHECK(atomic_load(&pauses) == 2 * PAWL_BUCKET_LOOKS, "%d pauses", atomic_load(&pauses));
    pawl_bucket_unlock(b);
    team_join(team, 2);
    CHECK(atomic_load(&b->lock) == FREE, "not released");
}

static const promise promises[] = {
    {.name = "a_bucket_is_looked_at_before_anybody_sleeps",
     .check = a_bucket_is_looked_at_before_anybody_sleeps,
     .subject = "queue"},
    {.name = "whoever_sleeps_for_a_bucket_is_woken",
     .check = whoever_sleeps_for_a_bucket_is_woken,
     .subject = "queue"},
    {.name = "queues_are_kept_in_order", .check = queues_are_kept_in_order, .subject = "queue"},
    {.name = "a_bucket_has_one_owner", .check = a_bucket_has_one_owner, .subject = "queue"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
