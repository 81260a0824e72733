/* thread.h - cleaning up a thread's slices when it ends (slice.h) */
#pragma once

#include "slice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arranges for pawl_thread_leave() to run when this thread ends. Cheap to repeat. False if it can't. */
bool pawl_thread_enter(void);

/* Creates the key that this takes, one of POSIX's 1024, before a lock needs it in a hurry. */
void pawl_thread_expect(void);

/* Runs every slice's .leave. A destructor that runs later may lock: then it enters again. */
void pawl_thread_leave(void);

#ifdef __cplusplus
}
#endif
