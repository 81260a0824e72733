/* rounds.h - runs of the same round, and the lock that others are related to
 *
 * `pawl bench` runs all points of a file in rounds, those under one load one after the other, and writes the runs of each
 * point in the order of the rounds. A machine may be twice as fast in one round as in another. That is in both runs of
 * a round, and not in their quotient.
 */
#pragma once

#include "results.h"

/* The lock that others are compared with, if the file has it: glibc's default mutex. */
const char *reference_lock(const results *r);

/* The reference under the same load, or NULL. */
const point *find_reference(const results *r, const point *load);

/* Whether run i of one is of the same round as run i of the other, if one run of `pawl bench` measured both. */
bool have_same_rounds(const point *a, const point *b);

/* How many times b's value a's is in each round; both have the same rounds, and `to` has room for them. Returns how many
 * there are, or 0 if in any round one is not known or b's is 0: what remains would be chosen by how b did. */
size_t round_quotients(const point *a, const point *b, size_t field, double *to);
