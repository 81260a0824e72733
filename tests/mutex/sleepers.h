/* sleepers.h - what the tests of the mutexes and the condition variable share: time */
#pragma once

#include "../team.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* Late by more than this is a bug, early by anything is. Other work on the machine must not be. */
#define LATE_NS 400000000

static inline int64_t clock_ns(int clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline struct timespec in_ns(int clock, int64_t ns)
{
    int64_t at = clock_ns(clock) + ns;
    return (struct timespec){.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
}

static inline void rest(int64_t ns)
{
    struct timespec length = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    while (nanosleep(&length, &length) != 0)
        ;
}

#define ONE(subject_, check_)                                                                                \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = subject_                                                \
    }
