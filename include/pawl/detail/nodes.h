/* nodes.h - queue nodes for MCS and CLH: a free list per thread over a pool of the process
 *
 * Nodes come from mmap, never from malloc, because the lock that needs one may be the allocator's. They are never
 * unmapped: a thread may still read one that has just been passed on. When a thread ends, its free nodes go back to
 * the pool.
 */
#pragma once

#include "thread.h"

typedef struct pawl_node {
    pawl_word next;         /* MCS: the successor's node, once it has linked up; first, because that saves
                             * the uncontended unlock an instruction                                     */
    pawl_word wait;         /* 1 while the thread that watches it must wait     */
    struct pawl_node *link; /* the next free node, while this one is in a cache */
    uint32_t uses;          /* CLH: how often it was in a lock, modulo 2^32     */
} PAWL_ALIGNED pawl_node;

typedef struct pawl_node_cache {
    pawl_node *free;
    int8_t puts_left; /* puts until the next pawl_node_put_slow(); 0 at first */
} pawl_node_cache;

/* How many free nodes a thread keeps that puts back more than it takes, because it unlocks what others locked. */
#define PAWL_NODES_KEPT 64

#ifdef __cplusplus
extern "C" {
#endif

pawl_node *pawl_nodes_refill(void); /* takes nodes from the pool: returns one, keeps the others */
void pawl_nodes_trim(size_t keep);  /* returns all but `keep` free nodes to the pool */
void pawl_node_put_slow(void);      /* slow half of pawl_node_put(): registers the thread's exit, trims */
void pawl_nodes_leave(void);        /* when the thread ends: trims all */
void pawl_nodes_reserve(size_t n);  /* grows the pool to at least `n` free nodes */
size_t pawl_nodes_out(void);        /* nodes outside the pool: in use, or in a thread's cache */

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

/* `next` must be zero, and stays so until the node's next use. */
static inline void pawl_node_put(pawl_node *n)
{
    n->link = pawl_nodes_self.free;
    pawl_nodes_self.free = n;
    if (PAWL_UNLIKELY(--pawl_nodes_self.puts_left < 0))
        pawl_node_put_slow();
}
