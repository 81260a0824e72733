/* wmm.c - what each operation does in the memory model
 *
 *   load     returns any store not older than the thread's view of the location (and, if seq_cst, than S's)
 *   store    enters the modification order anywhere above the view; usually last
 *   RMW      reads a store that no other RMW has read and comes right after it; usually the last
 *   acquire  joins the view and clock of the store read; a relaxed load keeps them for a later acquire fence
 *   release  the store carries the thread's view and clock; a relaxed one carries those of the last release fence
 *   RMW      also carries what the store it read carried: the release sequence. A plain relaxed store of the
 *            releasing thread does not continue one (C++20's rule; C11's is weaker for the programmer's errors)
 *   seq_cst  S is a view that all seq_cst operations share. A fence joins its thread's view and S both ways; a store
 *            comes after S's position and becomes it; a load reads nothing older and leaves S alone. The order in
 *            which seq_cst operations execute is RC11's psc order. None of this touches clocks.
 *
 * tests/lab/axiom.c holds all this against RC11's axioms. One known difference: because the seq_cst order is the order
 * of execution, it agrees with happens-before, as C11 says. RC11 and C++20 gave that up for programs that mix seq_cst
 * and weaker accesses to one location (only POWER exploits it); outcomes that need it are not explored.
 */
#include "wmm.h"
#include "backend.h"

enum { MAX_CANDIDATES = 32 };

/* The oldest store that an operation of this order may read, or after which it may write. */
static lab_stamp oldest(const struct lab_thread *t, const struct lab_location *l, int order)
{
    lab_stamp seen = t->view[l->index], sc = lab_run.sc_view[l->index];
    return order == __ATOMIC_SEQ_CST && sc > seen ? sc : seen;
}

/* ---- parts of operations -------------------------------------------------------------------------------------- */

static void fill_release(const struct lab_thread *t, struct lab_message *m, int order, const struct lab_message *read)
{
    size_t bytes = m->locations * sizeof(lab_stamp);
    if (lab_releases(order)) {
        m->clock = t->clock;
        memcpy(m->view, t->view, bytes);
    } else if (t->has_released) {
        m->clock = t->released;
        memcpy(m->view, t->released_view, bytes);
    } else {
        memset(&m->clock, 0, sizeof m->clock);
        memset(m->view, 0, bytes);
    }
    if (read && read->releases) {
        lab_clock_join(&m->clock, &read->clock);
        lab_view_join(m->view, read->view, read->locations);
    }
}

/* Writes before stores[at], or last. `read` is the store that the operation read if it is an RMW. */
static struct lab_message *write_at(struct lab_thread *t, struct lab_location *l, unsigned at, uint64_t value,
                                    int order, const struct lab_message *read, const void *pc)
{
    bool carries = lab_releases(order) || t->has_released || (read && read->releases);
    bool last = at == l->count;
    uint64_t before = l->stores[at - 1]->id, after = last ? 0 : l->stores[at]->id;
    struct lab_message *m = lab_insert(l, at, value, carries);
    m->thread = (uint8_t)t->id;
    m->rmw = read != NULL;
    m->step = lab_run.steps;
    m->pc = pc;
    m->id = lab_event_id(t, l->address);
    t->view[l->index] = m->stamp;
    if (carries)
        fill_release(t, m, order, read);
    if (lab_releases(order))
        t->clock.at[t->id]++; /* what follows is not covered by this release */
    if (order == __ATOMIC_SEQ_CST)
        lab_run.sc_view[l->index] = m->stamp;
    if (last)
        memcpy((void *)l->address, &value, l->size);
    lab_graph_add(t, read ? E_RMW : E_STORE, l->address, lab_mix(before, after));
    lab_spin_wake(l, value);
    lab_monitor_writes(t, l->address);
    return m;
}

static bool can_follow(const struct lab_location *l, unsigned at)
{
    return at == l->count || (!l->stores[at]->rmw && l->stores[at]->stamp - l->stores[at - 1]->stamp > 1);
}

/* A bound on what one choice may offer. */
static bool room(unsigned n)
{
    if (n < MAX_CANDIDATES)
        return true;
    lab_run.truncated = true;
    return false;
}

static struct lab_location *begin(uintptr_t address, unsigned size)
{
    lab_sched_point();
    return lab_location(address, size);
}

/* ---- operations ----------------------------------------------------------------------------------------------- */

static uint64_t load(uintptr_t address, unsigned size, int order, const void *pc)
{
    order = lab_site_order(pc, LAB_LOAD, order);
    struct lab_location *l = begin(address, size);
    struct lab_thread *t = lab_running();
    lab_stamp low = oldest(t, l, order);
    unsigned candidates[MAX_CANDIDATES], n = 0, i = l->count - 1;
    candidates[n++] = i;
    if (lab_run.left.stale > 0 && !t->fresh)
        while (i-- > 0 && l->stores[i]->stamp >= low && room(n))
            if (!lab_spin_redundant(t, pc, l, l->stores[i]->stamp))
                candidates[n++] = i;
    unsigned pick = lab_choose(LAB_CHOOSE_STORE, n);
    lab_run.left.stale -= pick > 0;

    const struct lab_message *m = l->stores[candidates[pick]];
    lab_read_from(t, l, m, order);
    lab_shadow_access(address, size, LAB_READS | LAB_ATOMIC, pc);
    lab_graph_add(t, E_LOAD, address, m->id);
    lab_trace_read(LAB_LOAD, l, order, m, pick > 0, pc);
    uint64_t value = m->value;
    lab_spin_note(t, pc, l, value, m->stamp);
    return value;
}

