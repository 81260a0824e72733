/* name.h - what an address is called */
#pragma once

#include <stdint.h>

typedef struct stats_name {
    const char *module; /* NULL: in no file, like heap and stack */
    uintptr_t offset;   /* in the file, as addr2line wants it */
    const char *symbol; /* NULL if not exported */
    uintptr_t within;   /* distance from the symbol's beginning */
} stats_name;

stats_name stats_name_of(uintptr_t address);

typedef struct stats_place_text {
    char text[512];
} stats_place_text;

/* "symbol+0x12 (module+0x1234)", or as much of it as is known. `seek` is the address to look up: a return address less
 * one, for the return address itself may belong to the next function. */
stats_place_text stats_place(uintptr_t address, uintptr_t seek);

/* The lock that this library puts under the program. */
const char *stats_lock_name(void);
