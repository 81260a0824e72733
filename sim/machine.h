/* machine.h - a machine as its file describes it */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t sim_time; /* picoseconds */

typedef enum sim_distance {
    SIM_SAME_CORE,
    SIM_SAME_CLUSTER,
    SIM_SAME_SOCKET,
    SIM_OTHER_SOCKET,
    SIM_DISTANCES
} sim_distance;

typedef enum sim_protocol { SIM_MESI, SIM_MOESI, SIM_MESIF, SIM_MIGRATORY, SIM_PROTOCOLS } sim_protocol;

extern const char *const sim_protocol_names[SIM_PROTOCOLS];

enum { SIM_MOST_CPUS = 1024 };

typedef struct sim_machine {
    char name[32];
    char title[96];
    /* So many in each of the next. */
    unsigned cpus_per_core, cores_per_cluster, clusters_per_socket, sockets;
    sim_protocol protocol;
    unsigned line; /* bytes, a power of two */
    /* Of one CPU. */
    sim_time cycle, hit, atomic, fence, pause, look, clock, step, mersenne;
    double smt; /* how much longer things take while the other CPU of the core works */
    unsigned stores;
    double overlap; /* the share of a miss that is hidden by those just before it */
    sim_time reach; /* and so much work may lie between                           */
    /* Between CPUs. */
    sim_time read[SIM_DISTANCES], write[SIM_DISTANCES], upgrade[SIM_DISTANCES];
    sim_time invalidation[SIM_DISTANCES]; /* what each copy but the farthest adds, by where it is */
    sim_time occupancy;                   /* of a line by a read that takes it from nobody */
    sim_time memory;
    /* The kernel's. */
    sim_time syscall, yield, futex_wait, futex_wake, wake, slack, switching, migration, slice, tick, hot,
        pull, membarrier, interrupt, ipi, delivery;
    double stay; /* how many of those that wake up where another runs stay there, though a CPU is idle */
    /* The hypervisor's: how long it takes a CPU away, and how often; 0: never. */
    sim_time stolen, stolen_every;
} sim_machine;

static inline unsigned sim_machine_cores(const sim_machine *m)
{
    return m->cores_per_cluster * m->clusters_per_socket * m->sockets;
}

static inline unsigned sim_machine_cpus(const sim_machine *m)
{
    return m->cpus_per_core * sim_machine_cores(m);
}

/* The i-th CPU when threads are spread: over sockets first, then clusters, cores, and the CPUs of a core last. */
unsigned sim_machine_scatter(const sim_machine *m, unsigned i);

/* The machine that runs. */
extern sim_machine sim_hardware;

/* What is wrong with a machine file, and where. */
typedef struct sim_complaint {
    unsigned line, column;
    char text[160];
} sim_complaint;

/* machine.c: from a text; false with a complaint if it is wrong. */
bool sim_machine_parse(const char *text, sim_machine *m, sim_complaint *c);

/* machine.c: one line of a file ("wake 20us"), for a machine that is complete. */
bool sim_machine_set(sim_machine *m, const char *line, sim_complaint *c);

/* machine.c: the distances that it does not have. */
void sim_machine_fill_in(sim_machine *m);

/* machine.c: writes a machine as a file, every number with its source. */
void sim_machine_write(FILE *to, const sim_machine *m, const char *source_of(const char *key));

/* this.c: the machine that this program runs on; takes a second or two. False if hwloc fails, or it is too large. */
bool sim_machine_this(sim_machine *m);
const char *sim_source_this(const char *key);

/* The machine files that are built in, up to a name of NULL. */
typedef struct sim_builtin {
    const char *name, *text;
} sim_builtin;

extern const sim_builtin sim_builtins[];