static void store(uintptr_t address, unsigned size, uint64_t value, int order, const void *pc)
{
    order = lab_site_order(pc, LAB_STORE, order);
    struct lab_location *l = begin(address, size);
    struct lab_thread *t = lab_running();
    lab_stamp low = oldest(t, l, order);
    unsigned candidates[MAX_CANDIDATES], n = 0, at = l->count;
    candidates[n++] = at;
    if (lab_run.left.inserts > 0)
        while (--at > 0 && l->stores[at]->stamp > low && room(n))
            if (can_follow(l, at))
                candidates[n++] = at;
    unsigned pick = lab_choose(LAB_CHOOSE_STORE, n);
    lab_run.left.inserts -= pick > 0;

    lab_shadow_access(address, size, LAB_WRITES | LAB_ATOMIC, pc);
    const struct lab_message *m = write_at(t, l, candidates[pick], value, order, NULL, pc);
    lab_trace_write(LAB_STORE, l, order, m, NULL, pick > 0, pc);
    lab_spin_clear(t);
}

/* Reads stores[at] and writes right after it. */
static void update(struct lab_thread *t, struct lab_location *l, unsigned at, uint64_t value, int order,
                   enum lab_op op, const void *pc)
{
    const struct lab_message *read = l->stores[at];
    bool inserted = at + 1 < l->count;
    lab_read_from(t, l, read, order);
    lab_shadow_access(l->address, l->size, LAB_WRITES | LAB_ATOMIC, pc);
    const struct lab_message *m = write_at(t, l, at + 1, value, order, read, pc);
    lab_trace_write(op, l, order, m, read, inserted, pc);
    if (value == read->value)
        lab_spin_note(t, pc, l, value, m->stamp);
    else
        lab_spin_clear(t);
}

static uint64_t rmw(uintptr_t address, unsigned size, enum lab_rmw op, uint64_t operand, int order, const void *pc)
{
    order = lab_site_order(pc, LAB_RMW, order);
    struct lab_location *l = begin(address, size);
    struct lab_thread *t = lab_running();
    lab_stamp low = oldest(t, l, order);
    unsigned candidates[MAX_CANDIDATES], n = 0, at = l->count - 1;
    candidates[n++] = at;
    if (lab_run.left.inserts > 0 && !t->fresh)
        while (at-- > 0 && l->stores[at]->stamp >= low && room(n))
            if (can_follow(l, at + 1))
                candidates[n++] = at;
    unsigned pick = lab_choose(LAB_CHOOSE_STORE, n);
    lab_run.left.inserts -= pick > 0;

    uint64_t old = l->stores[candidates[pick]]->value;
    update(t, l, candidates[pick], lab_apply(op, old, operand, size), order, LAB_RMW, pc);
    return old;
}

struct outcome {
    unsigned at;
    bool success, stale, insert, spurious;
};

/* All that a CAS may do within the budgets, the ordinary outcome first. The failed read has the failure order and,
 * like a load, may be stale; a success may, like an RMW, take an older store that no RMW has taken yet. */
static unsigned outcomes(const struct lab_thread *t, const struct lab_location *l, uint64_t expected, bool weak,
                         int success, int failure, struct outcome *list)
{
    const struct lab_budget *left = &lab_run.left;
    lab_stamp low = oldest(t, l, success), low_failure = oldest(t, l, failure);
    unsigned n = 0;
    for (unsigned at = l->count; at-- > 0 && room(n + 1);) {
        const struct lab_message *m = l->stores[at];
        bool newest = at + 1 == l->count, equal = m->value == expected;
        bool can_fail = m->stamp >= low_failure && (newest || (left->stale > 0 && !t->fresh));
        bool can_succeed = m->stamp >= low && (newest || (left->inserts > 0 && can_follow(l, at + 1)));
        if (equal && can_succeed)
            list[n++] = (struct outcome){at, true, false, !newest, false};
        if (!equal && can_fail)
            list[n++] = (struct outcome){at, false, !newest, false, false};
        if (equal && can_fail && weak && left->spurious > 0)
            list[n++] = (struct outcome){at, false, !newest, false, true};
    }
    return n;
}

static bool cas(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired, bool weak, int success,
                int failure, const void *pc)
{
    lab_site_cas_orders(pc, &success, &failure);
    struct lab_location *l = begin(address, size);
    struct lab_thread *t = lab_running();
    struct outcome list[MAX_CANDIDATES];
    unsigned n = outcomes(t, l, *expected, weak, success, failure, list);
    struct outcome o = list[lab_choose(LAB_CHOOSE_STORE, n)];
    lab_run.left.stale -= o.stale;
    lab_run.left.inserts -= o.insert;
    lab_run.left.spurious -= o.spurious;

    const struct lab_message *m = l->stores[o.at];
    if (o.success) {
        update(t, l, o.at, desired, success, LAB_CAS, pc);
        return true;
    }
    lab_read_from(t, l, m, failure);
    lab_shadow_access(address, size, LAB_READS | LAB_ATOMIC, pc);
    lab_graph_add(t, E_CAS_FAILED, address, m->id);
    lab_trace_read(LAB_CAS, l, failure, m, o.stale, pc);
    *expected = m->value;
    if (o.spurious)
        lab_spin_clear(t);
    else
        lab_spin_note(t, pc, l, m->value, m->stamp);
    return false;
}

const struct lab_backend lab_weak_memory = {
    .plain = lab_plain,
    .load = load,
    .store = store,
    .rmw = rmw,
    .cas = cas,
    .fence = lab_fence,
    .enter_function = lab_enter_function,
    .leave_function = lab_leave_function,
    .host_write = lab_host_write,
};
