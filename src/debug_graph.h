/* debug_graph.h - which locks there are, who holds them, and in which order they have been taken
 *
 * A lock is known while it is held or has a place in an order: A before B if a thread that held A ever waited for B.
 * All memory comes straight from the system, because the locks may be an allocator's. Everything here needs the debug
 * mode's own lock (debug.c).
 */
#pragma once

#include "debug_stack.h"

#include <sys/types.h>

typedef struct debug_thread {
    pid_t id;
    struct debug_lock *held;   /* the latest first                             */
    const debug_stack *stack;  /* where it began to wait for the lock `wanted` */
    const void *wanted;        /* address only                                 */
    struct debug_thread *next; /* the next unused one                          */
} debug_thread;

typedef struct debug_edge {
    struct debug_lock *from, *to; /* was held; was taken                      */
    const debug_stack *first;     /* where the one that was held was taken    */
    const debug_stack *second;    /* where the other one was taken            */
    pid_t thread;                 /* by which thread                          */
    struct debug_edge *next_out;  /* of those from `from`; or the next unused */
    struct debug_edge *next_in;   /* of those to `to`                         */
    struct debug_edge **at_out;   /* what points to it, of those from `from`  */
    struct debug_edge **at_in;    /* and of those to `to`                     */
    struct debug_edge *chain;     /* the next with that hash                  */
} debug_edge;

typedef struct debug_lock {
    const void *address;
    const char *kind;
    debug_thread *owner;
    const debug_stack *taken;     /* where                                   */
    struct debug_lock *next_held; /* of its owner's                          */
    struct debug_lock *chain;     /* the next with that hash; or next unused */
    debug_edge *out, *in;
    uint64_t search;               /* the last search that came by, */
    const debug_edge *way;         /* how it came here,             */
    struct debug_lock *next_found; /* and where it goes next        */
} debug_lock;

/* Null if it is not known. */
debug_lock *pawl_debug_lock_find(const void *address);
/* Makes it known if it is not. */
debug_lock *pawl_debug_lock_get(const void *address, const char *kind);
/* Forgets it if it is not held and has no place in an order. */
void pawl_debug_lock_forget_unused(debug_lock *l);
/* Forgets it, and its place in every order. */
void pawl_debug_lock_forget(debug_lock *l);

void pawl_debug_lock_own(debug_lock *l, debug_thread *owner, const debug_stack *taken);
void pawl_debug_lock_disown(debug_lock *l);

/* From now on `from` comes before `to`. True if that is news. */
bool pawl_debug_order(debug_lock *from, debug_lock *to, pid_t thread, const debug_stack *second);
/* Whether `from` comes before `to`, at once or through others: then `way` of `to` leads back to `from`. */
bool pawl_debug_comes_before(debug_lock *from, debug_lock *to);

debug_thread *pawl_debug_thread_new(pid_t id);
void pawl_debug_thread_free(debug_thread *t);
