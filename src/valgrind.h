/* valgrind.h - what Helgrind and DRD are told
 *
 * The requests of Valgrind's <valgrind/valgrind.h>, <valgrind/helgrind.h> and <valgrind/drd.h>, which are part of its
 * ABI, for the machines that it runs on. They are written out, so that libpawl builds without those headers.
 * Elsewhere, and without Valgrind, a request does nothing.
 */
#pragma once

#include <stdint.h>

/* Every lock is reported as a readers-writer lock that is only ever written: the one kind of lock that both tools
 * understand by the same numbers. */
#define VALGRIND_TOOL ((uint64_t)'H' << 24 | (uint64_t)'G' << 16)
enum {
    VALGRIND_CLEAN = 0,       /* forget who has written this memory                           */
    VALGRIND_ERRORS = 0x1801, /* 1: this thread's errors are not reported; -1: they are again */
    VALGRIND_LOCK_CREATED = 256 + 14,
    VALGRIND_LOCK_DESTROYED = 256 + 15,
    VALGRIND_LOCK_TAKEN = 256 + 17,
    VALGRIND_LOCK_RELEASED = 256 + 18,
    VALGRIND_SENT = 256 + 33,
    VALGRIND_RECEIVED = 256 + 34,
};

static inline void valgrind_request(uint64_t request, uint64_t a, uint64_t b)
{
    volatile uint64_t arguments[6] = {request, a, b, 0, 0, 0};
#if defined(__x86_64__)
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&arguments[0])
                     : "cc", "memory");
#elif defined(__aarch64__)
    register uint64_t result __asm__("x3") = 0;
    register const volatile uint64_t *at __asm__("x4") = arguments;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(result)
                     : "r"(at)
                     : "cc", "memory");
#endif
    (void)arguments;
}

static inline void valgrind_tell(uint64_t what, const void *object, uint64_t more)
{
    valgrind_request(VALGRIND_TOOL + what, (uint64_t)(uintptr_t)object, more);
}

/* What locks do to their own words is not a race. */
static inline void valgrind_quiet(void)
{
    valgrind_request(VALGRIND_ERRORS, 1, 0);
}

static inline void valgrind_loud(void)
{
    valgrind_request(VALGRIND_ERRORS, (uint64_t)-1, 0);
}

/* While a thread waits, others write to its stack, and nothing is reported until the wait is over. The program will
 * use that memory again. */
static inline void valgrind_clean_stack(void)
{
    const uint64_t below = 4096;
    const char *top = __builtin_frame_address(0);
    valgrind_tell(VALGRIND_CLEAN, top - below, below);
}
