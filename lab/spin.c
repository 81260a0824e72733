/* spin.c - threads that wait in a loop
 *
 * A thread that repeats the same accesses, changes nothing and sees the same values is spinning. Running it further
 * leads nowhere, so it sleeps until one of the words it looked at gets another value. What keeps this honest:
 *
 * - It first goes round once more reading only the newest stores (`fresh`), because a stale value must not put it to
 *   sleep: C11 asks that stores become visible in finite time.
 * - A read of the store that the previous round read, while a newer one is there, is not explored: that execution
 *   differs from another only by one more round. This takes loops to be pure: how often a loop went round must not
 *   matter.
 * - A loop that gives up after a number of rounds does not sleep for ever. So before all threads asleep are called a
 *   deadlock, each spinner runs on alone (`lab_spin_probe`) for a good while; if it leaves its loop, all is well.
 */
#include "shadow.h"

enum { PROBE = 2000 };

static const struct lab_look *look_back(const struct lab_thread *t, unsigned distance)
{
    return &t->looks[(t->look_count - 1 - distance) % LAB_HISTORY];
}

static bool same(const struct lab_look *a, const struct lab_look *b)
{
    return a->pc == b->pc && a->location == b->location && a->value == b->value;
}

/* The shortest period with which the last looks repeat, 0 if they do not. */
static unsigned find_period(const struct lab_thread *t)
{
    for (unsigned p = 1; p <= LAB_PERIOD && 2 * p <= t->look_count; p++) {
        unsigned i = 0;
        while (i < p && same(look_back(t, i), look_back(t, i + p)))
            i++;
        if (i == p)
            return p;
    }
    return 0;
}

/* The thread has seen the newest store of every word in the loop, and they still hold what it saw. */
static bool nothing_new(const struct lab_thread *t, unsigned period)
{
    for (unsigned i = 0; i < period; i++) {
        const struct lab_look *look = look_back(t, i);
        const struct lab_location *l = look->location;
        if (l->plain || lab_newest(l)->value != look->value || t->view[l->index] < lab_newest(l)->stamp)
            return false;
    }
    return true;
}

static void fall_asleep(struct lab_thread *t, unsigned period)
{
    t->watched_count = period;
    for (unsigned i = 0; i < period; i++)
        t->watched[i] = *look_back(t, i);
    t->state = LAB_SPINNING;
    lab_monitor_waits(t);
    lab_sched_away();
}

static void probe_on(struct lab_thread *t)
{
    if (!same(look_back(t, 0), look_back(t, t->probe_period))) {
        t->probing = 0;
        return;
    }
    if (--t->probing > 0)
        return;
    t->hopeless = true;
    t->state = LAB_SPINNING;
    lab_sched_away();
}

void lab_spin_note(struct lab_thread *t, const void *pc, struct lab_location *l, uint64_t value, lab_stamp stamp)
{
    t->looks[t->look_count++ % LAB_HISTORY] = (struct lab_look){pc, l, value, stamp};
    if (t->probing) {
        probe_on(t);
        return;
    }
    unsigned period = find_period(t);
    t->fresh = period != 0;
    if (period && nothing_new(t, period))
        fall_asleep(t, period);
}

void lab_spin_clear(struct lab_thread *t)
{
    t->look_count = 0;
    t->fresh = false;
    t->probing = 0;
}

/* The last look stays, so that lab_spin_redundant knows what made the thread sleep. */
static void wake(struct lab_thread *t)
{
    t->looks[0] = *look_back(t, 0);
    t->look_count = 1;
    t->fresh = t->hopeless = false;
    t->state = LAB_READY;
}

/* A store of the value that the sleeper saw changes nothing for it: two threads that poll with an exchange would
 * keep waking each other. */
void lab_spin_wake(const struct lab_location *l, uint64_t value)
{
    for (int i = 0; i < lab_run.threads; i++) {
        struct lab_thread *t = &lab_threads[i];
        if (t->state != LAB_SPINNING)
            continue;
        for (unsigned k = 0; k < t->watched_count; k++)
            if (t->watched[k].location == l && t->watched[k].value != value) {
                wake(t);
                break;
            }
    }
}

bool lab_spin_redundant(const struct lab_thread *t, const void *pc, const struct lab_location *l, lab_stamp stamp)
{
    if (t->look_count == 0)
        return false;
    const struct lab_look *last = look_back(t, 0);
    return last->pc == pc && last->location == l && last->stamp == stamp;
}

struct lab_thread *lab_spin_probe(void)
{
    for (int i = 0; i <= lab_run.threads; i++) { /* finish may spin too */
        struct lab_thread *t = &lab_threads[i];
        if (t->state == LAB_SPINNING && !t->hopeless) {
            t->state = LAB_READY;
            t->probing = PROBE;
            t->probe_period = t->watched_count;
            return t;
        }
    }
    return NULL;
}
