/* glibc.c - glibc's own functions, for the objects that are not ours */
#include "glibc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the order of glibc_calls. */
static const char *const names[] = {
    "pthread_mutex_init",      "pthread_mutex_destroy",   "pthread_mutex_lock",   "pthread_mutex_trylock",
    "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_mutex_unlock", "pthread_cond_destroy",
    "pthread_cond_signal",     "pthread_cond_broadcast",  "pthread_cond_wait",    "pthread_cond_timedwait",
    "pthread_cond_clockwait",  "pthread_spin_init",       "pthread_spin_lock",    "pthread_spin_trylock",
    "pthread_spin_unlock",     "pthread_setcanceltype",
};
enum { CALLS = sizeof names / sizeof names[0] };
_Static_assert(sizeof(glibc_calls) == CALLS * sizeof(void *), "a name for every function");

static union {
    glibc_calls calls;
    void *pointers[CALLS];
} found;
static atomic_bool ready;

/* Several threads may be here at once: they write the same. */
static void look_up(void)
{
    int before = errno;
    for (int i = 0; i < CALLS; i++)
        found.pointers[i] = dlsym(RTLD_NEXT, names[i]);
    atomic_store_explicit(&ready, true, memory_order_release);
    errno = before;
}

const glibc_calls *glibc(void)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        look_up();
    return &found.calls;
}

/* glibc writes the tid into a mutex it locks. Not gettid(): a sandbox may forbid it. */
uint32_t glibc_tid(void)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        return (uint32_t)syscall(SYS_gettid);
    pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    found.calls.mutex_lock(&m);
    uint32_t tid = (uint32_t)m.__data.__owner;
    found.calls.mutex_unlock(&m);
    return tid != 0 ? tid
                    : (uint32_t)syscall(SYS_gettid); /* another interposer behind this one may set no owner */
}
