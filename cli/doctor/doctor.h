/* doctor.h - what a machine offers, and what libpawl makes of it */
#pragma once

#include "../cli.h"

typedef enum offer { OFFERED, NOT_OFFERED, NOT_KNOWN } offer;

typedef struct finding {
    offer offer;
    bool warning;       /* locks are slower or less fair here than they could be */
    char found[192];    /* what there is, in words                               */
    const char *choice; /* what libpawl does because of it                       */
    const char *change; /* how to change that; NULL if there is nothing to change */
} finding;

typedef struct probe {
    const char *name;
    /* Reads the files of the kernel below `root`, which is "" for this machine. */
    void (*run)(finding *f, const char *root);
} probe;

/* Ends with a name of NULL. */
extern const probe probes[];

/* files.c: reads a small file below `root` into `text`, without its last newline; false if it can't. */
bool read_text(const char *root, const char *path, char *text, size_t size);

/* How many CPUs a list such as "0-3,8" has; 0 if it is not one. */
unsigned count_in_list(const char *list);

/* The CPUs that the cgroups of this process may use at a time, or a negative number if they say nothing. `where` is
 * the file that says so. */
double cgroup_quota(const char *root, char *where, size_t size);

/* calls.c: what a system call does here, tried in a child: an errno value, or one of these. */
enum { CALL_WORKS = 0, CALL_KILLS = -1, CALL_NOT_TRIED = -2 };

int try_call(long number, long a, long b, long c, long d, long e);

/* In words. */
const char *call_outcome(int outcome);
