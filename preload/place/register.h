/* register.h - all libraries libpawl-<name>.so, and the locks for which there is none
 */
#pragma once

#include <stddef.h>

typedef struct preload_library {
    const char *name;
    const char *refused; /* why there is no such library, or null */
} preload_library;

/* In the register's order. */
extern const preload_library preload_libraries[];
extern const size_t preload_library_count;
