/* topology.h - the machine, reduced to the CPUs that this process may use
 *
 * As hwloc sees it; where Pawl is built without hwloc, as the kernel numbers CPUs (no_hwloc.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum bench_part { BENCH_PACKAGES, BENCH_CORES, BENCH_NODES, BENCH_PUS, BENCH_PARTS } bench_part;

/* How many there are; 0 if that is not known. */
unsigned bench_count(bench_part part);

/* The kernel's number of the CPU at a place below bench_count(BENCH_PUS); neighbours are close to one another. */
unsigned bench_cpu_at(unsigned place);

bool bench_has_cpu(unsigned cpu);

/* Such as "; 2 L1d 32 KiB, 1 L3 16384 KiB"; empty if they are not known. */
void bench_caches(char *text, size_t size);
