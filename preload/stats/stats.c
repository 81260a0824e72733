/* stats.c - counts what happens to each lock
 *
 * Cheap where nobody waits: a row is found, a counter raised, the call noted. The stack of an acquisition is captured
 * before the lock is taken, and only if it may be wanted: for the lock's first uses, and once a thread has had to wait
 * for it. One in `sample` acquisitions is timed, of contended locks one in CONTENDED_SAMPLE until MANY_HOLDS are known.
 */
#include "quick.h"

#include "src/park/clock.h"

enum { CONTENDED_SAMPLE = 4, MANY_HOLDS = 1000 };

bool stats_on;
stats_table *stats_tables;

/* ---- rows */

/* Any thread may call it. */
static void need_detail(stats_row *row)
{
    uint16_t none = 0;
    uint32_t place;
    if (stats_detail_id(row) == 0 && (place = stats_take(&stats_tables->details_used, 1, STATS_DETAILS)) != 0)
        atomic_compare_exchange_strong_explicit(&row->detail, &none, (uint16_t)place, memory_order_relaxed,
                                                memory_order_relaxed);
}

static stats_detail *detail_of(const stats_row *row)
{
    uint32_t place = stats_detail_id(row);
    return place != 0 ? &stats_tables->details[place] : NULL;
}

static stats_row *add_row(stats_id *slot, const void *lock, stats_kind kind)
{
    stats_table *t = stats_tables;
    uint32_t place = stats_take(&t->locks_used, 1, STATS_LOCKS);
    if (place == 0)
        return NULL;
    stats_row *row = &t->locks[place];
    atomic_store_explicit(&row->kind, (uint8_t)kind, memory_order_relaxed);
    atomic_store_explicit(&row->lock, (uintptr_t)lock, memory_order_relaxed);
    uint32_t none = 0;
    if (atomic_compare_exchange_strong_explicit(slot, &none, place, memory_order_release,
                                                memory_order_acquire)) {
        if (t->sample == 1)
            need_detail(row);
        return row;
    }
    atomic_store_explicit(&row->lock, 0, memory_order_relaxed); /* given up: another thread was first */
    stats_row *theirs = &t->locks[none];
    return stats_is_of(theirs, lock, kind) ? theirs : NULL;
}

/* The lock's row, new if need be; NULL if there is no room. */
static inline stats_row *row_of(const void *lock, stats_kind kind, bool make)
{
    enum { NEIGHBOURHOOD = 512 };
    stats_row *last =
        stats_quick_row(lock, kind); /* rows stay where they are, and a child has its own in the same place */
    if (last != NULL)
        return last;
    size_t first = (size_t)stats_mix((uintptr_t)lock >> 2);
    for (size_t i = 0; i < NEIGHBOURHOOD; i++) {
        stats_id *slot = &stats_tables->index[(first + i) % STATS_INDEX];
        uint32_t place = atomic_load_explicit(slot, memory_order_acquire);
        if (PAWL_UNLIKELY(place == 0))
            return make ? add_row(slot, lock, kind) : NULL;
        stats_row *row = &stats_tables->locks[place];
        if (PAWL_LIKELY(stats_is_of(row, lock, kind)))
            return self.row = row;
    }
    return NULL;
}

/* ---- the hooks */

static bool wants_stack(const stats_row *row)
{
    return stats_tables->depth > 1 && !stats_is_quiet(row);
}

static bool is_timed(const stats_row *row)
{
    uint64_t acquisitions = stats_get(&row->acquisitions);
    uint32_t chance = stats_tables->chance;
    if (chance < UINT32_MAX / CONTENDED_SAMPLE && stats_detail_id(row) != 0 &&
        atomic_load_explicit(&row->holds, memory_order_relaxed) < MANY_HOLDS)
        chance = UINT32_MAX / CONTENDED_SAMPLE;
    return acquisitions <= STATS_FIRST_USES || stats_is_chosen(acquisitions, chance);
}

void stats_ask(stats_call *c, const void *lock, stats_kind kind, const void *site)
{
    stats_row *row = row_of(lock, kind, true);
    c->row = row;
    c->site = site;
    c->start_ns = 0;
    c->relocks = false;
    c->stack = row != NULL && wants_stack(row) ? stats_stack_here(site) : 0;
    if (row != NULL && PAWL_UNLIKELY(stats_get_id(&row->first) == 0) && stats_tables->depth <= 1)
        stats_set_id(&row->first, stats_stack_of((uintptr_t)site)); /* of which it has its name */
}

void stats_wait_begin(stats_call *c)
{
    c->start_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    c->holder = c->holder_tid = 0;
    c->held_since = 0;
    c->waiting = NULL;
    stats_row *row = c->row;
    if (row == NULL) {
        stats_enlist(c);
        return;
    }
    need_detail(row);
    stats_detail *d = detail_of(row);
    if (d != NULL)
        atomic_fetch_add_explicit(&d->waiting, 1, memory_order_relaxed);
    c->holder_tid = atomic_load_explicit(&row->owner, memory_order_acquire); /* O */
    if (c->holder_tid != 0) {
        c->holder = stats_get_id(&row->stack);
        c->held_since = stats_get(&row->since);
        if (c->holder == 0)
            c->holder = stats_stack_of(atomic_load_explicit(&row->site, memory_order_relaxed));
    }
    if (c->stack == 0)
        c->stack = stats_stack_here(c->site);
    if (stats_get_id(&row->first) == 0)
        stats_set_id(&row->first, c->stack);
    stats_enlist(c);
}

void stats_wait_end(stats_call *c)
{
    stats_detail *d = c->row != NULL ? detail_of(c->row) : NULL;
    if (d != NULL)
        atomic_fetch_sub_explicit(&d->waiting, 1, memory_order_relaxed);
    stats_discharge(c);
}

