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
    uint64_t taken_ns;
    size_t rows;
    uint64_t *acquisitions, *waits, *waited_ns; /* of each row, at the last look */
    char **names;
    top_lock *locks; /* sorted */
    size_t count;
} top;

enum { BY_WAIT, BY_ACQUISITIONS, BY_WORST, ORDERS };

top top_open(uint32_t pid);
void top_close(top *t);

/* False if the process is gone. */
bool top_look(top *t, int order);

const char *top_name(top *t, const top_lock *l);

/* "thread 123 in put (queue.c:12)"; "" if nobody has it. Returns the room. */
const char *top_holder(top *t, const top_lock *l, char *room, size_t size);
