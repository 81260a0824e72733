/* case.h - conformance cases: what a program may expect of pthread mutexes, whoever implements them
 *
 * A case runs in a process of its own, under a time limit, because the usual failure is to hang. It says nothing
 * unless it fails: whatever else appears on its output is a failure, too.
 */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FOR_ALL,
    BEYOND_GLIBC
}; /* the latter do not run under glibc, which has a bug there or takes another view */

typedef struct test_case {
    const char *name;
    void (*run)(void);
    int scope;
    const char *environment; /* NAME=value, or null */
} test_case;

#define CASE(f)                                                                                              \
    {                                                                                                        \
        .name = #f, .run = f                                                                                 \
    }
#define BEYOND(f)                                                                                            \
    {                                                                                                        \
        .name = #f, .run = f, .scope = BEYOND_GLIBC                                                          \
    }

/* One table for each file. */
extern const test_case attribute_cases[], rounds_cases[], end_cases[], unwind_cases[], interrupted_cases[],
    basic_cases[], kind_cases[], forwarded_cases[], timed_cases[], cond_cases[], cond_lost_cases[],
    cond_mutex_cases[], cancel_cases[], other_cases[], symbol_cases[], binding_cases[], fork_held_cases[],
    fork_crowd_cases[], fork_handler_cases[], fork_instant_cases[], stress_cases[], signal_cases[],
    debug_cases[], fork_chain_cases[], native_cases[], ways_cases[], signal_instant_cases[];

/* The other process of one of them. */
void be_the_stranger(void);

/* End the case, from any of its threads or children. */
_Noreturn void fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void skip(const char *why);

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail(__FILE__, __LINE__, "%s", #condition);                                                      \
    } while (0)

#define CHECK_IS(expression, expected)                                                                       \
    do {                                                                                                     \
        long is_ = (long)(expression), should_ = (long)(expected);                                           \
        if (is_ != should_)                                                                                  \
            fail(__FILE__, __LINE__, "%s is %ld, not %ld", #expression, is_, should_);                       \
    } while (0)

#define OK(call) CHECK_IS(call, 0)

/* The lock under test (`mcs`), or null if it is glibc's. */
const char *lock_name(void);
/* What the register says of it; null for glibc's. */
const struct pawl_lock_info *lock_info(void);

/* ---- what cases are made of */

typedef struct helper {
    pthread_t id;
    void *(*run)(void *);
    void *argument;
} helper;

pthread_t spawn(void *(*run)(void *), void *argument);
void join(pthread_t thread);
void pause_ms(int milliseconds);

/* So many milliseconds from now, by that clock. */
struct timespec in_ms(clockid_t clock, int milliseconds);

/* Waits until the thread sleeps in the kernel, as far as one can see. */
void await_asleep(int tid);
int own_tid(void);

/* A mutex of that type (PTHREAD_MUTEX_...). */
void make_mutex(pthread_mutex_t *m, int type);

/* What trylock returns in another thread, which unlocks it again. */
int try_elsewhere(pthread_mutex_t *m);

/* Of this process. */
long resident_bytes(void);

/* The child's exit status, or 256 and its signal. */
int child_status(int pid);
