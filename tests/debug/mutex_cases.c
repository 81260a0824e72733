/* mutex_cases.c - programs for debug mode to judge, with pawl_mutex and pawl_cond */
#include "bare.h"
#include "steps.h"

#include "../../src/debug_stack.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static pawl_mutex m, n;
static pawl_cond condition;
static bool ready;

static void *signals(void *unused)
{
    pawl_mutex_lock(&m);
    ready = true;
    pawl_cond_signal(&condition);
    pawl_mutex_unlock(&m);
    return unused;
}

static void conditions(void)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pawl_mutex_lock(&m);
        ready = false;
        if (pthread_create(&thread, NULL, signals, NULL) != 0)
            abort();
        while (!ready)
            pawl_cond_wait(&condition, &m);
        pawl_mutex_unlock(&m);
        pthread_join(thread, NULL);
        pawl_mutex_lock(&m);
        struct timespec past = {.tv_sec = 1};
        pawl_cond_timedwait(&condition, &m, &past);
        pawl_mutex_unlock(&m);
    }
}

NAMED void waits_with_both(void)
{
    struct timespec past = {.tv_sec = 1};
    pawl_mutex_lock(&m);
    pawl_mutex_lock(&n);
    pawl_cond_timedwait(&condition, &m, &past);
    pawl_mutex_unlock(&n);
    pawl_mutex_unlock(&m);
}

/* ---- through the library, as other languages do */

NAMED void calls_a_then_b(void)
{
    pawl_mutex_lock_call(&m);
    pawl_mutex_lock_call(&n);
    pawl_mutex_unlock_call(&n);
    pawl_mutex_unlock_call(&m);
}

NAMED void calls_b_then_a(void)
{
    pawl_mutex_lock_call(&n);
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_unlock_call(&n);
}

static void calls(void)
{
    calls_a_then_b();
    calls_b_then_a();
}

static void *unlocks_m_by_call(void *unused)
{
    pawl_mutex_unlock_call(&m);
    return unused;
}

static void calls_mixed(void)
{
    pawl_mutex_lock_call(&m);
    in_thread(unlocks_m_by_call);
    bare_lock(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_lock_call(&m);
    bare_unlock(&m);
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    if (!pawl_mutex_trylock_call(&m))
        abort();
    pawl_mutex_unlock_call(&m);
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_fair_call(&m);
    pawl_mutex_lock(&m);
    pawl_mutex_unlock_fair(&m);
    pawl_mutex_lock_call(&n); /* after m, not inside it */
    pawl_mutex_lock_call(&m);
    pawl_mutex_unlock_call(&m);
    pawl_mutex_unlock_call(&n);
}

static void try_call_then_again(void)
{
    if (pawl_mutex_trylock_call(&m))
        pawl_mutex_lock_call(&m);
}

static void call_waits(void)
{
    struct timespec past = {.tv_sec = 1};
    for (int i = 0; i < 3; i++) {
        pawl_mutex_lock_call(&m);
        if (pawl_mutex_trylock_call(&m))
            abort();
        bare_timedwait(&condition, &m, &past);
        pawl_mutex_unlock_call(&m);
    }
}

/* Locked by code that was not compiled for debug mode, unlocked by code that was, and vice versa. */
static void mixed(void)
{
    for (int i = 0; i < 2; i++) {
        bare_lock(&m);
        pawl_mutex_unlock(&m);
        pawl_mutex_lock(&m);
        bare_unlock(&m);
    }
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
    pawl_mutex_destroy(&m);
}

/* Debug mode was not told of the unlock, but another thread has the mutex next. */
static void mixed_threads(void)
{
    pawl_mutex_lock(&m);
    bare_unlock(&m);
    in_thread(signals);
    pawl_mutex_lock(&n);
    pawl_mutex_lock(&m);
    pawl_mutex_unlock(&m);
    pawl_mutex_unlock(&n);
}

NAMED void locks_after_waiting(void)
{
    pawl_mutex_lock_call(&m);
    END;
}

static void bare_wait_then_again(void)
{
    struct timespec past = {.tv_sec = 1};
    pawl_mutex_lock_call(&m);
    bare_timedwait(&condition, &m, &past);
    locks_after_waiting();
}

static void *waits_for_ever(void *unused)
{
    pawl_mutex_lock_call(&m);
    bare_timedwait(&condition, &m, &(struct timespec){.tv_sec = INT32_MAX});
    return unused;
}

static void bare_wait_then_foreign(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, waits_for_ever, NULL) != 0)
        abort();
    while (atomic_load(&condition.waiters) == 0 || atomic_load(&m.held) != 0)
        sched_yield();
    pawl_mutex_lock(&n);
    pawl_mutex_unlock_call(&m);
}

NAMED void destroys_m(void)
{
    pawl_mutex_destroy(&m);
    END;
}

static void bare_destruction(void)
{
    bare_lock(&m);
    destroys_m();
}

/* ---- threads and locks that come and go */

static void *own_pairs(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        pawl_mutex a = {0}, b = {0};
        pawl_mutex_lock(&a);
        pawl_mutex_lock(&b);
        pawl_mutex_unlock(&a);
        pawl_mutex_unlock(&b);
        pawl_mutex_destroy(&a);
        pawl_mutex_destroy(&b);
    }
    return unused;
}

static void threads_of_their_own(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, own_pairs, NULL) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

#ifdef PAWL_DEBUG /* libpawl.so exports nothing of the debug mode's inside */

/* Others every time. */
static void *lock_some(void *unused)
{
    static pawl_mutex many[101 * 100];
    static int used;
    for (int end = used + 100; used < end; used++) {
        pawl_mutex_lock(&many[used]);
        pawl_mutex_unlock(&many[used]);
    }
    return unused;
}

/* What the debug mode takes from the system lies between two requests for it. */
static void little_memory(void)
{
    in_thread(lock_some);
    char *before = pawl_debug_memory(16);
    for (int i = 0; i < 100; i++)
        in_thread(lock_some);
    ptrdiff_t taken = (char *)pawl_debug_memory(16) - before;
    if (taken <= 0 || taken > 4096)
        fprintf(stderr, "%td bytes\n", taken);
}

#endif

const debug_case mutex_cases[] = {
    {"conditions", conditions},
    {"backwards", waits_with_both},
    {"calls", calls},
    {"call_waits", call_waits},
    {"calls_mixed", calls_mixed},
    {"try_call_then_again", try_call_then_again},
    {"mixed", mixed},
    {"bare_wait_then_again", bare_wait_then_again},
    {"bare_wait_then_foreign", bare_wait_then_foreign},
    {"bare_destruction", bare_destruction},
    {"threads_of_their_own", threads_of_their_own},
#ifdef PAWL_DEBUG
    {"little_memory", little_memory},
#endif
    {"mixed_threads", mixed_threads},
    {0},
};
