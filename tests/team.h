/* team.h - threads for tests: a number of them with the same body, and private randomness
 */
#pragma once

#include "harness.h"

#include <pthread.h>
#include <sched.h>

enum { TEAM_MOST = 64 };

typedef struct team_member {
    pthread_t thread;
    int me; /* 0, 1, ... */
    void (*body)(int me, void *arg);
    void *arg;
} team_member;

static inline void *team_member_run(void *arg)
{
    team_member *m = (team_member *)arg;
    m->body(m->me, m->arg);
    return NULL;
}

static inline void team_start(team_member *team, int n, void (*body)(int me, void *arg), void *arg)
{
    for (int i = 0; i < n; i++) {
        team[i] = (team_member){.me = i, .body = body, .arg = arg};
        CHECK(pthread_create(&team[i].thread, NULL, team_member_run, &team[i]) == 0,
              "cannot create a thread");
    }
}

static inline void team_join(team_member *team, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(team[i].thread, NULL);
}

/* Runs `body` in `n` threads and waits for them to end. */
static inline void team_run(int n, void (*body)(int me, void *arg), void *arg)
{
    team_member team[TEAM_MOST];
    team_start(team, n, body, arg);
    team_join(team, n);
}

/* Waits, politely, until the flag is no less than `v`. For handshakes between the threads of a test. */
static inline void await(atomic_int *flag, int v)
{
    while (atomic_load_explicit(flag, memory_order_acquire) < v)
        sched_yield();
}

/* xorshift64; the state must not be 0. */
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static inline size_t draw_below(uint64_t *state, size_t n)
{
    return (size_t)((draw(state) >> 32) * n >> 32);
}
