/* tables.h - what the parts of reading a process's tables share */
#pragma once

#include "copy.h"
#include "document.h"

/* What threads waited for a lock. */
typedef struct tally {
    uint64_t count, total_ns, worst_ns;
    uint64_t gave_up; /* of `count` */
    uint64_t refused; /* calls of trylock that found it taken: not waits */
} tally;

typedef struct reader {
    json_t *document;
    const stats_table *table; /* a copy */
    const stats_row *rows;
    uint64_t origin_ns, end_ns;
    json_int_t unfinished, unfinished_ns; /* waits for locks that had not ended */
    symbols *symbols[STATS_GENERATIONS];
    json_int_t *stacks; /* their places in the document, or -1 */
    json_int_t *locks;  /* the same for rows */
    tally *tallies;     /* of rows without a detail, by their meets */
} reader;

void table_append(json_t *document, const char *array, json_t *item);

/* What is looked at does not change meanwhile. */
stats_row table_row(const reader *r, uint32_t place);

/* For addresses as they were in a generation of maps. */
symbols *table_symbols(reader *r, unsigned generation);

/* The stack's place in the document; null if there is none. */
json_t *table_stack_at(reader *r, uint32_t place);

static inline json_int_t integer(uint64_t value)
{
    return value < INT64_MAX ? (json_int_t)value : INT64_MAX;
}

/* Not a wait: how long the holder had it. */
static inline bool is_hold(const stats_meet *m)
{
    return m->waiter == 0 && m->holder != 0;
}

/* ---- table_locks.c */

/* There are fewer details than rows. */
void table_tally_waits(reader *r);

tally table_tally(const reader *r, uint32_t place, const stats_row *row);
void table_add_lock(reader *r, uint32_t place);
void table_add_locks(reader *r);
