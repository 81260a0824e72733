/* work.h - checks many locks, several at a time, each in a process of its own
 *
 * A process each, because the lab runs one exploration at a time, and because a lock that breaks the lab
 * itself must not take the others' results with it.
 */
#pragma once

#include "mutate.h"

#include <jansson.h>

typedef struct subject {
    const char *name;
    const lock_info *lock; /* NULL: the semaphore */
} subject;

/* What a process found: {"lock", "cases": [...]} or {"lock", "mutations": [...]}. Given back by the receiver.
 */
typedef void work_sink(json_t *found, void *arg);

/* `progress` names on a terminal what is being done. */
void work_on(const subject *subjects, int count, const check_options *o, bool mutate, int jobs, bool progress,
             work_sink *sink, void *arg);
