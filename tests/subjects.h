/* subjects.h - what is tested: the register, and the semaphore with one permit, which is a lock too
 */
#pragma once

#include <pawl.h>

#include "../src/register.h"

static inline void semaphore_lock(void *l, lock_ctx *c)
{
    (void)c;
    pawl_semaphore_acquire((pawl_semaphore *)l, 1);
}

static inline bool semaphore_trylock(void *l, lock_ctx *c)
{
    (void)c;
    return pawl_semaphore_try_acquire((pawl_semaphore *)l, 1);
}

static inline void semaphore_unlock(void *l, lock_ctx *c)
{
    (void)c;
    pawl_semaphore_post((pawl_semaphore *)l);
}

enum { SUBJECTS = LOCK_COUNT + 1 };

static inline const lock_info *subjects(void)
{
    static lock_info all[SUBJECTS];
    if (all[0].name != NULL)
        return all;
    memcpy(all, lock_table, sizeof lock_table);
    all[LOCK_COUNT] = (lock_info){.name = "semaphore",
                                  .order = PAWL_FIFO,
                                  .constant_unlock = true,
                                  .prompt = true,
                                  .oblivious = true,
                                  .size = sizeof(pawl_semaphore),
                                  .waiting = PAWL_SEMI_PRIVATE,
                                  .lock = semaphore_lock,
                                  .trylock = semaphore_trylock,
                                  .unlock = semaphore_unlock};
    return all;
}
