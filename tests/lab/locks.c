/* locks.c - locks, some of them wrong (instrumented); see subjects.h */
#define _GNU_SOURCE
#include "subjects.h"
#include "shorthand.h"
#include <stddef.h>

/* ---- ticket --------------------------------------------------------------------------------------------------- */

static struct { _Atomic uint64_t next, serving; } ticket_lock;

static void ticket_acquire(void)
{
    uint64_t mine = add(&ticket_lock.next, 1, RLX);
    while (load(&ticket_lock.serving, ACQ) != mine)
        ;
}

static void ticket_release(void)
{
    store(&ticket_lock.serving, load(&ticket_lock.serving, RLX) + 1, REL);
}

const struct subject ticket = {"ticket", ticket_acquire, ticket_release};

/* ---- test and set --------------------------------------------------------------------------------------------- */

static _Atomic int word;

static void tas_acquire(void)
{
    while (swap(&word, 1, ACQ))
        ;
}

static void tts_acquire(void)
{
    while (swap(&word, 1, ACQ))
        while (load(&word, RLX))
            ;
}

static void word_release(void)
{
    store(&word, 0, REL);
}

static void word_release_relaxed(void)
{
    store(&word, 0, RLX);
}

static void test_then_set_acquire(void)
{
    while (load(&word, ACQ))
        ;
    store(&word, 1, RLX);
}

const struct subject tas = {"tas", tas_acquire, word_release};
const struct subject tts = {"tts", tts_acquire, word_release};
const struct subject tts_relaxed = {"tts, relaxed unlock", tts_acquire, word_release_relaxed};
const struct subject test_then_set = {"test, then set", test_then_set_acquire, word_release};

/* ---- MCS, element in thread-local storage --------------------------------------------------------------------- */

struct node {
    _Atomic(struct node *) next;
    _Atomic int waiting;
};

static _Atomic(struct node *) tail;
static _Thread_local struct node own;

static void mcs_enqueue(struct node *n)
{
    store(&n->next, NULL, RLX);
    store(&n->waiting, 1, RLX);
    struct node *before = swap(&tail, n, AR);
    if (!before)
        return;
    store(&before->next, n, REL);
    while (load(&n->waiting, ACQ))
        ;
}

static void mcs_dequeue(struct node *n)
{
    struct node *after = load(&n->next, ACQ), *expected = n;
    if (!after) {
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, REL, RLX))
            return;
        while (!(after = load(&n->next, ACQ)))
            ;
    }
    store(&after->waiting, 0, REL);
}

static void mcs_acquire(void)
{
    mcs_enqueue(&own);
}

static void mcs_release(void)
{
    mcs_dequeue(&own);
}

static void mcs_release_no_wait(void)
{
    struct node *after = load(&own.next, ACQ);
    if (after)
        store(&after->waiting, 0, REL);
    else
        store(&tail, NULL, REL);
}

const struct subject mcs = {"mcs", mcs_acquire, mcs_release};
const struct subject mcs_no_wait = {"mcs, does not wait for its link", mcs_acquire, mcs_release_no_wait};

/* ---- CLH, nodes circulate ------------------------------------------------------------------------------------- */

static struct clh_node { _Atomic int waiting; } clh_nodes[LAB_MAX_THREADS + 1];
static _Atomic(struct clh_node *) clh_tail;
static _Thread_local struct clh_node *clh_mine, *clh_before;

static void clh_acquire(void)
{
    if (!clh_mine)
        clh_mine = &clh_nodes[lab_self()];
    store(&clh_mine->waiting, 1, RLX);
    clh_before = swap(&clh_tail, clh_mine, AR);
    if (clh_before)
        while (load(&clh_before->waiting, ACQ))
            ;
    else
        clh_before = &clh_nodes[LAB_MAX_THREADS];
}

static void clh_release(void)
{
    struct clh_node *n = clh_mine;
    clh_mine = clh_before;
    store(&n->waiting, 0, REL);
}

const struct subject clh = {"clh", clh_acquire, clh_release};

/* ---- Hapax with invisible waiters, one slot for all ------------------------------------------------------------ */

static _Atomic uint64_t arrive, depart, slot;
static _Thread_local uint64_t hapax_last, hapax_mine;

