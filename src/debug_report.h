/* debug_report.h - what the debug mode says on standard error */
#pragma once

#include "debug_graph.h"

/* Defined by the caller: every report ends with it. */
void pawl_debug_reported(void);

/* `me` is the calling thread, and its `stack` is where it wants the lock. */
void pawl_debug_report_self_deadlock(const debug_thread *me, const debug_lock *l);
/* Right after pawl_debug_comes_before(wanted, held) was true. */
void pawl_debug_report_inversion(const debug_thread *me, const debug_lock *held, const debug_lock *wanted);
/* `last`: where it was unlocked before, or null. */
void pawl_debug_report_not_held(const debug_thread *me, const void *l, const char *kind,
                                const debug_stack *here, const debug_stack *last);
void pawl_debug_report_wrong_thread(const debug_thread *me, const debug_lock *l, const debug_stack *here);
void pawl_debug_report_shared(const debug_thread *me, const void *l, const char *kind, int other);
/* `l` is null if it is not known who holds it. */
void pawl_debug_report_destruction(const debug_thread *me, const void *address, const char *kind,
                                   const debug_lock *l, const debug_stack *here);
