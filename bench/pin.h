/* pin.h - which CPUs a thread may run on */
#pragma once

#include <stdbool.h>

typedef enum bench_pin_policy {
    BENCH_FREE,    /* wherever the scheduler puts it                      */
    BENCH_COMPACT, /* neighbours on neighbouring CPUs                     */
    BENCH_SCATTER, /* as far apart as the machine allows                  */
    BENCH_NUMA,    /* thread i anywhere on NUMA node i, and round again   */
    BENCH_NODE,    /* all anywhere on one NUMA node                       */
    BENCH_CPUS,    /* thread i on the CPU given                           */
} bench_pin_policy;

typedef struct bench_pin {
    bench_pin_policy policy;
    unsigned node;
} bench_pin;

/* Without hwloc, some can't be had. */
bool bench_pin_works(bench_pin_policy policy);

/* The CPUs of the `index`th of `threads`. 0 or an errno value. `cpus` is for BENCH_CPUS. Only with hwloc. */
struct hwloc_bitmap_s;
int bench_pin_choose(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus,
                     struct hwloc_bitmap_s *set);

/* Binds the calling thread to them. */
int bench_pin_self(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus);
