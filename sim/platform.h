/* platform.h - for the parts of the benchmark that start threads and wait for them: -include this
 *
 * They run on the host, as they are, and find simulated threads behind pthread's names.
 */
#pragma once

#include <hwloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

uint64_t sim_ticks(void);
void *sim_aligned_alloc(size_t alignment, size_t size);
int sim_create(pthread_t *thread, const pthread_attr_t *attributes, void *start(void *), void *argument);
int sim_join(pthread_t thread, void **result);
int sim_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned count);
int sim_barrier_wait(pthread_barrier_t *b);
int sim_set_cpubind(hwloc_topology_t t, hwloc_const_cpuset_t set, int flags);

/* sim/answer.c has the workloads' function of this name, which also says what the memory is for. */
#define bench_team_new sim_plain_team_new

#define aligned_alloc        sim_aligned_alloc
#define pthread_create       sim_create
#define pthread_join         sim_join
#define pthread_barrier_init sim_barrier_init
#define pthread_barrier_wait sim_barrier_wait
#define hwloc_set_cpubind    sim_set_cpubind
#define __builtin_ia32_rdtsc sim_ticks
