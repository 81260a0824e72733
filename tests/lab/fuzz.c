/* fuzz.c - runs a random program (instrumented); see fuzz.h */
#include "fuzz.h"
#include <stdatomic.h>

static _Atomic int location[FUZZ_LOCATIONS];
int fuzz_read[FUZZ_READS + FUZZ_LOCATIONS];

void fuzz_setup(void *program)
{
    (void)program;
    for (int i = 0; i < FUZZ_LOCATIONS; i++)
        location[i] = 0;
    for (int i = 0; i < FUZZ_READS + FUZZ_LOCATIONS; i++)
        fuzz_read[i] = 0;
}

static int load(_Atomic int *p, int order)
{
    switch (order) {
    case __ATOMIC_RELAXED: return atomic_load_explicit(p, memory_order_relaxed);
    case __ATOMIC_ACQUIRE: return atomic_load_explicit(p, memory_order_acquire);
    default: return atomic_load_explicit(p, memory_order_seq_cst);
    }
}

static void store(_Atomic int *p, int value, int order)
{
    switch (order) {
    case __ATOMIC_RELAXED: atomic_store_explicit(p, value, memory_order_relaxed); break;
    case __ATOMIC_RELEASE: atomic_store_explicit(p, value, memory_order_release); break;
    default: atomic_store_explicit(p, value, memory_order_seq_cst);
    }
}

static int swap(_Atomic int *p, int value, int order)
{
    switch (order) {
    case __ATOMIC_RELAXED: return atomic_exchange_explicit(p, value, memory_order_relaxed);
    case __ATOMIC_ACQUIRE: return atomic_exchange_explicit(p, value, memory_order_acquire);
    case __ATOMIC_RELEASE: return atomic_exchange_explicit(p, value, memory_order_release);
    case __ATOMIC_ACQ_REL: return atomic_exchange_explicit(p, value, memory_order_acq_rel);
    default: return atomic_exchange_explicit(p, value, memory_order_seq_cst);
    }
}

static void fence(int order)
{
    switch (order) {
    case __ATOMIC_ACQUIRE: atomic_thread_fence(memory_order_acquire); break;
    case __ATOMIC_RELEASE: atomic_thread_fence(memory_order_release); break;
    case __ATOMIC_ACQ_REL: atomic_thread_fence(memory_order_acq_rel); break;
    default: atomic_thread_fence(memory_order_seq_cst);
    }
}

/* Apart from each other on purpose: two reads of one location at one place would look like a loop. */
static void step(const struct fuzz_op *op)
{
    _Atomic int *p = &location[op->location];
    switch (op->kind) {
    case FUZZ_LOAD: fuzz_read[op->slot] = load(p, op->order); break;
    case FUZZ_STORE: store(p, op->value, op->order); break;
    case FUZZ_SWAP: fuzz_read[op->slot] = swap(p, op->value, op->order); break;
    case FUZZ_FENCE: fence(op->order); break;
    }
}

void fuzz_thread(void *program, int id)
{
    const struct fuzz_program *p = program;
    for (int i = 0; i < p->count[id]; i++)
        step(&p->ops[id][i]);
}

void fuzz_final(void)
{
    for (int i = 0; i < FUZZ_LOCATIONS; i++)
        fuzz_read[FUZZ_READS + i] = location[i];
}
