/* thread.h - the end of a thread that has something in its slices (slice.h) */
#pragma once

#include "slice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sees to it that pawl_thread_leave() runs when this thread ends. Cheap to repeat. False if it can't. */
bool pawl_thread_enter(void);

/* Takes what that needs, which is one of the 1024 keys of POSIX, before a lock is in a hurry for it. */
void pawl_thread_expect(void);

/* Follows the rules of all slices. A destructor that runs later may lock: then it enters again. */
void pawl_thread_leave(void);

#ifdef __cplusplus
}
#endif
