/* document.h - a profile: what all reports are made of, and what --json writes
 *
 *   frames[]     functions with their lines, each once
 *   stacks[]     {"frames": [...], "site": n}: innermost first; `site` is the first frame that is not about locking itself
 *   processes[]  a program in a process
 *   locks[]      those that were waited for, longest first, then some of the others, then what threads wait for idly
 *   waits[]      a lock, the waiter's stack and the holder's (null: not known): how often, how long; "unfinished" says how
 *                many of them had not ended when the process did
 *   holds[]      a lock and the stack that acquired it: of those that were timed, how long it was held
 *   worst[]      the longest waits, one by one
 *
 * Of a process that was attached to ("attached": true) only waits in the kernel are known: acquisitions are null, there are no
 * holds, and the holder is the thread that ended the wait.
 *
 * profile.schema.json has all fields. Everything refers to locks, stacks and frames by their place. Times are in nanoseconds.
 */
#pragma once

#include "symbols.h"

#include "preload/stats/table.h"

#include <stddef.h>

json_t *document_new(const char *command);

/* The place of the stack, whose innermost frame comes first. */
json_int_t document_stack(json_t *document, symbols *s, const uint64_t *frames, size_t depth);

/* All that a copy of a table has (copy.h); `rows` is its locks[], and may still be written to. Times of waits count from `origin_ns`; waits that have not ended are as long as until `end_ns`. */
void document_add_table(json_t *document, const stats_table *t, const stats_row *rows, uint64_t origin_ns,
                        uint64_t end_ns);

/* Sorts, once all is there. */
void document_finish(json_t *document);

/* ---- reading it */

/* Of an object or array; 0, "" and NULL if it is not there. */
json_int_t number_in(const json_t *object, const char *key);
const char *text_in(const json_t *object, const char *key);
json_t *item_of(const json_t *document, const char *array, const json_t *object, const char *key);

/* Whether it is of a process that ran already. */
bool is_attached(const json_t *document);

/* Whether the "holder" of a wait for it is the thread that ended the wait. */
bool names_waker(const json_t *document, const json_t *lock);

/* Whether a thread that waits for it has nothing to do, mostly: a condition variable, a semaphore, and the like. */
bool waits_for_event(const json_t *lock);

/* "function (file:line)", or "module+offset": "put (queue.c:12)". Returns the room. */
enum { PLACE_ROOM = 512 };
const char *place_text(const json_t *frame, char *room);

/* Of the stack's site; "?" if it is NULL. */
const char *site_text(const json_t *document, const json_t *stack, char *room);
