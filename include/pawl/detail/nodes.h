/* nodes.h - queue nodes for MCS and CLH: a free list per thread over a pool of the process
 *
 * Nodes come from mmap, never from malloc, because the lock that needs one may be the allocator's. A node
 * is never unmapped: a thread may still look at one that has just been passed on. A thread's free nodes go
 * back to the pool when it ends.
 */
#pragma once

#include "thread.h"

typedef struct pawl_node {
    pawl_word next;         /* MCS: the successor's node, once it has linked up; first, because that saves
                             * the uncontended unlock an instruction                                     */
    pawl_word wait;         /* 1 while the thread that watches it must wait                              */
    struct pawl_node *link; /* the next free node, while this one is in a cache                          */
    uint32_t uses;          /* CLH: how often it was in a lock, modulo 2^32                              */
} PAWL_ALIGNED pawl_node;

typedef struct pawl_node_cache {
    pawl_node *free;
    int8_t puts_left; /* nodes to put back until pawl_nodes_settle(); 0 at first */
} pawl_node_cache;

/* A thread that puts back more nodes than it takes (it unlocks what others locked) keeps this many. */
#define PAWL_NODES_KEPT 64

#ifdef __cplusplus
extern "C" {
#endif

pawl_node *pawl_nodes_refill(void); /* some nodes from the pool; the first of them, not on the free list */
void pawl_nodes_trim(size_t keep);  /* all but `keep` free nodes of this thread, to the pool             */
void pawl_nodes_settle(void);      /* trims once in a while; from the first put on, to return them at exit  */
void pawl_nodes_leave(void);       /* at the end of the thread: trims all                                  */
void pawl_nodes_reserve(size_t n); /* makes the pool hold `n` free nodes at least                       */
size_t pawl_nodes_out(void);       /* nodes that are not in the pool: in use, or in a thread's cache    */

#ifdef __cplusplus
}
#endif

PAWL_SLICE(nodes, pawl_node_cache, .leave = pawl_nodes_leave, .child = PAWL_KEPT);

static inline pawl_node *pawl_node_get(void)
{
    pawl_node *n = pawl_nodes_self.free;
    if (PAWL_UNLIKELY(n == NULL))
        return pawl_nodes_refill();
    pawl_nodes_self.free = n->link;
    return n;
}

/* `next` must be zero again: it stays so between an uncontended unlock and the next lock. */
static inline void pawl_node_put(pawl_node *n)
{
    n->link = pawl_nodes_self.free;
    pawl_nodes_self.free = n;
    if (PAWL_UNLIKELY(--pawl_nodes_self.puts_left < 0))
        pawl_nodes_settle();
}
