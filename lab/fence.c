/* fence.c - fences, and the kernel's reads */
#include "wmm.h"

static uint64_t digest(const lab_stamp *view)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < lab_locations(); i++)
        if (view[i])
            sum += lab_mix(lab_location_address(i), view[i]);
    return sum;
}

static void acquire_fence(struct lab_thread *t)
{
    lab_clock_join(&t->clock, &t->acquirable);
    lab_view_join(t->view, t->acquirable_view, lab_locations());
}

static void release_fence(struct lab_thread *t)
{
    t->released = t->clock;
    memcpy(t->released_view, t->view, lab_locations() * sizeof(lab_stamp));
    t->has_released = true;
    t->clock.at[t->id]++;
}

/* What the fence learnt from S depends on the order of seq_cst operations, which the rest of the graph does not
 * show: hence the digest. S itself is the join of all fences and stores, in any order. */
void lab_sc_fence(struct lab_thread *t)
{
    lab_graph_add(t, E_FENCE, 0, digest(lab_run.sc_view));
    acquire_fence(t);
    lab_view_join(t->view, lab_run.sc_view, lab_locations());
    lab_view_join(lab_run.sc_view, t->view, lab_locations());
    release_fence(t);
}

void lab_fence(int order, const void *pc)
{
    order = lab_site_order(pc, LAB_FENCE, order);
    struct lab_thread *t = lab_running();
    if (order == __ATOMIC_SEQ_CST) {
        lab_sched_point();
        lab_sc_fence(t);
    } else {
        if (lab_acquires(order))
            acquire_fence(t);
        if (lab_releases(order))
            release_fence(t);
    }
    lab_trace_fence(order, pc);
}

/* The kernel compares a futex word under its own lock, which also orders it against wake-ups: it reads the newest
 * store, as a seq_cst load. */
uint64_t lab_load_newest(uintptr_t address, unsigned size, const void *pc)
{
    struct lab_thread *t = lab_running();
    struct lab_location *l = lab_location(address, size);
    const struct lab_message *m = lab_newest(l);
    lab_read_from(t, l, m, __ATOMIC_SEQ_CST);
    lab_shadow_access(address, size, LAB_READS | LAB_ATOMIC, pc);
    lab_graph_add(t, E_KERNEL_READ, address, m->id);
    return m->value;
}
