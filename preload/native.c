/* native.c - libpawl-native.so: glibc's own mutexes, with the longest wait for one
 *
 * `pawl tune --waits` compares what other locks do with it, so it measures what their tables do (worst_call_ns of
 * stats/table.h): calls that lock a mutex which Pawl would put its own lock in place of, and that end with the mutex. A
 * mutex that is free costs a trylock, and nothing is timed. All else is as without the library: a trylock fails where lock
 * would wait, or return an error that the lock after it returns.
 */
#include "glibc.h"
#include "mutex/layout.h"
#include "stats/count.h"

#include "src/park/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static stats_count *worst; /* shared with pawl and all processes of the command; NULL: nobody asks */

__attribute__((constructor)) static void begin(void)
{
    glibc();
    const char *path = getenv("PAWL_WORST");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *page = mmap(NULL, sizeof *worst, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED)
        worst = page;
}

static int lock_of_glibc(pthread_mutex_t *m, clockid_t clock, const struct timespec *deadline)
{
    if (deadline == NULL)
        return glibc()->mutex_lock(m);
    return clock == CLOCK_REALTIME ? glibc()->mutex_timedlock(m, deadline)
                                   : glibc()->mutex_clocklock(m, clock, deadline);
}

static int lock_until(pthread_mutex_t *m, clockid_t clock, const struct timespec *deadline)
{
    bool measured = worst != NULL && !is_glibcs(mutex_of(m));
    int status = measured ? pthread_mutex_trylock(m) : EBUSY;
    if (status != EBUSY)
        return status;
    uint64_t start = measured ? pawl_nanoseconds(CLOCK_MONOTONIC) : 0;
    status = lock_of_glibc(m, clock, deadline);
    if (measured && status == 0)
        stats_raise_shared(worst, pawl_nanoseconds(CLOCK_MONOTONIC) - start);
    return status;
}

PUBLIC int pthread_mutex_lock(pthread_mutex_t *m)
{
    return lock_until(m, CLOCK_REALTIME, NULL);
}

PUBLIC int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict deadline)
{
    return lock_until(m, CLOCK_REALTIME, deadline);
}

PUBLIC int pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
                                   const struct timespec *restrict deadline)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) /* glibc says so even if the mutex is free */
        return EINVAL;
    return lock_until(m, clock, deadline);
}

/* ---- C11's: glibc's call its own mutexes, not the functions above */

static int result_of(int status)
{
    return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}

PUBLIC int mtx_lock(mtx_t *m)
{
    return result_of(lock_until((pthread_mutex_t *)m, CLOCK_REALTIME, NULL));
}

PUBLIC int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict deadline)
{
    return result_of(lock_until((pthread_mutex_t *)m, CLOCK_REALTIME, deadline));
}
