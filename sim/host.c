/* host.c - the hypervisor, which takes CPUs away from time to time
 *
 * How long and how often is random, between nothing and twice what the machine file says. A thread that computes or works
 * goes on later by that; one that polls notices nothing unless its line is taken from it meanwhile.
 */
#include "sim.h"

static void take_away(void *of, unsigned generation)
{
    (void)generation;
    sim_cpu *c = of;
    sim_thread *t = c->current;
    sim_time length = sim_random(2 * sim_hardware.stolen);
    c->coveted = false;
    if (t == NULL)
        return; /* until a thread runs there: else events would never end */
    c->back = sim_now() + length;
    if (t->state != SIM_POLLING)
        t->debt += length;
    sim_covet(c);
}

void sim_covet(sim_cpu *c)
{
    if (c->coveted || sim_hardware.stolen == 0 || sim_hardware.stolen_every == 0)
        return;
    c->coveted = true;
    sim_at(sim_now() + sim_random(2 * sim_hardware.stolen_every), take_away, c, 0);
}
