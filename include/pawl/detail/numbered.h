/* numbered.h - the library's halves of inline functions, with the number of the inline text in their symbols
 *
 * Their own headers declare them again, and say what they do: a symbol is named by the first declaration. Variables
 * (PAWL_SLICE, PAWL_BUILT_WITH) are numbered where they are declared. So whatever a program inlines needs at least one
 * symbol with the number. `tests/abi` sees to that.
 */
#pragma once

#include "atomic.h"

struct pawl_cond;
struct pawl_fairmutex;
struct pawl_mcs;
struct pawl_mcs_ctx;
struct pawl_mutex;
struct pawl_reciprocating;
struct pawl_reciprocating_ctx;
struct pawl_semaphore;
struct pawl_sleeper;
struct timespec;

#ifdef __cplusplus
extern "C" {
#endif

void pawl_mutex_lock_contended(struct pawl_mutex *m) PAWL_NUMBERED("pawl_mutex_lock_contended");
int pawl_mutex_lock_until(struct pawl_mutex *m, int clock, const struct timespec *deadline)
    PAWL_NUMBERED("pawl_mutex_lock_until");
void pawl_mutex_unlock_contended(struct pawl_mutex *m) PAWL_NUMBERED("pawl_mutex_unlock_contended");
void pawl_mutex_unlock_fair_contended(struct pawl_mutex *m) PAWL_NUMBERED("pawl_mutex_unlock_fair_contended");

int pawl_fairmutex_lock_until(struct pawl_fairmutex *m, int clock, const struct timespec *deadline)
    PAWL_NUMBERED("pawl_fairmutex_lock_until");
void pawl_fairmutex_unlock_contended(struct pawl_fairmutex *m)
    PAWL_NUMBERED("pawl_fairmutex_unlock_contended");

int pawl_mcs_lock_until(struct pawl_mcs *l, struct pawl_mcs_ctx *c, int clock,
                        const struct timespec *deadline) PAWL_NUMBERED("pawl_mcs_lock_until");

int pawl_reciprocating_lock_until(struct pawl_reciprocating *l, struct pawl_reciprocating_ctx *c, int clock,
                                  const struct timespec *deadline)
    PAWL_NUMBERED("pawl_reciprocating_lock_until");

int pawl_semaphore_take_until(struct pawl_semaphore *s, int clock, const struct timespec *deadline)
    PAWL_NUMBERED("pawl_semaphore_take_until");

int pawl_cond_enter_call(struct pawl_cond *c, struct pawl_sleeper *w, int clock,
                         const struct timespec *deadline) PAWL_NUMBERED("pawl_cond_enter_call");
int pawl_cond_sleep_call(struct pawl_cond *c, struct pawl_sleeper *w, int clock,
                         const struct timespec *deadline) PAWL_NUMBERED("pawl_cond_sleep_call");
void pawl_cond_leave_call(struct pawl_sleeper *w) PAWL_NUMBERED("pawl_cond_leave_call");
void pawl_cond_signal_waiters(struct pawl_cond *c, bool all) PAWL_NUMBERED("pawl_cond_signal_waiters");

#ifdef __cplusplus
}
#endif
