/* places.h - where the measuring programs and the interposers are: in the build folder, or where they were installed */
#pragma once

#include "bench.h"

/* The program of a workload, or NULL. */
const char *find_program(const char *workload);

/* The locks that have an interposer, and glibc's, which needs none. */
const subject *preload_subjects(size_t *count);

/* Why a lock is not among them; NULL if there is no such lock at all. */
const char *preload_refusal(const char *lock);
