/* glibc.h - glibc's own functions, for the objects that are not ours */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

typedef struct glibc_calls {
    int (*mutex_init)(pthread_mutex_t *, const pthread_mutexattr_t *);
    int (*mutex_destroy)(pthread_mutex_t *);
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*cond_destroy)(pthread_cond_t *);
    int (*cond_signal)(pthread_cond_t *);
    int (*cond_broadcast)(pthread_cond_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*spin_init)(pthread_spinlock_t *, int);
    int (*spin_lock)(pthread_spinlock_t *);
    int (*spin_trylock)(pthread_spinlock_t *);
    int (*spin_unlock)(pthread_spinlock_t *);
    int (*setcanceltype)(int, int *);
} glibc_calls;

/* Looked up on the first call. That is made early, by constructors: dlsym() takes the loader's lock, and may allocate, and the
 * allocator may lock. */
const glibc_calls *glibc(void);

/* The caller's tid, without a system call once these functions are looked up. */
uint32_t glibc_tid(void);
