/* queue.c - the queues of a bucket, against plain arrays of the same */
#include "../team.h"

#include <pawl/mutex.h>
#include "../../src/park/queue.h"

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
        CHECK(w == &waiter[in_line[k][i]] && (i == 0 || w->before == before), "not in line");
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
        else
            add(b, (int)draw_below(&chance, KEYS), number);
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

static const promise promises[] = {
    {.name = "queues_are_kept_in_order", .check = queues_are_kept_in_order, .subject = "queue"},
    {.name = "a_bucket_has_one_owner", .check = a_bucket_has_one_owner, .subject = "queue"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
