/* top.h - what `pawl top` shows of a lock */
#pragma once

#include "profile/live.h"

/* Since the last look. */
typedef struct top_lock {
    uint32_t row;
    uint64_t acquisitions, waits, waited_ns; /* in a second */
    uint64_t worst_ns;                       /* ever */
    uint32_t waiting, owner;                 /* now */
} top_lock;

typedef struct top {
    live live;
    int process;     /* a pidfd, readable once the process has ended; -1: the kernel has none */
    unsigned misses; /* looks in a row that found no tables */
    uint64_t taken_ns;
    size_t rows;
    uint64_t *acquisitions, *waits, *waited_ns; /* of each row, at the last look */
    char **names;
    top_lock *locks; /* sorted */
    size_t count;
} top;

enum { BY_WAIT, BY_ACQUISITIONS, BY_WORST, ORDERS };

/* What a look has found. */
typedef enum top_state {
    TOP_SEEN,
    TOP_REPLACED, /* the process has become another program: there is nothing to compare with yet */
    TOP_STARTING, /* so it has, without tables yet: look again after TOP_STEP_NS */
    TOP_LOST,     /* so it has for a minute: there will be no tables */
    TOP_ENDED,
} top_state;

enum { TOP_STEP_NS = 50000000 };

top top_open(uint32_t pid);
void top_close(top *t);
top_state top_look(top *t, int order);

const char *top_name(top *t, const top_lock *l);

/* "thread 123 in put (queue.c:12)"; "" if nobody has it. Returns the room. */
const char *top_holder(top *t, const top_lock *l, char *room, size_t size);
