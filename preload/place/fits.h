/* fits.h - which locks of the register can live in a pthread_mutex_t, and where in it
 *
 * glibc's 40 bytes, of which __owner, __kind and our own `meta` keep their place (layout.h):
 *
 *   0         8      12     16    20    24                 40
 *   | free    |owner |free  |kind |meta |free              |
 *
 *   lock of 1 word             at 0,  its context of up to 2 words at 24
 *   lock of 2 words            at 24, its context of 1 word at 0
 *   ... whose context has a hole (PAWL_HOLE) where the owner is: the context at 0 may have 16 bytes
 *   lock with holes            at 0,  its context of up to 2 bytes at 14
 *
 * To be included with PAWL_IN_PTHREAD_MUTEX, which makes the holes. `room` is the register's (enum pawl_room).
 */
#pragma once

#ifndef PAWL_IN_PTHREAD_MUTEX
#error "the sizes that count are those in a pthread_mutex_t"
#endif

#include <pawl.h>

/* Bytes of a lock and its context, and where they would go; -1: nowhere. */
#define PRELOAD_LOCK_AT(room, lock)                                                                          \
    ((room) == PAWL_HOLED ? ((lock) <= 40 ? 0 : -1) : (lock) <= 8 ? 0 : (lock) <= 16 ? 24 : -1)
#define PRELOAD_CTX_AT(room, lock, ctx)                                                                      \
    ((room) == PAWL_HOLED                          ? ((ctx) <= 2 ? 14 : -1)                                  \
     : (lock) <= 8                                 ? ((ctx) <= 16 ? 24 : -1)                                 \
     : (ctx) <= 8                                  ? 0                                                       \
     : (room) == PAWL_HOLED_CONTEXT && (ctx) <= 16 ? 0                                                       \
                                                   : -1)

/* Whether, and if not why, there is a library for a lock. */
#define PRELOAD_FITS(name, form, room)                                                                       \
    (PRELOAD_LOCK_AT(room, sizeof(pawl_##name)) >= 0 &&                                                      \
     PRELOAD_CTX_AT(room, sizeof(pawl_##name), sizeof(PAWL_CTX_OF(name, form))) >= 0)
#define PRELOAD_HAS_LIBRARY(name, form, room)                                                                \
    ((room) != PAWL_UNSAFE && PAWL_HAS(form, TRYLOCK) && PRELOAD_FITS(name, form, room))
#define PRELOAD_REFUSED(name, form, room)                                                                    \
    ((room) == PAWL_UNSAFE             ? "its unlock touches the lock when the next owner may have freed it" \
     : !PAWL_HAS(form, TRYLOCK)        ? "it has no trylock"                                                 \
     : !PRELOAD_FITS(name, form, room) ? "it does not fit into a pthread_mutex_t"                            \
                                       : (const char *)0)
