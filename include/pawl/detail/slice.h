/* slice.h - what a family of locks keeps in each thread: its slice
 *
 *   PAWL_SLICE(yours, type, .child = PAWL_KEPT);     declares  __thread type pawl_yours_self
 *
 * in the header where the algorithm lives is all there is to do. The slice is zero when the thread starts. The
 * initial-exec model makes it one segment-relative instruction away, and needs no allocator. src/slices.c defines the
 * slices of all locks in the register, and their rules:
 *
 *   .child   in a child of fork(), the slice of the thread that forked is PAWL_KEPT or PAWL_ZEROED
 *   .leave   void (*)(void), when the thread ends, if it has called pawl_thread_enter(); none by default. The lock's row
 *            then says .minds_exit: the interposer takes one of the program's keys for it, and takes it early
 *
 * A signal handler that locks, having interrupted its thread in a lock (preload/), is like a thread of its own: it finds
 * a slice of zeros; when it is done, .leave runs, and the slice is what it was.
 *
 * PAWL_SHARED_SLICE is for words that other threads write: it shares no sector with anything. As they may write at any
 * time, it stays as it is for a handler, which does not wait for a lock but tries again: a trylock must get by without
 * that slice, or with what an interrupted operation has made of it.
 */
#pragma once

#include "atomic.h"

#ifdef __cplusplus
#define PAWL_EXTERN extern "C"
#else
#define PAWL_EXTERN extern
#endif

#ifndef PAWL_SLICE /* src/slices.c has its own */
#define PAWL_SLICE(name, type, ...)                                                                          \
    PAWL_EXTERN __thread type pawl_##name##_self __attribute__((tls_model("initial-exec")))
#define PAWL_SHARED_SLICE(name, type, ...) PAWL_SLICE(name, type, __VA_ARGS__)
#endif
