/* timeslice.h - a few microseconds more for the owner of a contended mutex
 *
 * Linux after 6.19 lets a thread ask not to lose its CPU in the next few microseconds (5, unless root says otherwise): a
 * byte of its rseq area says so, and another tells it that it was granted. Whoever got the time gives it back with a
 * system call as soon as the mutex is free.
 *
 * Only owners that had to wait ask, while others queue up behind them: so paths without contention don't change. A
 * release that finds nobody waiting leaves the request where it is, and it may be granted once for nothing.
 */
#pragma once

#include <pawl/detail/atomic.h>

#ifdef PAWL_NO_TIMESLICE /* the lab's and the simulator's: there is no scheduler that could be asked */

static inline bool pawl_timeslice_ask(void)
{
    return false;
}

static inline void pawl_timeslice_return(void)
{
}

#else

extern _Atomic(uint32_t) pawl_timeslice_use; /* 0: the kernel has none, or is not to be asked */

bool pawl_timeslice_ask_slowly(void);
void pawl_timeslice_return_slowly(void);

/* With a contended mutex in hand. True if its release has something to give back. */
static inline bool pawl_timeslice_ask(void)
{
    return PAWL_UNLIKELY(atomic_load_explicit(&pawl_timeslice_use, memory_order_relaxed) != 0) &&
           pawl_timeslice_ask_slowly();
}

/* After its release. May let another thread run. */
static inline void pawl_timeslice_return(void)
{
    if (PAWL_UNLIKELY(atomic_load_explicit(&pawl_timeslice_use, memory_order_relaxed) != 0))
        pawl_timeslice_return_slowly();
}

#endif

/* For `pawl doctor`. */
typedef enum pawl_timeslice_state {
    PAWL_TIMESLICE_NONE,     /* the kernel has none                                */
    PAWL_TIMESLICE_NO_AREA,  /* the C library has registered no rseq area       */
    PAWL_TIMESLICE_UNWANTED, /* PAWL_TIMESLICE=off                                 */
    PAWL_TIMESLICE_WORKS,
} pawl_timeslice_state;
pawl_timeslice_state pawl_timeslice_find(void);
