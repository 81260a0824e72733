/* region_life.c - whether a thread lives, told by the kernel
 *
 * Each thread has a robust mutex in its seat until it leaves. When the thread ends, by return, exit or SIGKILL, the
 * kernel marks the mutex, and a trylock returns EOWNERDEAD, to one thread at a time. This needs no pid, which may be
 * another process's by now or mean nothing in another container, and no look into /proc. It leaves the list of robust
 * mutexes to the C library, which has only one for each thread.
 *
 * Linux does not mark them for a thread other than the main one that calls exec: by then it has the main thread's id.
 */
#include "region.h"
#include "signals.h"

#ifdef PAWL_HAS_REGIONS

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pawl_life_is_told(void)
{
    void *head;
    size_t size;
    return syscall(SYS_get_robust_list, 0, &head, &size) == 0; /* not under an emulator of user programs */
}

void pawl_life_prepare(pawl_life *life)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes,
                                PTHREAD_MUTEX_ROBUST); /* fails where pawl_life_is_told() said so */
    pthread_mutex_init(life, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

int pawl_life_try(pawl_life *life)
{
    int error = pthread_mutex_trylock(life);
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(life);
    return error;
}

void pawl_life_end(pawl_life *life)
{
    pthread_mutex_unlock(life);
}

enum {
    OWNER_DIED = 0x40000000
}; /* the kernel's FUTEX_OWNER_DIED; musl's compiler does not find its headers */

/* A look at the word that the kernel marks. It spares those who find a living owner two system calls. */
bool pawl_life_goes_on(pawl_life *life)
{
#ifdef __GLIBC__
    uint32_t word = (uint32_t)__atomic_load_n(&life->__data.__lock, __ATOMIC_RELAXED);
    return word != 0 && (word & OWNER_DIED) == 0;
#else
    (void)life;
    return false;
#endif
}

/* Not the signals of faults: blocked, they would kill a program that serves them. */
uint64_t pawl_life_block_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    uint64_t mask = UINT64_MAX;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        mask &= ~((uint64_t)1 << (faults[i] - 1));
    return pawl_signals_swap(mask);
}

void pawl_life_restore_signals(uint64_t before)
{
    pawl_signals_swap(before);
}

#endif
