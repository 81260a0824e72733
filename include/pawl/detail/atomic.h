/* atomic.h - C11 atomics for the lock headers, in C and in C++
 *
 * The headers are written in C11 (`_Atomic(T)`, `atomic_load_explicit`, ...). In C++ the same names come from
 * <atomic>, as in C++23's own <stdatomic.h>, so that one text of a lock serves both.
 */
#pragma once

/* Words hold pointers as well as counts, and tickets and hapaxes must never wrap. Before anything is included: a libc for
 * 32 bits may not be there. */
#if __SIZEOF_POINTER__ != 8
#error "Pawl needs a 64-bit machine"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __cplusplus
#include <stdatomic.h>
#elif __cplusplus > 202002L && __has_include(<stdatomic.h>)
#include <stdatomic.h>
#else
#include <atomic>
#ifndef _Atomic
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define _Atomic(T) std::atomic<T>
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif
using std::atomic_compare_exchange_strong_explicit;
using std::atomic_compare_exchange_weak_explicit;
using std::atomic_exchange_explicit;
using std::atomic_fetch_add_explicit;
using std::atomic_load_explicit;
using std::atomic_signal_fence;
using std::atomic_store_explicit;
using std::atomic_thread_fence;
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
#endif

/* A word that threads wait on, or that holds a lock's state. */
typedef _Atomic(uint64_t) pawl_word;

/* Two cache lines: x86 prefetches lines in pairs, so 64 bytes do not keep two words apart. */
#define PAWL_SECTOR  128
#define PAWL_ALIGNED __attribute__((aligned(PAWL_SECTOR)))

/* Four bytes inside a lock that are glibc's when the lock lives in a pthread_mutex_t (preload/). Elsewhere nothing. */
#ifdef PAWL_IN_PTHREAD_MUTEX
#define PAWL_HOLE(name) uint32_t name;
#else
#define PAWL_HOLE(name)
#endif

/* The number of the inline text: raise it if code compiled with the old headers would not work with the new library
 * (docs/embedding.md). The symbols that this code needs have it in their names, so what does not fit does not link. */
#define PAWL_TEXT_NUMBER 2

/* Likewise, a libpawl variable's symbol says how the library was built: code that was compiled differently does not
 * link. (The lab compiles both, and its tunables are variables.) */
#ifdef PAWL_IN_LAB
#define PAWL_NUMBERED(name)
#define PAWL_BUILT_WITH(name, tunable)
#else
#define PAWL_NUMBERED(name) __asm__(name "_text" PAWL_TEXT(PAWL_TEXT_NUMBER))
#ifdef PAWL_IN_PTHREAD_MUTEX
#define PAWL_BUILT_WITH(name, tunable) PAWL_NUMBERED(#name "_in_pthread_mutex_" PAWL_TEXT(tunable))
#else
#define PAWL_BUILT_WITH(name, tunable) PAWL_NUMBERED(#name "_" PAWL_TEXT(tunable))
#endif
#endif
#define PAWL_TEXT(x)  PAWL_TEXT_(x)
#define PAWL_TEXT_(x) #x

#ifdef __cplusplus
#define PAWL_ASSERT(condition, text) static_assert(condition, text)
#else
#define PAWL_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define PAWL_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PAWL_UNLIKELY(x) __builtin_expect(!!(x), 0)

#if defined(__SANITIZE_THREAD__)
#define PAWL_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PAWL_UNDER_TSAN 1
#endif
#endif

static inline uint64_t pawl_address(const volatile void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* Fibonacci hashing: the top bits of the product with 2^64 / golden ratio depend on every bit of the key. */
static inline unsigned pawl_hash(uint64_t key, unsigned bits)
{
    return (unsigned)(key * 0x9E3779B97F4A7C15u >> (64 - bits));
}

/* One CAS on a word, where the value found does not matter. */
static inline bool pawl_cas_acquire(pawl_word *w, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(w, &from, to, memory_order_acquire, memory_order_relaxed);
}

static inline bool pawl_cas_release(pawl_word *w, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(w, &from, to, memory_order_release, memory_order_relaxed);
}

static inline bool pawl_cas_acq_rel(pawl_word *w, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(w, &from, to, memory_order_acq_rel, memory_order_relaxed);
}

static inline bool pawl_cas_relaxed(pawl_word *w, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(w, &from, to, memory_order_relaxed, memory_order_relaxed);
}
