/* axiom.c - RC11 by enumeration: every reads-from and modification order, kept if the axioms hold
 *
 * Written from the paper (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017) with C++20's release sequences. It shares
 * nothing with the lab, so that the two can be compared. Relations are bit matrices.
 */
#include "fuzz.h"
#include <string.h>

enum { MAX = FUZZ_LOCATIONS + FUZZ_THREADS * FUZZ_OPS };

typedef struct { uint32_t row[MAX]; } relation;

struct event {
    const struct fuzz_op *op; /* NULL: initial store */
    int thread, location, value, order;
    bool reads, writes, fence;
};

static struct event events[MAX];
static int count;
static relation sb;
static int source[MAX];                               /* reads-from, by reader */
static int order_of[FUZZ_LOCATIONS][MAX], writes[FUZZ_LOCATIONS]; /* modification order */
static bool strict_sc;
static struct fuzz_set *result;

/* ---- relations ------------------------------------------------------------------------------------------------ */

static relation join(relation a, relation b)
{
    for (int i = 0; i < count; i++)
        a.row[i] |= b.row[i];
    return a;
}

static relation then(relation a, relation b)
{
    relation r = {{0}};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (a.row[i] >> k & 1)
                r.row[i] |= b.row[k];
    return r;
}

static relation optional(relation a)
{
    for (int i = 0; i < count; i++)
        a.row[i] |= 1u << i;
    return a;
}

static relation closure(relation a)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < count; i++)
            if (a.row[i] >> k & 1)
                a.row[i] |= a.row[k];
    return a;
}

static bool irreflexive(relation a)
{
    for (int i = 0; i < count; i++)
        if (a.row[i] >> i & 1)
            return false;
    return true;
}

static relation keep(relation a, uint32_t from, uint32_t to)
{
    for (int i = 0; i < count; i++)
        a.row[i] = from >> i & 1 ? a.row[i] & to : 0;
    return a;
}

static relation by_location(relation a, bool same)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            bool equal = !events[i].fence && !events[j].fence && events[i].location == events[j].location;
            if (equal != same)
                a.row[i] &= ~(1u << j);
        }
    return a;
}

/* ---- axioms --------------------------------------------------------------------------------------------------- */

static uint32_t set_of(bool (*member)(const struct event *))
{
    uint32_t set = 0;
    for (int i = 0; i < count; i++)
        set |= (uint32_t)member(&events[i]) << i;
    return set;
}

static bool at_least_release(const struct event *e)
{
    return e->order == __ATOMIC_RELEASE || e->order == __ATOMIC_ACQ_REL || e->order == __ATOMIC_SEQ_CST;
}

static bool at_least_acquire(const struct event *e)
{
    return e->order == __ATOMIC_ACQUIRE || e->order == __ATOMIC_ACQ_REL || e->order == __ATOMIC_SEQ_CST;
}

static bool release_write(const struct event *e) { return e->writes && at_least_release(e); }
static bool release_fence(const struct event *e) { return e->fence && at_least_release(e); }
static bool acquire_read(const struct event *e) { return e->reads && at_least_acquire(e); }
static bool acquire_fence(const struct event *e) { return e->fence && at_least_acquire(e); }
static bool sc_access(const struct event *e) { return !e->fence && e->order == __ATOMIC_SEQ_CST; }
static bool sc_fence(const struct event *e) { return e->fence && e->order == __ATOMIC_SEQ_CST; }
static bool is_write(const struct event *e) { return e->writes; }
static bool is_read(const struct event *e) { return e->reads; }
static bool is_rmw(const struct event *e) { return e->reads && e->writes; }

static relation synchronises(relation rf)
{
    uint32_t write = set_of(is_write), read = set_of(is_read);
    relation sequence = optional(closure(keep(rf, ~0u, set_of(is_rmw)))); /* (rf; rmw)*, an RMW being one event */
    relation start = join(keep(optional((relation){{0}}), set_of(release_write), write),
                          keep(sb, set_of(release_fence), write));
    relation end = join(keep(optional((relation){{0}}), read, set_of(acquire_read)),
                        keep(sb, read, set_of(acquire_fence)));
    return then(then(then(start, sequence), rf), end);
}

