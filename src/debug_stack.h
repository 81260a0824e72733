/* debug_stack.h - call stacks, each kept once */
#pragma once

#include <pawl/detail/atomic.h>

#define DEBUG_FRAMES 16

typedef struct debug_stack {
    struct debug_stack *next; /* with the same hash */
    int depth;
    void *frame[DEBUG_FRAMES];
} debug_stack;

/* This thread's stack from that return address on, without libpawl's own frames. Lasts for ever; null if there is no
 * memory for it. */
const debug_stack *pawl_debug_stack_here(const void *caller);

/* Zeroed memory that lasts for ever, straight from the system; null if there is none. */
void *pawl_debug_memory(size_t size);

/* Calls what loads code and allocates memory on its first call. */
void pawl_debug_stack_prepare(void);
