/* apart.h - that writes to a thread's shared slices disturb nothing else in its thread-local storage */
#pragma once

#include "../src/slices.h"

#include <pawl/detail/atomic.h>

#include <link.h>

typedef struct apart_range {
    const char *begin, *end;
} apart_range;

/* Whether all of it is in the thread-local storage of one library or program. */
static inline int apart_storage_holds(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size;
    const apart_range *range = arg;
    const char *storage = object->dlpi_tls_data;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS && storage != NULL && range->begin >= storage &&
            range->end <= storage + object->dlpi_phdr[i].p_memsz)
            return 1;
    return 0;
}

static inline bool apart_is(const pawl_slice *shared)
{
    const char *at = shared->address();
    apart_range range = {at - PAWL_APART, at + shared->size + PAWL_APART};
    if ((uintptr_t)at % PAWL_TLS_ALIGNMENT != 0 || dl_iterate_phdr(apart_storage_holds, &range) == 0)
        return false;
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++) {
        const char *other = s->address();
        if (s != shared && other < range.end && other + s->size > range.begin)
            return false;
    }
    return true;
}

/* The name of a shared slice of the calling thread that is too near to something, or NULL. */
static inline const char *apart_failed(void)
{
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        if (s->shared && !apart_is(s))
            return s->name;
    return NULL;
}
