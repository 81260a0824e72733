/* trace.h - what happened, kept only while an execution is replayed for its trace */
#pragma once
#include "model.h"

void lab_trace_reset(void);
const struct lab_event *lab_trace(size_t *length);

void lab_trace_add_read(enum lab_op op, const struct lab_location *l, int order, const struct lab_message *m,
                        bool stale, const void *pc);
void lab_trace_add_write(enum lab_op op, const struct lab_location *l, int order, const struct lab_message *m,
                         const struct lab_message *read, bool inserted, const void *pc);
void lab_trace_add_note(const char *text, uintptr_t address, uint64_t value, const void *pc);
void lab_trace_add_fence(int order, const void *pc);

/* The many rounds of a probed spinner are left out: they tell nothing. */
static inline bool lab_tracing(void)
{
    return lab_run.tracing && !lab_running()->probing;
}

static inline void lab_trace_read(enum lab_op op, const struct lab_location *l, int order,
                                  const struct lab_message *m, bool stale, const void *pc)
{
    if (lab_tracing())
        lab_trace_add_read(op, l, order, m, stale, pc);
}

static inline void lab_trace_write(enum lab_op op, const struct lab_location *l, int order,
                                   const struct lab_message *m, const struct lab_message *read, bool inserted,
                                   const void *pc)
{
    if (lab_tracing())
        lab_trace_add_write(op, l, order, m, read, inserted, pc);
}

static inline void lab_trace_note(const char *text, uintptr_t address, uint64_t value, const void *pc)
{
    if (lab_tracing())
        lab_trace_add_note(text, address, value, pc);
}

static inline void lab_trace_fence(int order, const void *pc)
{
    if (lab_tracing())
        lab_trace_add_fence(order, pc);
}
