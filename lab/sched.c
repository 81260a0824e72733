/* sched.c - who runs next
 *
 * A choice is made before every visible operation: an atomic access, a seq_cst fence, a system call, the end of a
 * critical section. Leaving a thread that could go on is a preemption, and those are limited; leaving one that
 * sleeps or has ended is free.
 */
#include "shadow.h"

/* PATIENCE  a loop that writes is not recognised as spinning, so a thread that has run alone for so many steps gives way
 * TIMEOUTS  once nothing else can happen: how often one thread's timer may run out while another's waits */
enum { PATIENCE = 400, TIMEOUTS = 16 };

struct lab_thread lab_threads[LAB_SLOTS];
struct lab_run lab_run;

static void reset_thread(struct lab_thread *t, int id)
{
    t->fiber = lab_fiber(id);
    t->id = id;
    t->state = LAB_READY;
    t->po = 0;
    memset(&t->clock, 0, sizeof t->clock);
    memset(&t->acquirable, 0, sizeof t->acquirable);
    t->clock.at[id] = 1;
    t->has_released = false;
    lab_spin_clear(t);
    t->hopeless = false;
    t->futex = 0;
    t->timed = t->woken = false;
    t->timeouts = 0;
    t->now = LAB_START * UINT64_C(1000000000);
    t->depth = 0;
    t->restarted = 0;
    t->exit_count = 0;
}

void lab_threads_reset(void)
{
    for (int i = 0; i <= lab_run.threads; i++)
        reset_thread(&lab_threads[i], i);
    lab_threads[lab_run.threads].state = LAB_ENDED; /* finish: started by hand */
}

/* A sleeper that may return although nobody woke it. */
static bool may_return(const struct lab_thread *t)
{
    return t->state == LAB_PARKED && ((t->timed && lab_run.left.timeouts > 0) || lab_run.left.spurious > 0);
}

static unsigned others(struct lab_thread **list, const struct lab_thread *except)
{
    unsigned n = 0;
    for (int i = 0; i < lab_run.threads; i++)
        if (&lab_threads[i] != except && lab_threads[i].state == LAB_READY)
            list[n++] = &lab_threads[i];
    if (n == 0 && !except)
        return 0;
    for (int i = 0; i < lab_run.threads; i++)
        if (&lab_threads[i] != except && may_return(&lab_threads[i]))
            list[n++] = &lab_threads[i];
    return n;
}

static bool is_timed_sleeper(const struct lab_thread *t)
{
    return t->state == LAB_PARKED && t->timed;
}

/* While another one sleeps with a timer, which may be the only one that helps, this one's has run out again and again. */
static bool is_ahead(const struct lab_thread *t)
{
    for (int i = 0; i < lab_run.threads; i++)
        if (&lab_threads[i] != t && is_timed_sleeper(&lab_threads[i]) &&
            t->timeouts - lab_threads[i].seen[t->id] >= TIMEOUTS)
            return true;
    return false;
}

/* Time passes when nothing else can happen, and it passes for all. Whoever lay down first is never ahead. */
static unsigned timed_sleepers(struct lab_thread **list)
{
    unsigned n = 0;
    for (int i = 0; i < lab_run.threads; i++)
        if (is_timed_sleeper(&lab_threads[i]) && !is_ahead(&lab_threads[i]))
            list[n++] = &lab_threads[i];
    return n;
}

static void run(struct lab_thread *next)
{
    if (!next) {
        lab_run.pruned = true;
        lab_fiber_leave();
    }
    lab_run.decided = lab_run.graph;
    if (next->fiber == lab_current)
        return;
    lab_run.streak = 0;
    lab_fiber_switch(next->fiber);
}

struct lab_thread *lab_sched_first(void)
{
    struct lab_thread *list[LAB_SLOTS];
    unsigned n = others(list, NULL);
    struct lab_thread *first = lab_choose_thread(list, n, 0);
    lab_run.decided = lab_run.graph;
    return first;
}

static struct lab_thread *next_in_turn(const struct lab_thread *t)
{
    for (int k = 1; k < lab_run.threads; k++) {
        struct lab_thread *other = &lab_threads[(t->id + k) % lab_run.threads];
        if (other->state == LAB_READY)
            return other;
    }
    return NULL;
}

static void let_others_go_first(struct lab_thread *t)
{
    if (lab_run.graph == lab_run.decided || t->id == lab_run.threads)
        return; /* just chosen, or alone */

    struct lab_thread *list[LAB_SLOTS] = {t};
    unsigned n = 1;
    if (++lab_run.streak > PATIENCE) {
        struct lab_thread *other = next_in_turn(t);
        lab_run.streak = 0;
        list[0] = other ? other : t;
    } else if (lab_run.left.preemptions > 0) {
        n += others(list + 1, t);
    }
    run(lab_choose_thread(list, n, 1));
}

void lab_sched_point(void)
{
    struct lab_thread *t = lab_running();
    lab_run.plain_streak = 0;
    if (t->probing)
        return;
    let_others_go_first(t);
    if (++lab_run.steps > (unsigned)lab_run.limits->steps)
        lab_violation(LAB_NO_PROGRESS, "the step limit was reached", 0, NULL, NULL);
}

void lab_sched_away(void)
{
    struct lab_thread *list[LAB_SLOTS];
    unsigned n = others(list, NULL);
    if (n == 0)
        n = timed_sleepers(list);
    if (n > 0) {
        run(lab_choose_thread(list, n, 0));
        return;
    }
    struct lab_thread *prober = lab_spin_probe();
    if (!prober)
        lab_violation(LAB_DEADLOCK, "every thread sleeps and nobody is left to wake one", 0, NULL, NULL);
    run(prober);
}
