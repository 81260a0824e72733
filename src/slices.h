/* slices.h - the slices of a thread (pawl/detail/slice.h), as a table of their rules */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum pawl_in_child { PAWL_KEPT, PAWL_ZEROED } pawl_in_child;

typedef struct pawl_slice {
    const char *name;
    void *(*address)(void); /* in the calling thread */
    size_t size;
    bool shared; /* other threads write it */
    pawl_in_child child;
    void (*leave)(void); /* or NULL */
} pawl_slice;

/* Slice number `i`; NULL after the last. */
const pawl_slice *pawl_slice_at(int i);

/* Bytes between a shared slice and its neighbours in thread-local storage. Objects there are aligned to
 * PAWL_TLS_ALIGNMENT, so with this gap no two share a sector. */
#define PAWL_TLS_ALIGNMENT 16
#define PAWL_APART         (PAWL_SECTOR - PAWL_TLS_ALIGNMENT)
