/* parse.h - what the parts of the reader of machine files share */
#pragma once

#include "machine.h"

#include <stddef.h>

enum { NAME, TITLE, PROTOCOL, WORDS };
enum { CPU, CORE, CLUSTER, SOCKET, MACHINE, UNITS };

extern const char *const sim_unit_names[UNITS];
extern const char *const sim_distance_names[SIM_DISTANCES];

typedef enum kind { TIME, DISTANCES, FACTOR, SHARE, COUNT, BYTES } kind;

enum { KEYS = 39, MOST_STORES = 128 };

/* Where a key's value goes. */
typedef struct sim_key {
    const char *name;
    kind kind;
    size_t offset;
    sim_time least; /* of a time */
} sim_key;

extern const sim_key sim_keys[KEYS];

static inline void *sim_value(const sim_machine *m, int key)
{
    return (char *)m + sim_keys[key].offset;
}

typedef struct parser {
    sim_machine *machine;
    sim_complaint *complaint;
    const char *start, *at; /* of the line, and in it */
    unsigned line;
    bool changes;           /* a machine that is complete: no sources, and no units */
    unsigned counts[UNITS]; /* so many in each of its parents; 0: not said */
    int parents[UNITS];
    unsigned unit_at[UNITS], unit_column[UNITS];
    bool seen_words[WORDS];
    bool seen[KEYS];
    unsigned seen_at[KEYS], seen_end[KEYS]; /* line and column */
} parser;

/* parse.c: notes what is wrong; returns false. And reads all lines. */
bool sim_complain(parser *p, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool sim_take_lines(parser *p, const char *text);
