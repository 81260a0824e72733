/* timeslice.c - asks the kernel for a few microseconds more */
#include "timeslice.h"

#if defined(__linux__) && !defined(PAWL_NO_TIMESLICE)

#include "../sandbox.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of <linux/prctl.h>, <linux/rseq.h> and <asm/unistd.h>, which are older here than the kernel may be. */
enum {
    EXTENSION = 79, /* PR_RSEQ_SLICE_EXTENSION */
    EXTENSION_GET = 1,
    EXTENSION_SET = 2,
    ENABLE = 1,
    SLICE_YIELD = 471, /* SYS_rseq_slice_yield, on every architecture */
    REQUEST = 28,      /* bytes of the rseq area: we write this one */
    GRANTED = 29       /* the kernel writes this one                */
};

_Atomic(uint32_t) pawl_timeslice_use;

/* 0: has not asked yet whether it may. */
static __thread enum { UNASKED, ALLOWED, REFUSED } allowed __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__) || defined(__aarch64__)

/* glibc's, since 2.35. Its size is that of the features glibc knows of; what is registered has 32 bytes at least. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static volatile uint8_t *area(void)
{
    uint8_t *thread;
    if (&__rseq_offset == NULL || &__rseq_size == NULL || __rseq_size == 0)
        return NULL;
#ifdef __x86_64__
    __asm__("movq %%fs:0, %0" : "=r"(thread));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(thread));
#endif
    return thread + __rseq_offset;
}

#else

static volatile uint8_t *area(void)
{
    return NULL;
}

#endif

#ifndef PAWL_TIMESLICE_AREA /* a test's */
#define PAWL_TIMESLICE_AREA area()
#endif

bool pawl_timeslice_ask_slowly(void)
{
    volatile uint8_t *mine = PAWL_TIMESLICE_AREA;
    if (allowed == UNASKED) {
        int before = errno;
        allowed = mine != NULL && prctl(EXTENSION, EXTENSION_SET, ENABLE, 0, 0) == 0 ? ALLOWED : REFUSED;
        errno = before;
    }
    /* A request while one is granted is what the kernel calls an inconsistency, and may kill for. One load tells that
     * there is neither: without a request, none is granted meanwhile. */
    if (allowed == ALLOWED && *(const volatile uint32_t *)(const volatile void *)(mine + REQUEST) == 0)
        mine[REQUEST] = 1;
    return allowed == ALLOWED;
}

void pawl_timeslice_return_slowly(void)
{
    volatile uint8_t *mine = PAWL_TIMESLICE_AREA;
    if (allowed != ALLOWED)
        return;
    mine[REQUEST] = 0;
    if (mine[GRANTED] != 0) {
        int before = errno;
        syscall(SLICE_YIELD);
        errno = before;
    }
}

static bool is_unwanted(void)
{
    const char *set = getenv("PAWL_TIMESLICE");
    return set != NULL && strcmp(set, "off") == 0;
}

pawl_timeslice_state pawl_timeslice_find(void)
{
    int before = errno;
    bool has = prctl(EXTENSION, EXTENSION_GET, 0, 0, 0) >= 0;
    errno = before;
    return is_unwanted()                 ? PAWL_TIMESLICE_UNWANTED
           : !has                        ? PAWL_TIMESLICE_NONE
           : PAWL_TIMESLICE_AREA == NULL ? PAWL_TIMESLICE_NO_AREA
                                         : PAWL_TIMESLICE_WORKS;
}

__attribute__((constructor(101))) static void find_timeslice(void)
{
    if (!is_unwanted() && !pawl_in_sandbox() && pawl_timeslice_find() == PAWL_TIMESLICE_WORKS)
        atomic_store_explicit(&pawl_timeslice_use, 1, memory_order_relaxed);
}

#else

#ifndef PAWL_NO_TIMESLICE
_Atomic(uint32_t) pawl_timeslice_use;

bool pawl_timeslice_ask_slowly(void)
{
    return false;
}

void pawl_timeslice_return_slowly(void)
{
}
#endif

pawl_timeslice_state pawl_timeslice_find(void)
{
    return PAWL_TIMESLICE_NONE;
}

#endif
