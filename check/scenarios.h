/* scenarios.h - what threads do to a lock while the lab watches
 *
 * A scenario is a small program over one or two locks, whose executions the lab explores. It applies to a
 * lock if the lock's row in the register says so.
 */
#pragma once

#include "subjects.h"

#include "../lab/lab.h"

/* How threads wait: spinning, or asleep. Asleep, the fence is paid by the sleeper, by every post, or first by the
 * sleeper and then, once the kernel refuses, by every post; or a hint lets a thread look again before it sleeps, or not. */
typedef enum check_waiting {
    CHECK_SPIN,
    CHECK_PARK,
    CHECK_PARK_FENCED,
    CHECK_PARK_REFUSED,
    CHECK_PARK_HINTED
} check_waiting;

typedef struct scenario_setting {
    const lock_info *lock; /* NULL for the scenarios of the semaphore */
    int threads;           /* 0: the scenario's own number            */
    int iterations;        /* 0: the scenario's own number            */
    int locks;             /* 0: one, where a scenario leaves it open */
    uint32_t slots;
    uint32_t platoon;
    uint32_t coin;
    uint32_t recheck;
    uint64_t random; /* seed of the threads' generators */
    check_waiting waiting;
} scenario_setting;

typedef struct scenario {
    const char *name;
    const char *what;
    int threads;
    int iterations; /* of the first thread; the others acquire once, unless the user asks for more */
    void (*thread)(int id);
    void (*finish)(void);                   /* NULL: counts the acquisitions */
    bool (*applies)(const lock_info *lock); /* NULL: to every lock of its list */
    bool threads_die;
    bool sleeps;      /* also run with waiters that sleep */
    uint32_t permits; /* of the semaphore */
} scenario;

extern const scenario check_scenarios[];
extern const int check_scenario_count;
extern const scenario check_semaphore_scenarios[];
extern const int check_semaphore_scenario_count;
extern const scenario check_seqlock_scenarios[];
extern const int check_seqlock_scenario_count;

/* Stands for the seqlock, which is no lock of the register. */
extern const lock_info check_seqlock;

/* Fills in the program that the lab will run. One setting at a time. */
void scenario_prepare(const scenario *s, const scenario_setting *with, struct lab_program *p);

/* How often a thread may be overtaken in this setting: the register's bounds, or the platoon's. */
int scenario_bypass_each(const scenario_setting *with);
int scenario_bypass_total(const scenario_setting *with);
