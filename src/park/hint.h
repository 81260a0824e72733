/* hint.h - what the kernel knows and a waiter would like to: whether others want its CPU
 *
 * There is an answer where the service of `pawl hint` runs (docs/hint.md). An answer only changes how long a thread
 * looks before it sleeps. Whoever sleeps announces itself as ever, so a wrong one costs time, within bounds, and no
 * wake-up.
 */
#pragma once

#include "hint_map.h"

#include <pawl/detail/atomic.h>

typedef struct pawl_hint {
    struct pawl_hint_cpus *cpus;
    struct pawl_hint_sheet *sheet;
    uint32_t number; /* another for each that a process has mapped */
} pawl_hint;

#ifdef PAWL_HINT_MOST /* the lab's and the simulator's */

static inline unsigned pawl_hint_most(unsigned most)
{
    return PAWL_HINT_MOST(most);
}

static inline void pawl_hint_begin(void)
{
}

static inline void pawl_hint_join(void)
{
}

#else

extern _Atomic(pawl_hint *) pawl_hint_now; /* NULL: there is none */

unsigned pawl_hint_ask(const pawl_hint *h, unsigned most);
void pawl_hint_check(void);

/* How many looks a thread may take before it sleeps, as things are now, if it were `most` without a hint. */
static inline unsigned pawl_hint_most(unsigned most)
{
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return PAWL_LIKELY(h == NULL) ? most : pawl_hint_ask(h, most);
}

/* At the start of a wait: stops believing a service that has ended. */
static inline void pawl_hint_begin(void)
{
    if (PAWL_UNLIKELY(atomic_load_explicit(&pawl_hint_now, memory_order_relaxed) != NULL))
        pawl_hint_check();
}

/* Before a thread sleeps: registers it with the service, if it sleeps often and there is one. Leaves errno alone. */
void pawl_hint_join(void);

#endif

/* For `pawl doctor`: asks the service. */
typedef enum pawl_hint_state {
    PAWL_HINT_NONE,
    PAWL_HINT_UNWANTED,
    PAWL_HINT_SILENT,
    PAWL_HINT_WORKS
} pawl_hint_state;
pawl_hint_state pawl_hint_find(void);
