/* objects.h - variables of a program's files, by address */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdint.h>

typedef struct objects objects;

/* The name of the variable at an address in a file, and where in it that is; NULL if there is none. What was read of the
 * file's symbols is kept in the list, which begins as NULL. */
const char *objects_find(objects **list, Dwfl *dwfl, const char *path, uint64_t address, uint64_t *within);

void objects_free(objects *list);
