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

/* Whether others want this thread's CPU. */
typedef enum pawl_cpu { PAWL_CPU_UNKNOWN, PAWL_CPU_OURS, PAWL_CPU_WANTED } pawl_cpu;

#ifdef PAWL_HINT_CPU /* the lab's and the simulator's */

static inline bool pawl_hint_looks_on(unsigned looks, unsigned most)
{
    return PAWL_HINT_LOOKS_ON(looks, most);
}

static inline pawl_cpu pawl_hint_cpu(void)
{
    return PAWL_HINT_CPU();
}

static inline uint32_t pawl_hint_slot(void)
{
    return PAWL_HINT_SLOT();
}

static inline bool pawl_hint_is_off(uint32_t slot)
{
    return PAWL_HINT_IS_OFF(slot);
}

static inline bool pawl_hint_is_crowded(uint32_t slot)
{
    return PAWL_HINT_IS_OFF(slot);
}

static inline void pawl_hint_begin(void)
{
}

static inline void pawl_hint_slept(void)
{
}

static inline void pawl_hint_join(void)
{
}

#else

extern _Atomic(pawl_hint *) pawl_hint_now; /* NULL: there is none */

bool pawl_hint_ask(const pawl_hint *h, unsigned looks, unsigned most);
pawl_cpu pawl_hint_ask_cpu(const pawl_hint *h);
uint32_t pawl_hint_ask_slot(const pawl_hint *h);
bool pawl_hint_ask_off(const pawl_hint *h, uint32_t slot);
bool pawl_hint_ask_crowded(const pawl_hint *h, uint32_t slot);
void pawl_hint_check(void);

/* Whether a thread that has looked so often should look again, as things are now, if it were `most` without a hint. */
static inline bool pawl_hint_looks_on(unsigned looks, unsigned most)
{
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return PAWL_LIKELY(h == NULL) ? looks < most : pawl_hint_ask(h, looks, most);
}

static inline pawl_cpu pawl_hint_cpu(void)
{
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return PAWL_LIKELY(h == NULL) ? PAWL_CPU_UNKNOWN : pawl_hint_ask_cpu(h);
}

/* What others may know this thread by; 0: nothing. */
static inline uint32_t pawl_hint_slot(void)
{
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return PAWL_LIKELY(h == NULL) ? 0 : pawl_hint_ask_slot(h);
}

/* Whether the thread with this slot is known not to run. */
static inline bool pawl_hint_is_off(uint32_t slot)
{
    if (PAWL_LIKELY(slot == 0))
        return false;
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return h != NULL && pawl_hint_ask_off(h, slot);
}

/* Whether others are known to wait for the CPU on which the thread with this slot ran last. */
static inline bool pawl_hint_is_crowded(uint32_t slot)
{
    if (PAWL_LIKELY(slot == 0))
        return false;
    const pawl_hint *h = atomic_load_explicit(&pawl_hint_now, memory_order_acquire); /* H */
    return h != NULL && pawl_hint_ask_crowded(h, slot);
}

/* At the start of a wait: stops believing a service that has ended. */
static inline void pawl_hint_begin(void)
{
    if (PAWL_UNLIKELY(atomic_load_explicit(&pawl_hint_now, memory_order_relaxed) != NULL))
        pawl_hint_check();
}

/* Counts a sleep. */
void pawl_hint_slept(void);

/* Registers a thread with the service, if it has slept often and there is one. Waits for the answer, but no longer than
 * a lock may be held that this thread has. Leaves errno alone. */
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
