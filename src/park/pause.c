/* pause.c - how long to spin, in pauses, and whether at all
 *
 * Spinning helps if the owner of the lock can run at the same time, on another CPU. A thread that may run on several
 * CPUs assumes so. One that is bound to a single CPU cannot tell from its own affinity: either the whole process is
 * confined to that CPU, or each thread is bound to one of its own. So bound threads that wait note where they are
 * bound and when, and a thread that finds a recent note of another CPU spins. The main thread's affinity counts as
 * such a note: it tells of threads that never have to wait. Both change at run time, so every thread asks again after
 * some waits.
 */
#include "clock.h"
#include "pause.h"

#include <pawl/detail/wait.h>

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* ---- whether */

enum { NOTES = 8, WAITS = 64, MAY_SPIN = 1 << 15 };
#define RECENT (1u << 20) /* ticks: a second */

static pawl_word notes[NOTES]; /* CPU + 1 and the ticks when it was written; 0 if never */

static bool is_bound_elsewhere(unsigned cpu, uint32_t now)
{
    bool elsewhere = false;
    for (int i = 0; i < NOTES; i++) {
        uint64_t note = atomic_load_explicit(&notes[i], memory_order_relaxed);
        elsewhere |= note != 0 && note >> 32 != cpu + 1 && now - (uint32_t)note < RECENT;
    }
    return elsewhere;
}

static unsigned only_cpu_of(const cpu_set_t *set)
{
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, set))
        cpu++;
    return cpu;
}

static bool may_spin(void)
{
    cpu_set_t mine, main_thread;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) != 1)
        return true; /* also on a machine with more than 1024 CPUs */
    unsigned cpu = only_cpu_of(&mine);
    uint32_t now = pawl_ticks();
    atomic_store_explicit(&notes[cpu % NOTES], (uint64_t)(cpu + 1) << 32 | now, memory_order_relaxed);
    if (is_bound_elsewhere(cpu, now))
        return true;
    return sched_getaffinity(getpid(), sizeof main_thread, &main_thread) == 0 &&
           !CPU_EQUAL(&mine, &main_thread);
}

bool pawl_may_spin(void)
{
    int before = errno;
    bool may = may_spin();
    errno = before;
    return may;
}

/* The thread's last answer, and after how many waits it asks again. */
static __thread uint16_t spins __attribute__((tls_model("initial-exec")));

static bool still_may_spin(void)
{
    if ((spins & ~MAY_SPIN) == 0)
        spins = (uint16_t)(WAITS | (pawl_may_spin() ? MAY_SPIN : 0));
    spins--;
    return (spins & MAY_SPIN) != 0;
}

/* ---- how long: a pause takes between 4 and 140 cycles, depending on the CPU */

enum { SAMPLE = 64, SAMPLES = 4 };

static _Atomic(uint32_t) pauses_in_64us; /* 0: not known yet */

/* The shortest of a few, because a thread may lose its CPU while it measures. */
static uint32_t measure_pauses(void)
{
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t start = pawl_nanoseconds(CLOCK_MONOTONIC);
        for (int k = 0; k < SAMPLE; k++)
            pawl_pause();
        uint64_t took = pawl_nanoseconds(CLOCK_MONOTONIC) - start;
        if (took < shortest)
            shortest = took;
    }
    return (uint32_t)(65536u * SAMPLE / (shortest > SAMPLE ? shortest : SAMPLE));
}

uint32_t pawl_pauses(uint32_t nanoseconds)
{
    return nanoseconds == 0 || !still_may_spin() ? 0 : pawl_pauses_in(nanoseconds);
}

uint32_t pawl_pauses_in(uint32_t nanoseconds)
{
    uint32_t rate = atomic_load_explicit(&pauses_in_64us, memory_order_relaxed);
    if (PAWL_UNLIKELY(rate == 0)) {
        rate = measure_pauses();
        atomic_store_explicit(&pauses_in_64us, rate, memory_order_relaxed);
    }
    return (uint32_t)((uint64_t)nanoseconds * rate >> 16) + 1;
}
