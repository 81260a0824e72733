/* shadow.c - see shadow.h */
#include "shadow.h"
#include "heap.h"
#include <stdlib.h>

static struct lab_cell **table; /* open addressing, a power of two, at most half full */
static size_t table_size, table_count;
static struct lab_cell **touched; /* in this execution */
static size_t touched_count, touched_capacity;
static struct lab_cell **on_stack[LAB_SLOTS]; /* those of them on a fiber's stack */
static size_t on_stack_count[LAB_SLOTS], on_stack_capacity[LAB_SLOTS];
static uint64_t execution;

static struct { uintptr_t address; uint8_t byte; } *setup_log;
static size_t setup_count, setup_capacity;

static void *grown(void *array, size_t *capacity, size_t element)
{
    *capacity = *capacity ? 2 * *capacity : 64;
    return lab_reallocate(array, *capacity * element);
}

/* ---- cells ---------------------------------------------------------------------------------------------------- */

static struct lab_cell **slot_of(uintptr_t address)
{
    size_t i = lab_mix(address, 0) & (table_size - 1);
    while (table[i] && table[i]->address != address)
        i = (i + 1) & (table_size - 1);
    return &table[i];
}

static void grow_table(void)
{
    struct lab_cell **old = table;
    size_t old_size = table_size;
    table_size = old_size ? 2 * old_size : 4096;
    table = lab_allocate(table_size * sizeof *table);
    for (size_t i = 0; i < old_size; i++)
        if (old[i])
            *slot_of(old[i]->address) = old[i];
    free(old);
}

static void record(struct lab_cell *c, struct lab_record r)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? c->capacity : 4;
        c->records = grown(c->records, &capacity, sizeof *c->records);
        c->capacity = (unsigned)capacity;
    }
    c->records[c->count++] = r;
}

static void list_on_stack(struct lab_cell *c)
{
    int id = c->stack->id;
    if (on_stack_count[id] == on_stack_capacity[id])
        on_stack[id] = grown(on_stack[id], &on_stack_capacity[id], sizeof *on_stack[id]);
    on_stack[id][on_stack_count[id]++] = c;
    c->listed = true;
}

/* First use of these bytes in this execution. Thread-local memory of a thread that took over from one that exited
 * was written at that moment, even if nobody had looked at these bytes before. */
static void refresh(struct lab_cell *c)
{
    c->execution = execution;
    c->saved = c->dead = 0;
    c->listed = false;
    c->count = 0;
    c->locations = NULL;
    if (touched_count == touched_capacity)
        touched = grown(touched, &touched_capacity, sizeof *touched);
    touched[touched_count++] = c;

    const struct lab_fiber *f = lab_run.restarts ? lab_fiber_of_tls(c->address) : NULL;
    if (f && f->id < LAB_SLOTS && lab_threads[f->id].restarted)
        record(c, (struct lab_record){NULL, lab_threads[f->id].restarted, 0xff, LAB_WRITES | LAB_RETIRES,
                                      (uint8_t)f->id});
}

struct lab_cell *lab_cell(uintptr_t address)
{
    address &= ~(uintptr_t)7;
    struct lab_cell **slot = slot_of(address);
    if (!*slot) {
        if (2 * ++table_count > table_size) {
            grow_table();
            slot = slot_of(address);
        }
        *slot = lab_allocate(sizeof **slot);
        (*slot)->address = address;
        (*slot)->stack = lab_fiber_of_stack(address);
    }
    struct lab_cell *c = *slot;
    if (c->execution != execution)
        refresh(c);
    if (c->stack && !c->listed)
        list_on_stack(c);
    return c;
}

/* ---- accesses ------------------------------------------------------------------------------------------------- */

static uint8_t mask_of(const struct lab_cell *c, uintptr_t low, uintptr_t high)
{
    unsigned from = low > c->address ? (unsigned)(low - c->address) : 0;
    unsigned to = high < c->address + 8 ? (unsigned)(high - c->address) : 8;
    return (uint8_t)((0xff << from) & (0xff >> (8 - to)));
}

static uintptr_t first_byte(const struct lab_cell *c, unsigned mask)
{
    return c->address + (unsigned)__builtin_ctz(mask);
}

static void report(uintptr_t address, const struct lab_record *other, unsigned access, const void *pc)
{
    struct lab_party by = {other->thread, other->pc};
    if ((other->access | access) & LAB_DESTROYS)
        lab_violation(LAB_DESTROYED, "access that is not ordered before the destruction", address, pc, &by);
    if ((other->access | access) & LAB_RETIRES)
        lab_violation(LAB_DEAD_THREAD, "access to memory whose owner is gone, or was free to go", address, pc, &by);
    else
        lab_violation(LAB_DATA_RACE, "data race", address, pc, &by);
}

/* A plain write supersedes every record of its bytes: they all happen before it, or there was a race. An atomic or
 * a read supersedes only the thread's own earlier accesses of the same kind. */
