/* native.c - libpawl-native.so: glibc's own mutexes, with the longest wait for one
 *
 * `pawl tune --waits` compares what other locks do with it. A mutex that is free costs a trylock, and nothing is timed. All
 * else is as without the library: a trylock fails where lock would wait, or return an error that the lock after it returns.
 */
#include "src/park/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static int (*_Atomic glibc_lock)(pthread_mutex_t *m); /* found when it is needed */
static _Atomic uint64_t *worst; /* shared with pawl and all processes of the command; NULL: nobody asks */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PAWL_WORST");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *page = mmap(NULL, sizeof *worst, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED)
        worst = page;
}

static void waited(uint64_t ns)
{
    uint64_t most = atomic_load_explicit(worst, memory_order_relaxed);
    while (ns > most && !atomic_compare_exchange_weak_explicit(worst, &most, ns, memory_order_relaxed,
                                                               memory_order_relaxed))
        ;
}

PUBLIC int pthread_mutex_lock(pthread_mutex_t *m)
{
    int status = pthread_mutex_trylock(m);
    if (status != EBUSY)
        return status;
    if (glibc_lock == NULL)
        glibc_lock = __extension__(int (*)(pthread_mutex_t *)) dlsym(RTLD_NEXT, "pthread_mutex_lock");
    if (worst == NULL)
        return glibc_lock(m);
    uint64_t start = pawl_nanoseconds(CLOCK_MONOTONIC);
    status = glibc_lock(m);
    waited(pawl_nanoseconds(CLOCK_MONOTONIC) - start);
    return status;
}

PUBLIC int mtx_lock(mtx_t *m)
{
    int status = pthread_mutex_lock((pthread_mutex_t *)m);
    return status == 0 ? thrd_success : status == ENOMEM ? thrd_nomem : thrd_error;
}
