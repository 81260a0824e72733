/* wmm.h - shared by the operations of the weak-memory back end */
#pragma once
#include "shadow.h"
#include "site.h"
#include "trace.h"

/* Kinds of events in the graph. */
enum { E_LOAD = 1, E_STORE, E_RMW, E_CAS_FAILED, E_FENCE, E_KERNEL_READ };

static inline bool lab_acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static inline bool lab_releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* The effects of reading a store: the view moves up, and synchronisation happens or is kept for a fence. */
static inline void lab_read_from(struct lab_thread *t, const struct lab_location *l, const struct lab_message *m,
                                 int order)
{
    if (m->stamp > t->view[l->index])
        t->view[l->index] = m->stamp;
    if (!m->releases)
        return;
    bool now = lab_acquires(order);
    lab_clock_join(now ? &t->clock : &t->acquirable, &m->clock);
    lab_view_join(now ? t->view : t->acquirable_view, m->view, m->locations);
}

/* fence.c */
void lab_fence(int order, const void *pc);

/* plain.c */
void lab_plain(uintptr_t address, size_t size, bool write, const void *pc);
void lab_enter_function(uintptr_t sp, const void *return_address);
void lab_leave_function(void);
void lab_host_write(uintptr_t address, size_t size);
