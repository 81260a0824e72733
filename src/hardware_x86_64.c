/* hardware_x86_64.c - UMONITOR/UMWAIT (Intel) and MONITORX/MWAITX (AMD), chosen by CPUID
 *
 * Arm the monitor, look, wait: a change in between ends the wait. Both time out, so that the policy gets its turn. */
#include "hardware.h"

#ifdef __x86_64__

#include <cpuid.h>

#define CYCLES 4000u /* of the time stamp counter: about 2 us */
#define WAITS  4u    /* of 2 us, in a spinning phase of 8     */

enum { UNKNOWN, PAUSE, UMWAIT, MWAITX };

static _Atomic(int) kind;

static int detect(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & (1u << 5)) != 0)
        return UMWAIT; /* WAITPKG */
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c & (1u << 29)) != 0)
        return MWAITX; /* MONITORX */
    return PAUSE;
}

static int offered(void)
{
    int k = atomic_load_explicit(&kind, memory_order_relaxed);
    if (k == UNKNOWN)
        atomic_store_explicit(&kind, k = detect(), memory_order_relaxed);
    return k;
}

static void umwait(pawl_word *w, uint64_t seen)
{
    /* Encoded by hand, as older assemblers do not know them: umonitor %rdi; umwait %ecx. */
    __asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xf7" : : "D"(w) : "memory");
    if (atomic_load_explicit(w, memory_order_relaxed) != seen)
        return;
    uint64_t until = __builtin_ia32_rdtsc() + CYCLES;
    __asm__ volatile(".byte 0xf2, 0x0f, 0xae, 0xf1"
                     : /* no output */
                     : "a"((uint32_t)until), "d"((uint32_t)(until >> 32)),
                       "c"(1) /* C0.1: the faster wake-up */
                     : "memory", "cc");
}

static void mwaitx(pawl_word *w, uint64_t seen)
{
    __asm__ volatile(".byte 0x0f, 0x01, 0xfa" : : "a"(w), "c"(0), "d"(0) : "memory"); /* monitorx */
    if (atomic_load_explicit(w, memory_order_relaxed) != seen)
        return;
    __asm__ volatile(".byte 0x0f, 0x01, 0xfb" : : "a"(0xf0), "b"(CYCLES), "c"(2) : "memory"); /* mwaitx */
}

unsigned pawl_hardware_wait(pawl_word *w, uint64_t seen)
{
    switch (offered()) {
    case UMWAIT:
        umwait(w, seen);
        return WAITS;
    case MWAITX:
        mwaitx(w, seen);
        return WAITS;
    default: /* the caller has paused already */
        return 0;
    }
}

const char *pawl_hardware_name(void)
{
    static const char *const names[] = {[PAUSE] = "pause", [UMWAIT] = "UMWAIT", [MWAITX] = "MWAITX"};
    return names[offered()];
}

#endif
