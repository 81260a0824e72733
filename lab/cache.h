/* cache.h - transitions that were explored
 *
 * The state of an execution is a function of its graph: two orders of the same events leave the same stores, views
 * and local variables behind. So (graph, thread to run next) needs exploring once, unless it is met again with more
 * of some budget left. Entries are 64-bit hashes: two different states share one with a chance of about n*n/2^65
 * after n states (1 in a million for 8 million states).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void lab_cache_reset(size_t limit_bytes);
void lab_cache_free(void);
size_t lab_cache_entries(void);
bool lab_cache_full(void);

/* `budgets` holds one budget of at most 127 per byte. False if the state was admitted before with at least as much
 * of each. */
bool lab_cache_admit(uint64_t state, uint64_t budgets);
