/* run.h - which executions of which scenarios are explored, and what came of it */
#pragma once

#include "scenarios.h"

/* How far a search goes. It begins with these bounds on an execution. If all executions within them were seen and
 * time is left, it begins again with wider ones; if time runs out first, it samples at random. */
typedef struct check_profile {
    const char *name;
    int preemptions, stale, inserts, spurious, timeouts;
    double seconds;        /* per exploration, 0: until the first bounds are through */
    double sample_seconds; /* at random, if not even these were                      */
} check_profile;

extern const check_profile check_quick, check_standard, check_deep;

/* What the user asked for; zero where nothing was asked. */
typedef struct check_options {
    check_profile profile;
    const char *scenario; /* this one only */
    int threads, iterations, locks;
    uint32_t slots;
    uint64_t seed;
    bool exhaustive; /* no sampling, no time limit */
} check_options;

/* One exploration: a scenario in a setting. */
typedef struct check_case {
    const scenario *scenario;
    scenario_setting with;
    char name[64]; /* the scenario, and what is special about the setting: "contend/slots=1" */
} check_case;

typedef struct check_outcome {
    check_case which;
    enum lab_verdict verdict;
    bool complete;          /* all executions within the bounds that follow; else sampled */
    int preemptions, stale; /* the widest bounds that were exhausted                      */
    uint64_t executions, pruned, steps;
    double seconds;
    char message[256];
    char *replay; /* of a violation: what `--replay` takes; owned by the outcome */
} check_outcome;

/* Of any lock, or of the semaphore. */
bool check_has_scenario(const char *name);

/* The pool of nodes and parking are the same for all locks. One uses both, and sleeps in every way there is. */
bool check_stands_for_libpawl(const lock_info *lock);

/* The cases of a lock (NULL: of the semaphore). Returns how many; at most `most` are written. */
int check_cases(const lock_info *lock, const check_options *o, check_case *cases, int most);

enum { CHECK_MOST_CASES = 96 };

void check_run(const check_case *which, const check_options *o, check_outcome *out);
void check_outcome_free(check_outcome *out);

/* Runs the one execution that `text` (from an outcome's `replay`) stands for and prints its trace. False, and
 * a reason in `error`, if the text does not fit this lock. */
bool check_replay(const lock_info *lock, const char *text, FILE *trace, check_outcome *out,
                  const char **error);
