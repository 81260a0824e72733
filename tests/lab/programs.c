/* programs.c - programs about memory, waiting and system calls (instrumented); see subjects.h */
#define _GNU_SOURCE
#include "subjects.h"
#include "shorthand.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- destruction ---------------------------------------------------------------------------------------------- */

static struct { _Atomic int state, users; } object;

void destroy_setup(void *unused)
{
    (void)unused;
    store(&object.state, 0, RLX);
    store(&object.users, 2, RLX);
}

/* The last user destroys the object, but the other may not have left it. */
void destroy_early(void *unused, int id)
{
    (void)unused;
    (void)id;
    if (add(&object.users, -1, AR) == 1)
        lab_destroy(&object, sizeof object);
    else
        store(&object.state, 1, REL);
}

void destroy_ordered(void *unused, int id)
{
    (void)unused;
    (void)id;
    store(&object.state, 1, REL);
    if (add(&object.users, -1, AR) == 1)
        lab_destroy(&object, sizeof object);
}

/* ---- thread-local memory that is used again ------------------------------------------------------------------- */

static _Thread_local _Atomic int mailbox;
static _Atomic(_Atomic int *) address;
static _Atomic int done;

/* Thread 0 lends its mailbox and exits without waiting for the answer. */
void tls_reuse_unordered(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        store(&address, &mailbox, REL);
        lab_thread_restart();
        return;
    }
    _Atomic int *p = load(&address, ACQ);
    if (p)
        store(p, 1, RLX);
}

/* It waits, and the waiting orders the answer before the exit. */
void tls_reuse_ordered(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        store(&address, &mailbox, REL);
        while (!load(&done, ACQ))
            ;
        lab_thread_restart();
        lab_assert(load(&mailbox, RLX) == 0, "a new thread finds its memory cleared");
        return;
    }
    _Atomic int *p;
    while (!(p = load(&address, ACQ)))
        ;
    store(p, 1, RLX);
    store(&done, 1, REL);
}

static _Thread_local int counter = 5;
static int exits;

static void count_exit(void)
{
    exits += counter;
}

void tls_is_reset(void *unused, int id)
{
    (void)unused;
    if (id != 0)
        return;
    counter++;
    lab_at_thread_exit(count_exit);
    lab_thread_restart();
    lab_assert(exits == 6, "the exit function ran, before the memory was cleared");
    lab_assert(counter == 5, "initial values are back");
    lab_thread_restart();
    lab_assert(exits == 6, "exit functions run once");
}

/* ---- the heap ------------------------------------------------------------------------------------------------- */

static _Atomic(int *) pointer;

static int *fresh(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    return p;
}

void leaks(void *unused, int id)
{
    (void)unused;
    int *old = swap(&pointer, fresh(), AR);
    if (id == 0)
        free(old);
}

void leaks_not(void *unused, int id)
{
    (void)unused;
    (void)id;
    free(swap(&pointer, fresh(), AR));
    free(swap(&pointer, NULL, AR));
}

/* A per-thread node that thread-specific data gives back when the thread ends. */
static pthread_once_t once;
static pthread_key_t key;
static _Thread_local bool wants_destructor;

static void make_key(void)
{
    lab_assert(pthread_key_create(&key, wants_destructor ? free : NULL) == 0, "a key");
}

void gives_back(void *destructor, int id)
{
    (void)id;
    wants_destructor = destructor != NULL;
    pthread_once(&once, make_key);
    lab_assert(pthread_getspecific(key) == NULL, "a new thread has no value");
    pthread_setspecific(key, fresh());
    lab_assert(pthread_getspecific(key) != NULL, "its own value");
    lab_thread_restart();
    lab_assert(pthread_getspecific(key) == NULL, "the next thread has none");
}

void frees_twice(void *unused, int id)
{
    (void)unused;
    if (id == 0)
        store(&pointer, fresh(), REL);
    int *p = load(&pointer, ACQ);
    free(p);
}

void uses_after_free(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        store(&pointer, fresh(), REL);
        free(swap(&pointer, NULL, AR));
        return;
    }
    int *p = load(&pointer, ACQ);
    if (p)
        lab_assert(*p == 1, "initialised");
}

/* ---- memset ---------------------------------------------------------------------------------------------------- */

static char buffer[40];

void clears_by_memset(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        lab_assert(buffer[39] == 0, "each execution starts from the same memory");
        memset(buffer, 1, sizeof buffer);
    }
    swap(&pointer, NULL, RLX);
}

