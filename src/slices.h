/* slices.h - the slices of a thread (pawl/detail/slice.h), as a table of their rules */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum pawl_in_child { PAWL_KEPT, PAWL_ZEROED } pawl_in_child;

typedef struct pawl_slice {
    const char *name;
    void *(*address)(void); /* of the calling thread's */
    size_t size;
    bool shared; /* other threads write it */
    pawl_in_child child;
    void (*leave)(void); /* or NULL */
} pawl_slice;

/* One after the other, then NULL. */
const pawl_slice *pawl_slice_at(int i);

/* Between a shared slice and whatever is next to it in the thread-local storage there are so many bytes. Two objects, each
 * of whole units of the alignment that every such storage has, then share no sector. */
#define PAWL_TLS_ALIGNMENT 16
#define PAWL_APART         (PAWL_SECTOR - PAWL_TLS_ALIGNMENT)
