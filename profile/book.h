/* book.h - the file that holds the tables of a command's processes */
#pragma once

#include "document.h"

#include <stddef.h>

/* A descriptor; `path` is for PAWL_PROFILE. Fails if there is no memory. */
int profile_book_make(uint32_t depth, uint32_t sample, char *path, size_t size);

/* Calls it with a copy of each table (copy.h), and with its locks as they are. Returns how many were wanted: for some there
 * may have been no room. */
uint32_t profile_book_read(int fd, void (*each)(const stats_table *t, const stats_row *rows, void *input),
                           void *input);

/* Adds all of them to the document, which began at `origin_ns` and ends at `end_ns`. Returns their number. */
size_t profile_book_add(int fd, json_t *document, uint64_t origin_ns, uint64_t end_ns);
