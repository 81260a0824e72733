/* judged.c - a program for the thread sanitizer, Helgrind and DRD to judge (tools.sh)
 *
 *   judged correct              nothing is wrong with any lock, pawl_cond or the semaphore
 *   judged race LOCK            a counter that is not always guarded
 *   judged inversion LOCK       two locks in both orders, one after the other: no deadlock
 */
#include "cases.h"

#include <pawl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, TIMES = 60 };

static const lock_info *kind;
static lock_memory *a, *b;
static long counter;

static void in_threads(int n, void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, function, NULL) != 0)
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* By trylock every fourth time. */
static void *counts(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        lock_ctx c;
        if (kind->trylock == NULL || i % 4 != 0 || !kind->trylock(a, &c))
            kind->lock(a, &c);
        counter++;
        kind->unlock(a, &c);
    }
    return unused;
}

static void *races(void *unused)
{
    counts(unused);
    counter++;
    return unused;
}

static void *a_then_b(void *unused)
{
    lock_ctx c, d;
    kind->lock(a, &c);
    kind->lock(b, &d);
    kind->unlock(b, &d);
    kind->unlock(a, &c);
    return unused;
}

static void *b_then_a(void *unused)
{
    lock_ctx c, d;
    kind->lock(b, &d);
    kind->lock(a, &c);
    kind->unlock(a, &c);
    kind->unlock(b, &d);
    return unused;
}

static void begin(const lock_info *lock)
{
    kind = lock;
    counter = 0;
    a = aligned_alloc(256, (sizeof *a + 255) / 256 * 256);
    b = aligned_alloc(256, (sizeof *b + 255) / 256 * 256);
    memset(a, 0, sizeof *a);
    memset(b, 0, sizeof *b);
}

static void end(void)
{
    if (kind->destroy != NULL) {
        kind->destroy(a);
        kind->destroy(b);
    } else {
        pawl_destroy(a);
        pawl_destroy(b);
    }
    free(a);
    free(b);
}

static bool is_correct(const lock_info *lock)
{
    begin(lock);
    in_threads(THREADS, counts);
    in_threads(2, a_then_b);
    end();
    return counter == (long)THREADS * TIMES;
}

/* ---- what is passed on under a mutex, or a semaphore */

static pawl_mutex m;
static pawl_fairmutex fair;
static pawl_mcs mcs;
static pawl_cond *condition;
static pawl_semaphore semaphore;
static int item;

#define PASSES(name, lock, unlock, wait)                                                                     \
    static void *name##_gives(void *unused)                                                                  \
    {                                                                                                        \
        for (int i = 0; i < TIMES; i++) {                                                                    \
            lock;                                                                                            \
            while (item != 0)                                                                                \
                wait;                                                                                        \
            item = 1;                                                                                        \
            pawl_cond_broadcast(condition);                                                                  \
            unlock;                                                                                          \
        }                                                                                                    \
        return unused;                                                                                       \
    }                                                                                                        \
    static void name##_passes(void)                                                                          \
    {                                                                                                        \
        pthread_t giver;                                                                                     \
        condition = calloc(1, sizeof *condition);                                                            \
        if (pthread_create(&giver, NULL, name##_gives, NULL) != 0)                                           \
            abort();                                                                                         \
        for (int i = 0; i < TIMES; i++) {                                                                    \
            lock;                                                                                            \
            while (item == 0)                                                                                \
                wait;                                                                                        \
            item = 0;                                                                                        \
            pawl_cond_signal(condition);                                                                     \
            unlock;                                                                                          \
        }                                                                                                    \
        pthread_join(giver, NULL);                                                                           \
        free(condition);                                                                                     \
    }
PASSES(mutex, pawl_mutex_lock(&m), pawl_mutex_unlock(&m), pawl_cond_wait(condition, &m))
PASSES(fair, pawl_fairmutex_lock(&fair), pawl_fairmutex_unlock(&fair), pawl_cond_wait_fair(condition, &fair))

static __thread pawl_mcs_ctx mine;
PASSES(any, pawl_mcs_lock(&mcs, &mine), pawl_mcs_unlock(&mcs, &mine),
       PAWL_COND_WAIT(condition, mcs, &mcs, &mine))

static void lock_mcs(void *l, void *c)
{
    pawl_mcs_lock(l, c);
}

static void unlock_mcs(void *l, void *c)
{
    pawl_mcs_unlock(l, c);
}
PASSES(called, lock_mcs(&mcs, &mine), unlock_mcs(&mcs, &mine),
       pawl_cond_wait_any(condition, lock_mcs, unlock_mcs, &mcs, &mine))

static void *posts(void *unused)
{
    item = 7;
    pawl_semaphore_post(&semaphore);
    return unused;
}

static bool semaphore_passes(void)
{
    pthread_t poster;
    if (pthread_create(&poster, NULL, posts, NULL) != 0)
        abort();
    pawl_semaphore_take(&semaphore);
    bool right = item == 7;
    pthread_join(poster, NULL);
    return right;
}

static bool all_correct(void)
{
    bool right = true;
    for (int i = 0; i < LOCK_COUNT; i++)
        right = is_correct(&lock_table[i]) && right;
    mutex_passes();
    fair_passes();
    any_passes();
    called_passes();
    return semaphore_passes() && right;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "correct") == 0)
        return all_correct() ? 0 : 1;
    if (argc != 3)
        return 2;
    begin(lock_find(argv[2]));
    if (strcmp(argv[1], "race") == 0) {
        in_threads(2, races);
    } else {
        in_threads(1, a_then_b);
        in_threads(1, b_then_a);
    }
    return 0;
}
