/* hint_maps.h - what the BPF program and the service share beside the published maps */
#pragma once

#include "../src/park/hint_map.h"

enum {
    HINT_SHEETS = 1024,
    HINT_THREADS = 16384, /* registered at a time */
    HINT_WAYS = 4,        /* places in the table for threads whose numbers agree in their last bits */
    HINT_SETS = 16384
};

/* Where a registered thread is published. Its number may be another process's by now: so the process counts, too. */
struct hint_place {
    uint32_t pid;
    uint32_t sheet; /* 1 or more */
    uint32_t slot;
    uint32_t unused;
};

/* The registered threads by number, one cache line of a set for the search. The service fills places and the BPF
 * program empties them, when a thread ends. */
struct hint_table {
    uint32_t tid[HINT_SETS][HINT_WAYS]; /* 0: free */
    struct hint_place place[HINT_SETS][HINT_WAYS];
};

/* What the service has the BPF program write: nobody else can. */
struct hint_beat {
    uint32_t version, heartbeat, count;
};
