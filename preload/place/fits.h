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
 * To be included with PAWL_IN_PTHREAD_MUTEX, which makes the holes. A lock that needs one says so here; any other
 * needs no line.
 */
#pragma once

#ifndef PAWL_IN_PTHREAD_MUTEX
#error "the sizes that count are those in a pthread_mutex_t"
#endif

#include <pawl.h>

#define PRELOAD_HOLED_capacitor_plain      , true
#define PRELOAD_HOLED_capacitor_tts        , true
#define PRELOAD_HOLED_capacitor_lifo       , true
#define PRELOAD_HOLED_capacitor_fractional , true
#define PRELOAD_HOLED_capacitor_contended  , true
#define PRELOAD_HOLED_retrograde           , true
#define PRELOAD_HOLED_mutex                , true

#define PRELOAD_HOLED_CTX_hapax_vw  , true
#define PRELOAD_HOLED_CTX_hapax_vw2 , true

#define PRELOAD_SECOND(a, b, ...) b
#define PRELOAD_SAID(...)         PRELOAD_SECOND(__VA_ARGS__, false, false)
#define PRELOAD_HOLED(name)       PRELOAD_SAID(PRELOAD_HOLED_##name)
#define PRELOAD_HOLED_CTX(name)   PRELOAD_SAID(PRELOAD_HOLED_CTX_##name)

/* Bytes of a lock and its context, and where they would go; -1: nowhere. */
#define PRELOAD_LOCK_AT(holed, lock)                                                                         \
    ((holed) && (lock) <= 40 ? 0 : (holed) ? -1 : (lock) <= 8 ? 0 : (lock) <= 16 ? 24 : -1)
#define PRELOAD_CTX_AT(holed, lock, holed_ctx, ctx)                                                          \
    ((holed)                      ? ((ctx) <= 2 ? 14 : -1)                                                   \
     : (lock) <= 8                ? ((ctx) <= 16 ? 24 : -1)                                                  \
     : (ctx) <= 8                 ? 0                                                                        \
     : (holed_ctx) && (ctx) <= 16 ? 0                                                                        \
                                  : -1)
#define PRELOAD_FITS(name)                                                                                   \
    (PRELOAD_LOCK_AT(PRELOAD_HOLED(name), sizeof(pawl_##name)) >= 0 &&                                       \
     PRELOAD_CTX_AT(PRELOAD_HOLED(name), sizeof(pawl_##name), PRELOAD_HOLED_CTX(name),                       \
                    sizeof(pawl_##name##_ctx)) >= 0)

/* Why there is no library for a lock, or null. */
#define PRELOAD_REFUSED(name, trylock, prompt)                                                               \
    (!(prompt)             ? "its unlock touches the lock when the next owner may have freed it"             \
     : !(trylock)          ? "it has no trylock"                                                             \
     : !PRELOAD_FITS(name) ? "it does not fit into a pthread_mutex_t"                                        \
                           : (const char *)0)
