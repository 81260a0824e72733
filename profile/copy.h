/* copy.h - a process's tables, as they were at one time
 *
 * A process may go on and write while its tables are read, and it may write anything. So they are copied first, and
 * what is checked is the copy. All but locks[], which may be most of it: of that, each row is copied when it is looked at.
 */
#pragma once

#include "preload/stats/table.h"

#include <stdbool.h>
#include <stddef.h>

/* All zeros; takes memory where it is written to. */
stats_table *table_new(void);
void table_free(stats_table *t);

/* Copies what is used of it, but locks[]. `part` copies so many bytes of the table from that place, the same in both;
 * false if it can't. */
bool table_copy(stats_table *to, bool (*part)(void *input, stats_table *to, size_t from, size_t size),
                void *input);

/* ---- of a copy, within its bounds whatever it says */

/* The rows of locks[] that may be used, with the first, which never is. */
uint32_t table_rows(const stats_table *t);

/* NULL if there is none at that place. */
const stats_stack *table_stack(const stats_table *t, uint32_t place);
const stats_detail *table_detail(const stats_table *t, const stats_row *row);
