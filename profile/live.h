/* live.h - the tables of a running process */
#pragma once

#include "symbols.h"

#include "preload/stats/table.h"

typedef struct live {
    uint32_t pid;
    uintptr_t address; /* of its tables */
    uint64_t start_ns; /* of the program: it may go on as another, with tables in the same place */
    stats_table *copy;
    char *maps; /* of /proc/PID/maps */
    symbols *symbols;
} live;

/* The text of /proc/PID/maps, to be freed; NULL, with errno, if it can't be read or is empty. */
char *live_maps(uint32_t pid);

/* The process, or the only one that has tables if it is 0. Fails, and says why; waits for tables in which there is nothing
 * yet. */
live live_open(uint32_t pid);

/* Of the process `pid`. False, with errno: ENODATA if it has no tables, EAGAIN if there is nothing in them yet, EPROTO if
 * they are another version's; or it can't be read. */
bool live_try(uint32_t pid, live *l);
void live_close(live *l);

/* Copies what is used of the tables. False if the program is gone. */
bool live_read(live *l);