void clears_unordered(void *unused, int id)
{
    (void)unused;
    memset(buffer, id, sizeof buffer);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static _Atomic int flag, other_flag;

/* Not a deadlock: the loop gives up. */
void spins_for_a_while(void *unused, int id)
{
    (void)unused;
    (void)id;
    for (int i = 0; i < 100 && !load(&flag, ACQ); i++)
        ;
}

void spins_for_ever(void *unused, int id)
{
    (void)unused;
    while (!load(id ? &flag : &other_flag, ACQ))
        ;
}

void waits_for_two_words(void *unused, int id)
{
    (void)unused;
    if (id == 0)
        while (!load(&flag, RLX) || !load(&other_flag, RLX))
            ;
    else
        store(id == 1 ? &flag : &other_flag, 1, RLX);
}

/* Two threads poll with RMWs that change nothing; they must not keep each other awake. */
void polls_by_exchange(void *unused, int id)
{
    (void)unused;
    if (id == 2)
        store(&flag, 1, REL);
    else
        while (!add(&flag, 0, ACQ))
            ;
}

void livelock(void *unused, int id)
{
    (void)unused;
    (void)id;
    while (load(&flag, RLX) < 1000000000)
        add(&flag, 1, RLX);
}

/* ---- system calls --------------------------------------------------------------------------------------------- */

void times_out(void *unused, int id)
{
    (void)unused;
    struct timespec second = {1, 0}, before, after;
    if (id != 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &before);
    long result = syscall(SYS_futex, &flag, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    lab_assert(result == -1 && errno == ETIMEDOUT, "nobody wakes it");
    lab_assert(after.tv_sec > before.tv_sec, "time has passed");
}

static void nap_of(int id)
{
    static unsigned bed[2];
    struct timespec second = {1, 0};
    syscall(SYS_futex, &bed[id], FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
}

/* Only the timer of the one ends the other's naps. */
void naps_until_told(void *most, int id)
{
    int naps = 0;
    do {
        nap_of(id);
        naps++;
        lab_assert(id == 0 || most == NULL || naps <= *(const int *)most, "told in time");
    } while (id == 1 && !load(&flag, ACQ));
    if (id == 0)
        store(&flag, 1, REL);
}

/* Naps of before the other lay down do not count. */
void naps_often_before(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        while (!load(&flag, ACQ))
            futex_wait(&flag, 0);
        nap_of(id);
        lab_assert(load(&flag, ACQ) != 2, "its timer is the first");
        return;
    }
    for (int i = 0; i < 20; i++)
        nap_of(id);
    store(&flag, 1, REL);
    futex_wake(&flag, 1);
    nap_of(id);
    store(&flag, 2, REL);
}

void sleeps_without_timeout(void *unused, int id)
{
    (void)unused;
    if (id == 0)
        futex_wait(&flag, 0);
    else
        futex_wake(&flag, 1);
}

/* A waiter that does not look again trusts every return. */
void wakes_spuriously(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        if (!load(&flag, ACQ))
            futex_wait(&flag, 0);
        lab_assert(load(&flag, ACQ), "woken means set");
    } else {
        store(&flag, 1, REL);
        futex_wake(&flag, 1);
    }
}

/* Moves the sleeper to another word and wakes it there. Its loop writes nothing and waits for another thread: it must
 * give way. */
void requeues(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        futex_wait(&flag, 0);
        return;
    }
    while (syscall(SYS_futex, &flag, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1L, &other_flag, 0) == 0)
        ;
    lab_assert(syscall(SYS_futex, &flag, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0, "nobody is left here");
    lab_assert(syscall(SYS_futex, &other_flag, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1, "it sleeps there");
}

static int entered;

/* Dekker with the fence on one side only, paid for by the other with a system call. */
void membarrier_dekker(void *unused, int id)
{
    (void)unused;
    if (id == 0) {
        store(&flag, 1, RLX);
        atomic_signal_fence(SC);
        if (load(&other_flag, RLX) == 0)
            entered++;
    } else {
        store(&other_flag, 1, RLX);
        if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
            lab_fail(LAB_ASSERTION, "membarrier failed");
        if (load(&flag, RLX) == 0)
            entered++;
    }
}

void unfenced_dekker(void *unused, int id)
{
    (void)unused;
    store(id ? &flag : &other_flag, 1, RLX);
    if (load(id ? &other_flag : &flag, RLX) == 0)
        entered++;
}

/* Spins until a deadline that only the clock can tell. */
void clock_deadline(void *unused, int id)
{
    (void)unused;
    (void)id;
    struct timespec now;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (!load(&flag, ACQ) && now.tv_sec < 30);
}