static void check_cell(struct lab_cell *c, uint8_t mask, unsigned access, const void *pc)
{
    const struct lab_thread *me = lab_running();
    bool sweeps = (access & LAB_WRITES) && !(access & LAB_ATOMIC);
    unsigned kept = 0;
    if (c->dead & mask)
        lab_violation(LAB_DESTROYED, "access to destroyed memory", first_byte(c, c->dead & mask), pc, NULL);
    for (unsigned i = 0; i < c->count; i++) {
        struct lab_record r = c->records[i];
        if (r.mask & mask) {
            bool conflict = ((r.access | access) & LAB_WRITES) && !(r.access & access & LAB_ATOMIC);
            if (conflict && r.thread != me->id && r.clock > me->clock.at[r.thread])
                report(first_byte(c, r.mask & mask), &r, access, pc);
            if (sweeps || (r.thread == me->id && r.access == access))
                r.mask &= (uint8_t)~mask;
        }
        if (r.mask)
            c->records[kept++] = r;
    }
    c->count = kept;
    record(c, (struct lab_record){pc, me->clock.at[me->id], mask, (uint8_t)access, (uint8_t)me->id});
}

/* Byte by byte: bytes that the lab does not see may be next to it. Stacks start afresh and need no undo. */
static void copy_bytes(void *to, const void *from, uint8_t mask)
{
    if (mask == 0xff) {
        memcpy(to, from, 8);
        return;
    }
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1)
            ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

static void save(struct lab_cell *c, uint8_t mask)
{
    mask &= (uint8_t)~c->saved;
    if (!mask || c->stack)
        return;
    copy_bytes(&c->original, (const void *)c->address, mask);
    c->saved |= mask;
}

static void restore(const struct lab_cell *c)
{
    if (c->saved)
        copy_bytes((void *)c->address, &c->original, c->saved);
}

static bool overlaps(const struct lab_location *l, uintptr_t low, uintptr_t high)
{
    return l->address < high && low < l->address + l->size;
}

/* Below its stack pointer a fiber has no frames. */
static void check_frame(const struct lab_cell *c, const void *pc)
{
    if (c->stack != lab_current && c->address < (uintptr_t)c->stack->sp)
        lab_violation(LAB_DEAD_THREAD, "access to a stack frame that is gone", c->address, pc, NULL);
}

void lab_shadow_access(uintptr_t address, size_t size, unsigned access, const void *pc)
{
    uintptr_t high = address + size;
    for (uintptr_t a = address & ~(uintptr_t)7; a < high; a += 8) {
        struct lab_cell *c = lab_cell(a);
        uint8_t mask = mask_of(c, address, high);
        if (c->stack)
            check_frame(c, pc);
        check_cell(c, mask, access, pc);
        if (!(access & LAB_WRITES))
            continue;
        save(c, mask);
        if (!(access & LAB_ATOMIC))
            for (struct lab_location *l = c->locations; l; l = l->next)
                if (overlaps(l, address, high))
                    lab_plain_write(l, lab_current);
    }
}

void lab_shadow_save(uintptr_t address, size_t size)
{
    for (uintptr_t a = address & ~(uintptr_t)7; a < address + size; a += 8) {
        struct lab_cell *c = lab_cell(a);
        save(c, mask_of(c, address, address + size));
    }
}

void lab_shadow_destroy(uintptr_t address, size_t size, const void *pc)
{
    lab_shadow_access(address, size, LAB_WRITES | LAB_DESTROYS, pc);
    for (uintptr_t a = address & ~(uintptr_t)7; a < address + size; a += 8) {
        struct lab_cell *c = lab_cell(a);
        c->dead |= mask_of(c, address, address + size);
    }
}

/* ---- the end of stack frames and threads ---------------------------------------------------------------------- */

static void retire(struct lab_cell *c)
{
    check_cell(c, 0xff, LAB_WRITES | LAB_RETIRES, NULL);
    for (struct lab_location *l = c->locations; l; l = l->next) {
        lab_plain_write(l, lab_current);
        l->retired = true;
    }
}

void lab_shadow_retire(uintptr_t low, uintptr_t high, bool restored)
{
    for (size_t i = 0; i < touched_count; i++) {
        struct lab_cell *c = touched[i];
        if (c->address + 8 <= low || c->address >= high)
            continue;
        retire(c);
        if (restored)
            restore(c);
    }
}

void lab_shadow_retire_stack(struct lab_fiber *f, uintptr_t below)
{
    struct lab_cell **cells = on_stack[f->id];
    size_t kept = 0;
    for (size_t i = 0; i < on_stack_count[f->id]; i++) {
        struct lab_cell *c = cells[i];
        if (c->address < below) {
            retire(c);
            c->listed = false;
        } else {
            cells[kept++] = c;
        }
    }
    on_stack_count[f->id] = kept;
}

/* ---- executions ----------------------------------------------------------------------------------------------- */

void lab_shadow_begin(void)
{
    if (!table)
        grow_table();
    execution++;
    touched_count = 0;
    memset(on_stack_count, 0, sizeof on_stack_count);
}

void lab_shadow_undo(void)
{
    for (size_t i = 0; i < touched_count; i++)
        restore(touched[i]);
    touched_count = 0;
}

void lab_shadow_forget(void)
{
    for (size_t i = 0; i < table_size; i++)
        if (table[i]) {
            free(table[i]->records);
            free(table[i]);
        }
    free(table);
    table = NULL;
    table_size = table_count = touched_count = 0;
}

void lab_setup_save(uintptr_t address, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (setup_count == setup_capacity)
            setup_log = grown(setup_log, &setup_capacity, sizeof *setup_log);
        setup_log[setup_count].address = address + i;
        setup_log[setup_count++].byte = *(const uint8_t *)(address + i);
    }
}

void lab_setup_undo(void)
{
    while (setup_count) {
        setup_count--;
        *(uint8_t *)setup_log[setup_count].address = setup_log[setup_count].byte;
    }
}
