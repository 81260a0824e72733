/* monitor.c - what a lock promises: one owner, and a bound on overtaking
 *
 * A thread waits once it is seen to spin or sleep after its doorway (its first write to the lock), or to spin on the
 * lock itself. Others that arrive after that moment and enter before it have overtaken it. (The textbook's moment is the
 * doorway, but that would blame a lock for what happens between two of its instructions. Waiting alone would blame it
 * for what a thread waits for before it comes to the lock, say a node from a pool.)
 *
 * Who is inside follows from the graph, so entering and leaving add nothing to it but an event. The order of
 * arrivals, waits and entries does not follow; it is added to the graph as a chain, but only when a bound is set,
 * because it keeps states apart that are otherwise the same.
 */
#include "shadow.h"
#include "trace.h"

enum { MAX_LOCKS = 8, E_MONITOR = 100 };

struct visit {
    bool arrived, waiting;
    bool at_doorway; /* no write to the lock yet */
    bool tries;
    size_t size;
    unsigned arrived_at, waiting_since;
    int overtaken_by[LAB_MAX_THREADS], overtaken;
};

static struct lock {
    const void *address;
    int owner; /* -1 = none */
    struct visit visits[LAB_MAX_THREADS];
} locks[MAX_LOCKS];
static int lock_count;
static unsigned now;
static uint64_t chain;

#define PC __builtin_return_address(0)

void lab_monitor_reset(void)
{
    lock_count = 0;
    now = 0;
    chain = 0;
}

static bool bounded(void)
{
    return lab_run.limits->bypass_each >= 0 || lab_run.limits->bypass_total >= 0;
}

static struct lock *lock_at(const void *address)
{
    for (int i = 0; i < lock_count; i++)
        if (locks[i].address == address)
            return &locks[i];
    if (lock_count == MAX_LOCKS)
        lab_violation(LAB_UNSUPPORTED, "too many locks are monitored", (uintptr_t)address, NULL, NULL);
    struct lock *l = &locks[lock_count++];
    memset(l, 0, sizeof *l);
    l->address = address;
    l->owner = -1;
    return l;
}

static void note(struct lab_thread *t, unsigned event, const void *lock)
{
    if (bounded())
        chain = lab_mix(chain, lab_event_id(t, (uintptr_t)lock) + event);
    lab_graph_add(t, E_MONITOR + event, (uintptr_t)lock, chain);
    now++;
}

/* Only the threads of the program are monitored: finish runs alone. */
static struct lab_thread *monitored(void)
{
    return lab_checking() && lab_current->id < lab_run.threads ? lab_running() : NULL;
}

static void arrive(const void *lock, size_t size, bool tries, const void *pc)
{
    struct lab_thread *t = monitored();
    if (!t || !bounded())
        return;
    lab_sched_point();
    note(t, 1, lock);
    lock_at(lock)->visits[t->id] =
        (struct visit){.arrived = true, .at_doorway = size != 0, .tries = tries, .size = size, .arrived_at = now};
    lab_trace_note(tries ? "tries" : "arrives", (uintptr_t)lock, 0, pc);
}

void lab_arrive(const void *lock, size_t size)
{
    arrive(lock, size, false, PC);
}

void lab_try(const void *lock)
{
    arrive(lock, 0, true, PC);
}

void lab_monitor_writes(const struct lab_thread *t, uintptr_t address)
{
    for (int i = 0; t->id < lab_run.threads && i < lock_count; i++) {
        struct visit *v = &locks[i].visits[t->id];
        if (v->at_doorway && address - (uintptr_t)locks[i].address < v->size)
            v->at_doorway = false;
    }
}

/* A thread that spins on the lock itself waits for it, doorway or not. */
static bool watches(const struct lab_thread *t, const struct lock *l, size_t size)
{
    for (unsigned i = 0; t->state == LAB_SPINNING && i < t->watched_count; i++)
        if (t->watched[i].location->address - (uintptr_t)l->address < size)
            return true;
    return false;
}

void lab_monitor_waits(struct lab_thread *t)
{
    for (int i = 0; bounded() && i < lock_count; i++) {
        struct visit *v = &locks[i].visits[t->id];
        if (!v->arrived || v->waiting || v->tries || (v->at_doorway && !watches(t, &locks[i], v->size)))
            continue;
        note(t, 2, locks[i].address);
        v->waiting = true;
        v->waiting_since = now;
        lab_trace_note("waits", (uintptr_t)locks[i].address, 0, NULL);
    }
}

static void count_overtaking(struct lock *l, const struct lab_thread *t)
{
    const struct lab_limits *limits = lab_run.limits;
    for (int i = 0; i < lab_run.threads; i++) {
        struct visit *waiter = &l->visits[i];
        if (i == t->id || !waiter->waiting || l->visits[t->id].arrived_at <= waiter->waiting_since)
            continue;
        waiter->overtaken++;
        int by_one = ++waiter->overtaken_by[t->id];
        struct lab_party victim = {i, NULL};
        uintptr_t address = (uintptr_t)l->address;
        if (limits->bypass_each >= 0 && by_one > limits->bypass_each)
            lab_violation(LAB_OVERTAKEN, "one thread overtook a waiter too often", address, NULL, &victim);
        if (limits->bypass_total >= 0 && waiter->overtaken > limits->bypass_total)
            lab_violation(LAB_OVERTAKEN, "a waiter was overtaken too often", address, NULL, &victim);
    }
}

void lab_enter(const void *lock)
{
    struct lab_thread *t = monitored();
    if (!t)
        return;
    struct lock *l = lock_at(lock);
    if (bounded())
        lab_sched_point();
    note(t, 3, lock);
    lab_trace_note("enters", (uintptr_t)lock, 0, PC);
    struct lab_party owner = {l->owner, NULL};
    if (l->owner >= 0)
        lab_violation(LAB_TWO_OWNERS, "two threads are inside", (uintptr_t)lock, PC, &owner);
    l->owner = t->id;
    if (bounded())
        count_overtaking(l, t);
    l->visits[t->id] = (struct visit){0};
}

/* The scheduling point lets others enter while this thread is still inside. */
void lab_leave(const void *lock)
{
    struct lab_thread *t = monitored();
    if (!t)
        return;
    lab_sched_point();
    note(t, 4, lock);
    lab_trace_note("leaves", (uintptr_t)lock, 0, PC);
    lock_at(lock)->owner = -1;
}
