/* team.h - threads for tests: a number of them with the same body, and private randomness
 */
#pragma once

#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TEAM_MOST = 64 };

typedef struct team_member {
    pthread_t thread;
    int me;         /* 0, 1, ... */
    atomic_int tid; /* 0: does not run yet */
    void (*body)(int me, void *arg);
    void *arg;
} team_member;

static inline void *team_member_run(void *arg)
{
    team_member *m = (team_member *)arg;
    atomic_store(&m->tid, (int)syscall(SYS_gettid));
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

static inline bool is_asleep(int tid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL && fscanf(f, "%*d (%*[^)]) %c", &state) == 1, "%s says nothing", path);
    fclose(f);
    return state == 'S';
}

/* Waits until the thread with this id, once it is there, sleeps in the kernel. */
static inline void await_asleep(atomic_int *tid)
{
    while (atomic_load(tid) == 0 || !is_asleep(atomic_load(tid)))
        sched_yield();
}

/* Waits until all of them do. The caller sees to it that they stay asleep. */
static inline void team_await_asleep(team_member *team, int n)
{
    for (int i = 0; i < n; i++)
        await_asleep(&team[i].tid);
}

/* Waits, politely, until the flag is no less than `v`. For handshakes between the threads of a test. */
static inline void await(atomic_int *flag, int v)
{
    while (atomic_load_explicit(flag, memory_order_acquire) < v)
        sched_yield();
}

static inline int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Percent of a CPU that the process uses while this thread sleeps. Returns once that is less than `wanted`, or after
 * half a minute. On a busy machine threads take their time to go to sleep; those that never do use all of every
 * window. */
static inline double team_cpu_use(double wanted)
{
    double use = 100;
    for (int windows = 300; windows > 0 && use >= wanted; windows--) {
        int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        use = 100 * (double)cpu / (double)(clock_ns(CLOCK_MONOTONIC) - wall);
    }
    return use;
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
