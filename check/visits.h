/* visits.h - what scenarios are made of */
#pragma once

#include "state.h"

/* Threads and seeds that are neighbours toss different coins: a multiplication moves the difference up, a shift down. */
static inline uint64_t seed_of(int id)
{
    uint64_t x = (state.with.random * 8 + (uint64_t)id) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return (x ^ x >> 32) | 1; /* 0 would be replaced by an address */
}

/* Runs first in each thread. It settles what would otherwise depend on where memory happens to be, or cost each
 * thread a visit to the pool, which only `exit` is about. */
static inline void begin_thread(int id, bool own_nodes)
{
    pawl_random_self = seed_of(id);
    if (!own_nodes)
        return;
    for (int i = 0; i < CHECK_NODES; i++)
        state.node[id][i].link = i + 1 < CHECK_NODES ? &state.node[id][i + 1] : NULL;
    pawl_nodes_self.free = &state.node[id][0];
}

static inline void critical_section(int which)
{
    lab_enter(&state.lock[which]);
    state.data[which]++; /* plain: a lock that orders too little makes it a data race */
    lab_leave(&state.lock[which]);
}

static inline void lock(int which, lock_ctx *c)
{
    lab_arrive(&state.lock[which], state.with.lock->size);
    state.with.lock->lock(&state.lock[which], c);
    lab_enter(&state.lock[which]);
    state.data[which]++;
}

static inline void unlock(int which, lock_ctx *c)
{
    lab_leave(&state.lock[which]);
    state.with.lock->unlock(&state.lock[which], c);
}

static inline void visit(int id, int which)
{
    lock_ctx c;
    lock(which, &c);
    unlock(which, &c);
    state.entered[id]++;
}

static inline bool try_visit(int id, int which)
{
    lock_ctx c;
    lab_try(&state.lock[which]);
    if (!state.with.lock->trylock(&state.lock[which], &c))
        return false;
    critical_section(which);
    state.with.lock->unlock(&state.lock[which], &c);
    state.entered[id]++;
    return true;
}

static inline int rounds(int id)
{
    return id == 0 || state.everyone ? state.iterations : 1;
}

static inline void count_visits(void)
{
    int visits = 0, data = 0;
    for (int i = 0; i < LAB_MAX_THREADS; i++)
        visits += state.entered[i];
    for (int i = 0; i < CHECK_LOCKS; i++)
        data += state.data[i];
    lab_assert(data == visits, "every visit to the critical section left its mark");
}
