/* plain.c - plain accesses, and the frames they may lie in */
#include "wmm.h"
#include "machine.h"

enum { PLAIN_PATIENCE = 1 << 22 };

static bool own_memory(uintptr_t address)
{
    const struct lab_fiber *f = lab_current;
    return address - f->stack_low < f->stack_high - f->stack_low || address - f->tls_low < f->tls_high - f->tls_low;
}

/* No scheduling point: if the order of plain accesses mattered there would be a race, and races are found by
 * happens-before whatever the order. A spin loop may count or seed its back-off in its own memory. */
void lab_plain(uintptr_t address, size_t size, bool write, const void *pc)
{
    if (write && !own_memory(address))
        lab_spin_clear(lab_running());
    if (++lab_run.plain_streak > PLAIN_PATIENCE)
        lab_violation(LAB_NO_PROGRESS, "a loop of plain accesses does not end", address, pc, NULL);
    lab_shadow_access(address, size, write ? LAB_WRITES : LAB_READS, pc);
}

/* The frame's own end, not the start of the next instrumented frame: callers that are not instrumented may have
 * frames in between. */
void lab_enter_function(uintptr_t sp, const void *return_address)
{
    struct lab_thread *t = lab_running();
    if (t->depth < LAB_FRAMES)
        t->frames[t->depth] = lab_frame_end(sp, return_address, t->fiber->stack_high);
    t->depth++;
}

void lab_leave_function(void)
{
    struct lab_thread *t = lab_running();
    if (t->depth > 0 && --t->depth < LAB_FRAMES)
        lab_shadow_retire_stack(t->fiber, t->frames[t->depth]);
}

/* Setup's own locals are gone by the time its other writes are undone. */
void lab_host_write(uintptr_t address, size_t size)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool local = address >= here && address < lab_run.host_frame;
    if (lab_run.in_setup && !local)
        lab_setup_save(address, size);
}
