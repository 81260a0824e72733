/* turns.c - whose turn it is: the fibers' and the events', and the host's between them */
#include "sim.h"

static sim_thread *next; /* the thread whose turn it is */

static void resume(void *of, unsigned generation)
{
    sim_thread *t = of;
    if (generation != t->resumption)
        return;
    if (t->debt > 0) {
        sim_time debt = t->debt;
        t->debt = 0;
        t->paid += debt;
        sim_at(sim_now() + debt, resume, t, generation);
        return;
    }
    sim_resume_here(t);
}

void sim_resume_here(sim_thread *t)
{
    t->state = SIM_RUNNING;
    t->clock = sim_now() > t->clock ? sim_now() : t->clock;
    next = t;
}

void sim_resume_at(sim_thread *t, sim_time when)
{
    sim_at(when, resume, t, ++t->resumption);
}

static bool stopped; /* the host wants to go on */

static void stop(void *of, unsigned generation)
{
    (void)of, (void)generation;
    stopped = true;
}

/* The thread whose turn it is; NULL if it is the host's. */
static sim_thread *run_events(void)
{
    next = NULL;
    while (next == NULL)
        if (stopped || !sim_do_next_event())
            return NULL;
    return next;
}

void sim_wait(void)
{
    sim_thread *to = run_events();
    if (to == NULL)
        lab_fiber_leave();
    else
        lab_fiber_switch(to->fiber);
}

void sim_stop(void)
{
    stopped = true;
}

bool sim_run(sim_time until, bool done(const void *of), const void *of)
{
    if (until != SIM_NEVER)
        sim_at(until, stop, NULL, 0);
    while (done == NULL || !done(of)) {
        stopped = false;
        sim_thread *first = run_events();
        if (first != NULL)
            lab_fiber_run(first->fiber);
        if (!stopped)
            return false;
        if (done == NULL)
            return true;
    }
    return true;
}