/* It has no share in what the owner writes. */
void stats_waited_in_vain(stats_call *c)
{
    uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC), ns = now - c->start_ns + 1;
    stats_detail *d = c->row != NULL ? detail_of(c->row) : NULL;
    if (d != NULL) {
        stats_add_shared(&d->vain, 1);
        stats_add_shared(&d->vain_ns, ns);
        stats_raise_shared(&d->vain_worst_ns, ns);
    } else {
        stats_record_shared(&stats_tables->beyond_wait, ns);
    }
    stats_wait_end(c);
    if (c->row == NULL)
        return;
    stats_met_in_vain(c->row, c->stack, c->holder, ns);
    stats_keep_if_long(c, now);
}

void stats_refused(const stats_call *c)
{
    stats_table *t = stats_tables;
    stats_add_shared(&t->refused[c->row != NULL ? c->row - t->locks : 0], 1);
    if (stats_get_id(&t->any_refused) == 0)
        stats_set_id(&t->any_refused, 1);
    if (c->row != NULL && c->stack != 0 && stats_get_id(&c->row->first) == 0)
        stats_set_id(&c->row->first, c->stack);
}

static void waited(const stats_call *c, uint64_t now)
{
    uint64_t ns = now - c->start_ns + 1;
    stats_detail *d = detail_of(c->row);
    stats_kind kind = atomic_load_explicit(&c->row->kind, memory_order_relaxed);
    if (d != NULL)
        stats_record(&d->wait, ns);
    else if (kind != STATS_COND)
        stats_record_shared(&stats_tables->beyond_wait, ns);
    if (kind == STATS_MUTEX && !c->relocks)
        stats_raise_shared(&stats_tables->worst_call_ns, ns);
    stats_met(c->row, c->stack, c->stack != 0 ? c->holder : 0,
              ns); /* with a holder alone, it would be a hold */
    stats_keep_if_long(c, now);
}

static void acquired_beyond(const stats_call *c)
{
    stats_add_shared(&stats_tables->beyond, 1);
    if (c->start_ns > 0) {
        stats_record_shared(&stats_tables->beyond_wait, pawl_nanoseconds(CLOCK_MONOTONIC) - c->start_ns + 1);
        stats_discharge(c);
    }
}

/* For a waiter that found the lock between two owners, handed off to a thread that did not run yet. */
static uint32_t last_holder(const stats_row *row)
{
    uint32_t stack = stats_get_id(&row->stack);
    uintptr_t site = atomic_load_explicit(&row->site, memory_order_relaxed);
    return stack != 0 || site == 0 ? stack : stats_stack_of(site);
}

void stats_acquired(stats_call *c)
{
    stats_row *row = c->row;
    if (PAWL_UNLIKELY(row == NULL)) {
        acquired_beyond(c);
        return;
    }
    stats_add(&row->acquisitions, 1);
    if (PAWL_UNLIKELY(c->start_ns > 0) && c->holder == 0)
        c->holder = last_holder(row);
    atomic_store_explicit(&row->site, (uintptr_t)c->site, memory_order_relaxed);
    stats_set_id(&row->stack, c->stack);
    stats_set_owner(row);
    if (c->stack != 0 && stats_get_id(&row->first) == 0)
        stats_set_id(&row->first, c->stack);
    if (PAWL_UNLIKELY(c->start_ns > 0)) {
        waited(c, pawl_nanoseconds(CLOCK_MONOTONIC));
        stats_wait_end(c);
    }
    if (is_timed(row)) /* last: our own work does not count as holding */
        stats_time(row);
}

void stats_time(stats_row *row)
{
    stats_set(&row->since, pawl_nanoseconds(CLOCK_MONOTONIC));
}

static void held(stats_row *row, uint64_t ns)
{
    stats_detail *d = detail_of(row);
    uint32_t stack = stats_get_id(&row->stack);
    stats_add(&row->hold_ns, ns);
    atomic_store_explicit(&row->holds, row->holds + 1, memory_order_relaxed);
    if ((float)ns > atomic_load_explicit(&row->hold_worst_ns, memory_order_relaxed))
        atomic_store_explicit(&row->hold_worst_ns, (float)ns, memory_order_relaxed);
    if (d != NULL)
        stats_record(&d->hold, ns);
    else if (stats_tables->sample == 1) /* for the report at exit */
        stats_record_shared(&stats_tables->shards[self.tid % STATS_SHARDS].hold, ns);
    if (stack != 0)
        stats_met(row, 0, stack, ns);
}

void stats_released(const void *lock, stats_kind kind)
{
    stats_row *row = row_of(lock, kind, false);
    if (row == NULL ||
        stats_get_id(&row->owner) == 0) /* acquired before there was a table, or before the fork */
        return;
    uint64_t since = stats_get(&row->since);
    if (since != 0) {
        held(row, pawl_nanoseconds(CLOCK_MONOTONIC) - since);
        stats_set(&row->since, 0);
    }
    stats_set_id(&row->owner, 0);
}

void stats_cond_woken(stats_call *c, bool signalled)
{
    c->end_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    bool known = c->row != NULL && signalled;
    c->holder = known ? stats_get_id(&c->row->stack) : 0;
    c->holder_tid = known ? stats_get_id(&c->row->owner) : 0;
    stats_wait_end(c);
}

void stats_cond_waited(const stats_call *c)
{
    if (c->row == NULL)
        return;
    stats_add(&c->row->acquisitions, 1);
    waited(c, c->end_ns);
}

void stats_signalled(const void *cond, const void *site)
{
    stats_row *row = row_of(cond, STATS_COND, false);
    if (row == NULL)
        return;
    stats_set_id(&row->stack, stats_stack_here(site));
    stats_set_id(&row->owner, self.tid);
}
