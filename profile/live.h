/* live.h - the tables of a running process */
#pragma once

#include "symbols.h"

#include "preload/stats/table.h"

typedef struct live {
    uint32_t pid;
    uintptr_t address; /* of its tables */
    stats_table *copy;
    char *maps; /* of /proc/PID/maps */
    symbols *symbols;
} live;

/* The text of /proc/PID/maps, to be freed; NULL, with errno, if it can't be read or is empty. */
char *live_maps(uint32_t pid);

/* The process, or the only one that has tables if it is 0. Fails, and says why. */
live live_open(uint32_t pid);
void live_close(live *l);

/* Copies what is used of the tables. False if the process is gone. */
bool live_read(live *l);
