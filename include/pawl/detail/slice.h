/* slice.h - what a family of locks keeps in each thread: its slice
 *
 *   PAWL_SLICE(yours, type, .child = PAWL_KEPT);     declares  __thread type pawl_yours_self
 *
 * That line, in the algorithm's header, is all it takes. The slice is zero when the thread starts. The initial-exec
 * model reaches it by one segment-relative instruction, and needs no allocator. src/slices.c defines the slices of
 * all locks in the register, and their rules:
 *
 *   .child   in a child of fork(), the slice of the thread that forked is PAWL_KEPT or PAWL_ZEROED
 *   .leave   void (*)(void), called when a thread ends that has called pawl_thread_enter(); none by default. The lock's
 *            row then says .minds_exit: the interposer takes one of the program's keys for it, and takes it early
 *
 * A signal handler that locks after interrupting its thread in a lock (preload/) is like a thread of its own: it
 * finds a slice of zeros; when it is done, .leave runs, and the slice is restored.
 *
 * PAWL_SHARED_SLICE is for words that other threads write: it shares no sector with anything. As they may write at
 * any time, a handler finds it as it is. But a handler never waits for a lock, it retries a trylock: so a trylock
 * must do without the shared slice, or cope with what the interrupted operation left there.
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
    PAWL_EXTERN __thread type pawl_##name##_self PAWL_NUMBERED("pawl_" #name "_self")                        \
        __attribute__((tls_model("initial-exec")))
#define PAWL_SHARED_SLICE(name, type, ...) PAWL_SLICE(name, type, __VA_ARGS__)
#endif
