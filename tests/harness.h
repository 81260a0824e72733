/* harness.h - checks promises: each for every lock of the register, each in a process of its own
 *
 * A test program is a table of promises and a main() that hands it to harness_main(). What a program checks
 * is called `lock/promise`.
 *
 *   PROGRAM [--list] [--no-fork] [--scale X] [TEXT...]    only what contains one of the TEXTs in its name
 *
 * --scale, or PAWL_TEST_SCALE in the environment, multiplies the repetitions: less than 1 under a sanitizer
 * or an emulator, more for a soak. PAWL_TEST_LIMIT is the number of seconds after which a check hangs.
 */
#pragma once

#include "subjects.h"

typedef struct promise {
    const char *name;
    void (*check)(const lock_info *lock);
    bool (*concerns)(const lock_info *lock); /* NULL: every lock                                       */
    const char *subject;                     /* if not a lock: checked once under this name, with NULL */
} promise;

int harness_run(int argc, char **argv, const promise *promises, int count, const lock_info *locks,
                bool slots_are_few);

/* `n` repetitions, scaled; one at least. */
size_t scaled(size_t n);

/* End the check, from any of its threads. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(condition, ...) ((condition) ? (void)0 : fail(__VA_ARGS__))

/* The locks behind the pointers must be those that the test program itself was compiled with. */
#define HARNESS_MAIN(promises)                                                                               \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        return harness_run(argc, argv, promises, sizeof promises / sizeof *promises, subjects(),             \
                           PAWL_SLOTS <= 2);                                                                 \
    }

/* For promises that each have a subject. The register's locks are not compiled in, which saves most of the time. */
#define HARNESS_MAIN_WITHOUT_LOCKS(promises)                                                                 \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        return harness_run(argc, argv, promises, sizeof promises / sizeof *promises, NULL, false);           \
    }
