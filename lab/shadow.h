/* shadow.h - what is known about each eight bytes of memory in this execution
 *
 * Who accessed which bytes when (data races), what they held before the execution (undo), whether they are dead, and
 * the atomic locations in them.
 */
#pragma once
#include "model.h"

enum lab_access {
    LAB_READS = 0,
    LAB_WRITES = 1,
    LAB_ATOMIC = 2,  /* with READS or WRITES */
    LAB_RETIRES = 4, /* with WRITES: the end of a stack frame or a thread's memory */
    LAB_DESTROYS = 8, /* with WRITES */
};

struct lab_record {
    const void *pc;
    uint32_t clock;
    uint8_t mask, access, thread;
};

struct lab_cell {
    uintptr_t address;
    uint64_t execution; /* what follows is valid for this one, `stack` for all */
    uint64_t original;
    uint8_t saved, dead;     /* masks: bytes of which `original` is valid; destroyed bytes */
    bool listed;             /* with the live stack cells of its fiber */
    struct lab_fiber *stack; /* the fiber on whose stack it lies, NULL if none */
    unsigned count, capacity;
    struct lab_record *records;
    struct lab_location *locations;
};

struct lab_cell *lab_cell(uintptr_t address);

/* Checks an access by the running thread against all others', and remembers it. */
void lab_shadow_access(uintptr_t address, size_t size, unsigned access, const void *pc);

/* The bytes may be overwritten from here on: keep what they held. */
void lab_shadow_save(uintptr_t address, size_t size);

void lab_shadow_destroy(uintptr_t address, size_t size, const void *pc);

/* The running thread's memory in [low, high) ends: like a write, but reported as what it is. `restored` puts back
 * what it held when the execution began. */
void lab_shadow_retire(uintptr_t low, uintptr_t high, bool restored);
void lab_shadow_retire_stack(struct lab_fiber *f, uintptr_t below);

void lab_shadow_begin(void);  /* a new execution */
void lab_shadow_undo(void);   /* memory as before the execution */
void lab_shadow_forget(void); /* a new exploration */

/* The same for setup code, which runs on the host: its writes are taken back after the exploration. */
void lab_setup_save(uintptr_t address, size_t size);
void lab_setup_undo(void);
