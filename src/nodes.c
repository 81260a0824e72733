/* nodes.c - the pool behind the threads' caches of queue nodes */
#include <pawl/detail/nodes.h>
#include <pawl/detail/wait.h>
#include "fatal.h"
#include "fork.h"
#include "signals.h"

#include <sys/mman.h>

#define CHUNK  (64 * 1024) /* bytes taken from the system at a time */
#define REFILL 4           /* nodes that a thread takes at a time   */

static struct {
    pawl_word lock; /* guards the rest; held for a few instructions */
    pawl_node *free;
    size_t free_count;
    size_t total;
} pool PAWL_ALIGNED;

static void pool_lock(void)
{
    pawl_signals_block();
    while (!pawl_cas_acquire(&pool.lock, 0, 1))
        pawl_wait_until_eq_relaxed(&pool.lock, 0);
}

static void pool_unlock(void)
{
    pawl_post(&pool.lock, 0);
    pawl_signals_restore();
}

static void pool_push(pawl_node *n)
{
    n->link = pool.free;
    pool.free = n;
    pool.free_count++;
}

static void pool_grow(void)
{
    void *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        pawl_fatal("pawl: out of memory for a queue node\n");
    pawl_node *nodes = chunk;
    for (size_t i = CHUNK / sizeof *nodes; i-- > 0;)
        pool_push(&nodes[i]);
    pool.total += CHUNK / sizeof *nodes;
}

pawl_node *pawl_nodes_refill(void)
{
    pawl_thread_enter();
    pool_lock();
    if (pool.free_count < REFILL)
        pool_grow();
    pawl_node *first = pool.free;
    pawl_node *last = first;
    for (int i = 1; i < REFILL; i++)
        last = last->link;
    pool.free = last->link;
    pool.free_count -= REFILL;
    pool_unlock();

    last->link = NULL;
    pawl_nodes_self.free = first->link;
    return first;
}

void pawl_nodes_trim(size_t keep)
{
    pawl_node **end = &pawl_nodes_self.free;
    while (keep-- > 0 && *end != NULL)
        end = &(*end)->link;
    pawl_node *n = *end;
    if (n == NULL)
        return;
    *end = NULL;
    pool_lock();
    while (n != NULL) {
        pawl_node *after = n->link;
        pool_push(n);
        n = after;
    }
    pool_unlock();
}

/* A thread that only unlocks what others locked never refills: this registers its exit. */
void pawl_node_put_slow(void)
{
    pawl_thread_enter();
    pawl_nodes_self.puts_left = INT8_MAX;
    pawl_nodes_trim(PAWL_NODES_KEPT);
}

void pawl_nodes_leave(void)
{
    pawl_nodes_trim(0);
    pawl_nodes_self.puts_left = 0; /* a destructor that unlocks comes back to pawl_node_put_slow() */
}

void pawl_nodes_reserve(size_t n)
{
    pool_lock();
    while (pool.free_count < n)
        pool_grow();
    pool_unlock();
}

size_t pawl_nodes_out(void)
{
    pool_lock();
    size_t out = pool.total - pool.free_count;
    pool_unlock();
    return out;
}

/* If the pool was locked at the fork, its list may be half changed: abandon it. */
void pawl_fork_nodes(void)
{
    if (atomic_load_explicit(&pool.lock, memory_order_relaxed) == 0)
        return;
    pool.free = NULL;
    pool.free_count = 0;
    atomic_store_explicit(&pool.lock, 0, memory_order_relaxed);
}