static bool consistent(relation rf, relation mo, relation fr)
{
    relation eco = closure(join(join(rf, mo), fr));
    relation hb = closure(join(sb, synchronises(rf)));
    if (!irreflexive(hb) || !irreflexive(then(hb, optional(eco))) || !irreflexive(eco))
        return false;
    if (!irreflexive(then(fr, mo))) /* an RMW is one event: nothing between it and what it read */
        return false;
    relation thin_air = join(sb, rf);
    if (!irreflexive(closure(thin_air)))
        return false;

    relation apart = by_location(sb, false);
    relation scb = join(join(sb, then(then(apart, hb), apart)), join(by_location(hb, true), join(mo, fr)));
    uint32_t access = set_of(sc_access), fence = set_of(sc_fence);
    relation none = {{0}}, identity = optional(none);
    relation left = join(keep(identity, access, access), keep(optional(hb), fence, ~0u));
    relation right = join(keep(identity, access, access), keep(optional(hb), ~0u, fence));
    relation psc = join(then(then(left, scb), right), keep(join(hb, then(then(hb, eco), hb)), fence, fence));
    return irreflexive(closure(strict_sc ? join(psc, thin_air) : psc));
}

/* ---- enumeration ---------------------------------------------------------------------------------------------- */

static void judge(void)
{
    relation rf = {{0}}, mo = {{0}}, fr = {{0}};
    fuzz_outcome o = 0;
    for (int l = 0; l < FUZZ_LOCATIONS; l++) {
        for (int i = 0; i < writes[l]; i++)
            for (int j = i + 1; j < writes[l]; j++)
                mo.row[order_of[l][i]] |= 1u << order_of[l][j];
        o |= (fuzz_outcome)events[order_of[l][writes[l] - 1]].value << 4 * (FUZZ_READS + l);
    }
    for (int i = 0; i < count; i++)
        if (events[i].reads) {
            rf.row[source[i]] |= 1u << i;
            fr.row[i] |= mo.row[source[i]] & ~(1u << i);
            o |= (fuzz_outcome)events[source[i]].value << 4 * events[i].op->slot;
        }
    if (consistent(rf, mo, fr))
        fuzz_add(result, o);
}

/* Permutes the stores of each location after the initial one. */
static void choose_order(int l, int from)
{
    if (l == FUZZ_LOCATIONS) {
        judge();
        return;
    }
    if (from >= writes[l] - 1) {
        choose_order(l + 1, 1);
        return;
    }
    for (int i = from; i < writes[l]; i++) {
        int *a = order_of[l], swapped = a[from];
        a[from] = a[i];
        a[i] = swapped;
        choose_order(l, from + 1);
        a[i] = a[from];
        a[from] = swapped;
    }
}

static void choose_sources(int event)
{
    while (event < count && !events[event].reads)
        event++;
    if (event == count) {
        choose_order(0, 1);
        return;
    }
    int l = events[event].location;
    for (int i = 0; i < writes[l]; i++)
        if (order_of[l][i] != event) {
            source[event] = order_of[l][i];
            choose_sources(event + 1);
        }
}

static void add_event(const struct fuzz_op *op, int thread, int location)
{
    struct event *e = &events[count];
    *e = (struct event){.op = op, .thread = thread, .location = location};
    e->fence = op && op->kind == FUZZ_FENCE;
    e->reads = op && (op->kind == FUZZ_LOAD || op->kind == FUZZ_SWAP);
    e->writes = !op || op->kind == FUZZ_STORE || op->kind == FUZZ_SWAP;
    e->order = op ? op->order : __ATOMIC_RELAXED;
    e->value = op ? op->value : 0;
    for (int i = 0; i < count; i++)
        if (op && (events[i].thread == thread || !events[i].op))
            sb.row[i] |= 1u << count;
    if (e->writes)
        order_of[location][writes[location]++] = count;
    count++;
}

void axiom_outcomes(const struct fuzz_program *p, bool strict, struct fuzz_set *set)
{
    count = 0;
    strict_sc = strict;
    memset(&sb, 0, sizeof sb);
    memset(writes, 0, sizeof writes);
    result = set;
    for (int l = 0; l < FUZZ_LOCATIONS; l++)
        add_event(NULL, -1, l);
    for (int t = 0; t < p->threads; t++)
        for (int i = 0; i < p->count[t]; i++)
            add_event(&p->ops[t][i], t, p->ops[t][i].location);
    choose_sources(0);
}
