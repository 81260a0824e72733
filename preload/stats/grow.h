/* grow.h - gives an anonymous file its size
 *
 * It is no file that anybody limits, but ulimit -f would: with a signal that ends the process.
 */
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static inline bool stats_grow(int fd, off_t size)
{
    struct rlimit before, most;
    sigset_t signal, mask, pending;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal, &mask);
    sigpending(&pending); /* one that was there before stays */
    bool limited = getrlimit(RLIMIT_FSIZE, &before) == 0 && before.rlim_cur != RLIM_INFINITY;
    if (limited) {
        most = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY}; /* root may */
        if (setrlimit(RLIMIT_FSIZE, &most) != 0) {
            most.rlim_cur = most.rlim_max = before.rlim_max;
            setrlimit(RLIMIT_FSIZE, &most);
        }
    }
    bool grown = ftruncate(fd, size) == 0;
    int error = errno;
    if (limited)
        setrlimit(RLIMIT_FSIZE, &before);
    if (!grown && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&signal, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    return grown;
}
