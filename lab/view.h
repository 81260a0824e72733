/* view.h - the two partial orders of the memory model
 *
 * A *clock* says which accesses of each thread happen before this point. It decides what is a data race.
 * A *view* says, per location, the oldest store in modification order that may still be read here. It decides what a
 * load may return. Clocks follow from synchronisation alone; views also pass through seq_cst fences, which restrict
 * what can be read without creating happens-before.
 */
#pragma once
#include "lab.h"
#include <string.h>

enum {
    LAB_SLOTS = LAB_MAX_THREADS + 1, /* the threads, and the one that runs finish */
    LAB_MAX_LOCATIONS = 512,         /* atomic locations in one execution */
};

struct lab_clock {
    uint32_t at[LAB_SLOTS];
};

static inline void lab_clock_join(struct lab_clock *a, const struct lab_clock *b)
{
    for (int i = 0; i < LAB_SLOTS; i++)
        if (b->at[i] > a->at[i])
            a->at[i] = b->at[i];
}

/* A position in a location's modification order. Consecutive stores are LAB_GAP apart, which leaves room to insert
 * a store between two others without renumbering the views that mention them. */
typedef uint32_t lab_stamp;
enum { LAB_GAP = 1 << 12 };

static inline void lab_view_join(lab_stamp *a, const lab_stamp *b, unsigned locations)
{
    for (unsigned i = 0; i < locations; i++)
        if (b[i] > a[i])
            a[i] = b[i];
}