/* A value that never recurs. */
static uint64_t hapax_next(void)
{
    if (hapax_last == 0)
        hapax_last = (uint64_t)(lab_self() + 1) << 16;
    return ++hapax_last;
}

static void hapax_listing_acquire(void)
{
    uint64_t before = swap(&arrive, hapax_mine = hapax_next(), AR), seen = 0;
    while (load(&depart, ACQ) != before) {
        while (load(&slot, ACQ) == seen)
            ;
        seen = load(&slot, ACQ);
    }
}

/* Polls both words as long as the slot holds somebody else's value. */
static void hapax_fixed_acquire(void)
{
    uint64_t before = swap(&arrive, hapax_mine = hapax_next(), AR);
    while (load(&depart, ACQ) != before && load(&slot, ACQ) != before)
        ;
}

static void hapax_release(void)
{
    store(&depart, hapax_mine, REL);
    store(&slot, hapax_mine, REL);
}

const struct subject hapax_fixed = {"hapax, both words polled", hapax_fixed_acquire, hapax_release};
const struct subject hapax_listing = {"hapax, slots colliding", hapax_listing_acquire, hapax_release};

/* ---- futex mutex (Drepper's third) ---------------------------------------------------------------------------- */

static void futex_acquire(void)
{
    int seen = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, ACQ, RLX))
        return;
    while (swap(&word, 2, ACQ) != 0)
        futex_wait(&word, 2);
}

static void futex_release(void)
{
    if (swap(&word, 0, REL) == 2)
        futex_wake(&word, 1);
}

/* Takes a free mutex as 1 after having slept: those who still sleep are forgotten. */
static void futex_lost_acquire(void)
{
    for (;;) {
        int seen = 0;
        if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, ACQ, RLX))
            return;
        if (swap(&word, 2, ACQ) == 0) {
            store(&word, 1, RLX);
            return;
        }
        futex_wait(&word, 2);
    }
}

const struct subject futex_mutex = {"futex mutex", futex_acquire, futex_release};
const struct subject futex_lost = {"futex mutex, forgets sleepers", futex_lost_acquire, futex_release};

/* ---- the contest ---------------------------------------------------------------------------------------------- */

static int shared;

void clear_subjects(void *unused)
{
    (void)unused;
    store(&word, 0, RLX);
    store(&tail, NULL, RLX);
    store(&clh_tail, NULL, RLX);
    store(&clh_nodes[LAB_MAX_THREADS].waiting, 0, RLX);
    shared = 0;
}

void contest_setup(void *contest)
{
    clear_subjects(contest);
    lab_name(&ticket_lock, sizeof ticket_lock, "lock");
    lab_name(&word, sizeof word, "lock");
    lab_name(contest, sizeof(struct contest), "the contest");
}

void contest_thread(void *argument, int id)
{
    const struct contest *c = argument;
    for (int n = c->rounds + (id == 0 ? c->extra : 0); n > 0; n--) {
        lab_arrive(c, 0);
        c->subject->lock();
        lab_enter(c);
        if (c->touches_data)
            shared++;
        lab_leave(c);
        c->subject->unlock();
    }
}

void contest_finish(void *argument)
{
    const struct contest *c = argument;
    lab_assert(!c->touches_data || shared > 0, "somebody was inside");
}

/* ---- MCS with the element in a frame that ends with the critical section ------------------------------------- */

static _Thread_local struct node *in_frame;

static void stack_acquire(void)
{
    mcs_enqueue(in_frame);
}

static void stack_release(void)
{
    mcs_dequeue(in_frame);
}

/* Looks at the successor's element again after having let it go. */
static void stack_release_late(void)
{
    struct node *after = load(&in_frame->next, ACQ);
    mcs_dequeue(in_frame);
    if (after)
        load(&after->waiting, RLX);
}

__attribute__((noinline)) static void one_round(const struct subject *s)
{
    struct node element;
    in_frame = &element;
    s->lock();
    lab_enter(s);
    shared++;
    lab_leave(s);
    s->unlock();
}

const struct subject stack_mcs = {"mcs, element on the stack", stack_acquire, stack_release};
const struct subject stack_mcs_late = {"mcs, element on the stack, late access", stack_acquire, stack_release_late};

void on_stack_published(void *subject, int id)
{
    (void)id;
    one_round(subject);
    one_round(subject);
}
