/* events.c - how often the parking layer calls the kernel */
#include "events.h"

#include <pawl/detail/atomic.h>

enum { SHARD_BITS = 4, SHARDS = 1 << SHARD_BITS, PAGE_BITS = 12 };

static struct {
    pawl_word count[PAWL_EVENTS];
} PAWL_ALIGNED shards[SHARDS];

static unsigned shard_of_this_thread(void)
{
    return pawl_hash(pawl_address(__builtin_frame_address(0)) >> PAGE_BITS, SHARD_BITS);
}

void pawl_count(pawl_event event)
{
    atomic_fetch_add_explicit(&shards[shard_of_this_thread()].count[event], 1, memory_order_relaxed);
}

uint64_t pawl_events(pawl_event event)
{
    uint64_t sum = 0;
    for (int i = 0; i < SHARDS; i++)
        sum += atomic_load_explicit(&shards[i].count[event], memory_order_relaxed);
    return sum;
}
