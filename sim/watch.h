/* watch.h - what the simulator counts, and what the lines are */
#pragma once

#include "sim.h"

#include "../bench/request.h"

/* What memory is for, by address: the last region that was named wins. */
void watch_region(const void *from, size_t size, sim_object object);
sim_object watch_object(uintptr_t address);

/* Counted from here on. */
void watch_start(void);
void watch_stop(void);

/* A line moves: for a read or a write; `cold` if nobody had it, `copies` that were invalidated. */
void watch_transfer(sim_object object, bool write, bool upgrade, bool cold, unsigned copies, bool remote);
void watch_switch(bool voluntary);
void watch_migration(void);

/* A thread asks for the lock, has it, and is about to give it back. */
void watch_arrives(sim_thread *t);
void watch_enters(sim_thread *t);
void watch_leaves(sim_thread *t);

typedef struct watch_counts {
    uint64_t voluntary, involuntary, migrations;
} watch_counts;

extern watch_counts watch_switches; /* since the start of the machine */

/* Fills in what a run says about lines and waiting, per acquisition. */
void watch_answer(bench_run *run);
