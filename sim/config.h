/* config.h - for the code that runs on the simulated machine: -include this
 *
 * The locks, libpawl and the benchmark's loops are compiled as they are. What they do besides touching memory becomes
 * virtual time here: pauses, clocks, and the steps that are the benchmark's work.
 */
#pragma once

#include "../bench/generator.h"
#include "../bench/mersenne.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

uint64_t sim_ticks(void);
void sim_pause(void);
void *sim_memory(size_t size);

/* Around steps of a generator, on the host or in a thread. */
void sim_steps_begin(const void *generator);
void sim_steps_end(const void *generator, uint64_t steps, bool mersenne);

/* In registers, as compilers do it that see no hooks. */
static inline void sim_generator_advance(generator *g, uint64_t steps)
{
    sim_steps_begin(g);
    if (steps > 0) {
        generator own = *g;
        generator_advance(&own, steps);
        *g = own;
    }
    sim_steps_end(g, steps, false);
}

static inline void sim_mersenne_advance(mersenne *m, uint64_t steps)
{
    sim_steps_begin(m);
    mersenne_advance(m, steps);
    sim_steps_end(m, steps, true);
}

#define generator_advance sim_generator_advance
#define mersenne_advance  sim_mersenne_advance
#define PAWL_PAUSE        sim_pause
#define PAWL_NO_TIMESLICE
#define PAWL_HINT_CPU()                 PAWL_CPU_UNKNOWN /* no service there */
#define PAWL_HINT_LOOKS_ON(looks, most) ((looks) < (most))
#define PAWL_HINT_SLOT()                0
#define PAWL_HINT_IS_OFF(slot)          ((void)(slot), false)
#define __builtin_ia32_rdtsc            sim_ticks
#define mmap(at, size, ...)             sim_memory(size) /* where it lies must not differ from run to run */
