/* sleepers.h - what the tests of the mutexes and the condition variable share: time */
#pragma once

#include "../team.h"

#include <errno.h>

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

/* A wait until so many ns from now: never early. Other work on the machine may make it late, but not every time. */
static inline void expect_timeout(int (*wait)(int clock, const struct timespec *deadline), int clock,
                                  int64_t ns)
{
    int64_t took, late = 400000000;
    int tries = 0;
    do {
        int64_t start = clock_ns(CLOCK_MONOTONIC); /* first: much time may pass until the deadline is made */
        struct timespec deadline = in_ns(clock, ns);
        int result = wait(clock, &deadline);
        took = clock_ns(CLOCK_MONOTONIC) - start;
        CHECK(result == ETIMEDOUT, "result %d", result);
        CHECK(took >= ns - 1000000, "%lld ns instead of %lld", (long long)took, (long long)ns);
    } while (took >= ns + late && ++tries < 100);
    CHECK(took < ns + late, "%lld ns instead of %lld, and as late each of %d times", (long long)took,
          (long long)ns, tries);
}

#define ONE(subject_, check_)                                                                                \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = subject_                                                \
    }
