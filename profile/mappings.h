/* mappings.h - the files in /proc/PID/maps */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct mapping {
    uintmax_t from, to, offset;
    char *path;
} mapping;

typedef struct mappings {
    mapping *items; /* by address */
    size_t count;
} mappings;

mappings mappings_read(const char *maps, size_t size);
void mappings_free(mappings *m);

/* The one around an address, or the last one before it; NULL if there is none. */
const mapping *mappings_find(const mappings *m, uint64_t address);
