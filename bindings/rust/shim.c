/* shim.c - Pawl's inline functions, for Rust to call
 *
 * They are compiled here from the headers, not declared again in Rust: so a library whose inline text is another does
 * not link (docs/embedding.md), and nothing in Rust knows what the bytes of a lock mean. src/raw.rs has the same list.
 */
#include <pawl.h>

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOCK(name, words, lock_, trylock_, unlock_)                                                          \
    _Static_assert(sizeof(pawl_##name) == 8 * (words), "src/raw.rs has another size");                       \
    _Static_assert(_Alignof(pawl_##name) <= 8, "src/raw.rs has another alignment");                          \
    void pawl_rust_##name##_lock(pawl_##name *l);                                                            \
    bool pawl_rust_##name##_trylock(pawl_##name *l);                                                         \
    void pawl_rust_##name##_unlock(pawl_##name *l);                                                          \
    void pawl_rust_##name##_lock(pawl_##name *l)                                                             \
    {                                                                                                        \
        lock_;                                                                                               \
    }                                                                                                        \
    bool pawl_rust_##name##_trylock(pawl_##name *l)                                                          \
    {                                                                                                        \
        return trylock_;                                                                                     \
    }                                                                                                        \
    void pawl_rust_##name##_unlock(pawl_##name *l)                                                           \
    {                                                                                                        \
        unlock_;                                                                                             \
    }

/* The context is that of a lock which has none. */
#define PLAIN(name, words)                                                                                   \
    LOCK(name, words, pawl_##name##_lock(l, &(pawl_##name##_ctx){0}),                                        \
         pawl_##name##_trylock(l, &(pawl_##name##_ctx){0}),                                                  \
         pawl_##name##_unlock(l, &(pawl_##name##_ctx){0}))

PLAIN(tts, 1)
PLAIN(ticket, 2)
PLAIN(twa, 2)
PLAIN(twa_hapax, 2)
PLAIN(clh, 2)
PLAIN(lifo, 1)

/* Hemlock's locks point into the memory of their owner's thread. Rust lets a program forget a guard and end the thread;
 * whoever locked next would follow the pointer. So a thread that owns one must not end. */
static __thread unsigned long owned;
static __thread bool watched;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

_Noreturn static void die(const char *line)
{
    fputs(line, stderr);
    abort();
}

/* Destructors of other keys may drop guards: it looks in every round, and speaks in the last. */
static void thread_ends(void *round)
{
    watched = false;
    if (owned == 0)
        return;
    if ((uintptr_t)round >= PTHREAD_DESTRUCTOR_ITERATIONS || pthread_setspecific(key, (char *)round + 1) != 0)
        die("pawl: a thread ends that owns a Hemlock lock, because a guard was forgotten\n");
}

static void make_key(void)
{
    if (pthread_key_create(&key, thread_ends) != 0)
        die("pawl: no key is left to see that a thread ends\n");
}

static void watch(void)
{
    pthread_once(&once, make_key);
    if (pthread_setspecific(key, (void *)1) != 0)
        die("pawl: out of memory\n");
    watched = true;
}

static void own(void)
{
    owned++;
    if (!watched)
        watch();
}

static bool own_if(bool locked)
{
    if (locked)
        own();
    return locked;
}

#define OWNED(name)                                                                                          \
    LOCK(name, 1, (own(), pawl_##name##_lock(l, &(pawl_##name##_ctx){0})),                                   \
         own_if(pawl_##name##_trylock(l, &(pawl_##name##_ctx){0})),                                          \
         (pawl_##name##_unlock(l, &(pawl_##name##_ctx){0}), owned--))

OWNED(hemlock_naive)
OWNED(hemlock)
OWNED(hemlock_overlap)
OWNED(hemlock_oh1)
OWNED(hemlock_oh2)
OWNED(hemlock_chain)

PLAIN(retrograde, 3)
PLAIN(retrograde_coin, 6)
PLAIN(retrograde_twa, 6)
PLAIN(capacitor_plain, 4)
PLAIN(capacitor_tts, 4)
PLAIN(capacitor_ticket, 5)
PLAIN(capacitor_lifo, 4)
PLAIN(capacitor_multilane, 67)

static struct timespec from_now(uint64_t nanoseconds)
{
    enum { SECOND = 1000000000 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t whole = nanoseconds / SECOND + (uint64_t)t.tv_sec;
    long rest = (long)(nanoseconds % SECOND) + t.tv_nsec;
    t.tv_sec = (time_t)(whole + (uint64_t)(rest / SECOND));
    t.tv_nsec = rest % SECOND;
    return t;
}

#define MUTEX(name, words)                                                                                   \
    LOCK(name, words, pawl_##name##_lock(l), pawl_##name##_trylock(l), pawl_##name##_unlock(l))              \
    bool pawl_rust_##name##_lock_for(pawl_##name *l, uint64_t nanoseconds);                                  \
    bool pawl_rust_##name##_lock_for(pawl_##name *l, uint64_t nanoseconds)                                   \
    {                                                                                                        \
        struct timespec deadline = from_now(nanoseconds);                                                    \
        return pawl_##name##_clocklock(l, CLOCK_MONOTONIC, &deadline) == 0;                                  \
    }

MUTEX(mutex, 3)

void pawl_rust_mutex_unlock_fair(pawl_mutex *m);
void pawl_rust_mutex_unlock_fair(pawl_mutex *m)
{
    pawl_mutex_unlock_fair(m);
}

MUTEX(fairmutex, 1)

void pawl_rust_clh_destroy(pawl_clh *l);
void pawl_rust_clh_destroy(pawl_clh *l)
{
    pawl_clh_destroy(l);
}

_Static_assert(sizeof(pawl_cond) == 8, "src/condvar.rs has another size");

/* False if the time was over first. UINT64_MAX: no deadline. */
bool pawl_rust_cond_wait(pawl_cond *c, pawl_mutex *m, uint64_t nanoseconds);
bool pawl_rust_cond_wait(pawl_cond *c, pawl_mutex *m, uint64_t nanoseconds)
{
    if (nanoseconds == UINT64_MAX) {
        pawl_cond_wait(c, m);
        return true;
    }
    struct timespec deadline = from_now(nanoseconds);
    return pawl_cond_clockwait(c, m, CLOCK_MONOTONIC, &deadline) == 0;
}

bool pawl_rust_cond_wait_fair(pawl_cond *c, pawl_fairmutex *m, uint64_t nanoseconds);
bool pawl_rust_cond_wait_fair(pawl_cond *c, pawl_fairmutex *m, uint64_t nanoseconds)
{
    struct timespec deadline = from_now(nanoseconds);
    bool forever = nanoseconds == UINT64_MAX;
    return pawl_cond_clockwait_fair(c, m, CLOCK_MONOTONIC, forever ? NULL : &deadline) == 0;
}

void pawl_rust_cond_notify(pawl_cond *c, bool all);
void pawl_rust_cond_notify(pawl_cond *c, bool all)
{
    if (all)
        pawl_cond_broadcast(c);
    else
        pawl_cond_signal(c);
}
