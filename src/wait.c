/* wait.c - the waiting policy of the process, and what it does between two looks */
#include "hardware.h"
#include "park/hint.h"
#include "park/pause.h"
#include "park/word.h"
#include "park/yield.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* How long to look before parking: about what sleeping and being woken costs. */
#ifndef PAWL_SPIN_NS
#define PAWL_SPIN_NS 8000
#endif
#ifndef PAWL_WAIT_YIELDS
#define PAWL_WAIT_YIELDS 64
#endif

static _Atomic(int) policy = PAWL_WAIT_PARK;

bool pawl_set_wait(pawl_policy p)
{
    if (p != PAWL_WAIT_SPIN && p != PAWL_WAIT_YIELD && p != PAWL_WAIT_PARK)
        return false;
    atomic_store_explicit(&policy, p, memory_order_relaxed);
    return true;
}

pawl_policy pawl_get_wait(void)
{
    return (pawl_policy)atomic_load_explicit(&policy, memory_order_relaxed);
}

/* If the hint says that others want the CPU, they may be those that this thread waits for. A waiter that goes to the end
 * of the CPU's queue is up when its turn comes; waking a sleeper takes longer than a few such rounds. */
static bool yield(const pawl_waiter *me)
{
    return me->ticket < PAWL_WAIT_YIELDS && pawl_hint_cpu() == PAWL_CPU_WANTED && pawl_yield();
}

void pawl_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    switch (pawl_get_wait()) {
    case PAWL_WAIT_SPIN:
        pawl_hardware_wait(w, seen);
        return;
    case PAWL_WAIT_YIELD:
        sched_yield();
        return;
    case PAWL_WAIT_PARK:
        if (me->most == 0) {
            me->most = pawl_pauses(PAWL_SPIN_NS) + 1;
            pawl_hint_begin();
        }
        if (me->state == PAWL_LOOKING && pawl_hint_looks_on(me->looks, me->most)) {
            unsigned room = pawl_hardware_wait(w, seen);
            me->looks += room > 0 ? me->most / room : 0;
        } else if (me->state == PAWL_LOOKING && yield(me)) {
            me->ticket++;
        } else {
            if (me->state == PAWL_LOOKING)
                pawl_hint_slept();
            pawl_park(me, w, which, false);
        }
        return;
    }
}

/* An unknown value keeps the default: a library has nobody to complain to. `pawl` checks it for its users. */
__attribute__((constructor)) static void policy_from_environment(void)
{
    static const struct {
        const char *name;
        pawl_policy policy;
    } names[] = {{"spin", PAWL_WAIT_SPIN}, {"yield", PAWL_WAIT_YIELD}, {"park", PAWL_WAIT_PARK}};
    const char *wanted = getenv("PAWL_WAIT");
    for (size_t i = 0; wanted != NULL && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(wanted, names[i].name) == 0)
            pawl_set_wait(names[i].policy);
}
