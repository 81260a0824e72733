/* machine.h - the few things that depend on the processor */
#pragma once
#include <stdint.h>

/* Saves the callee-saved registers on the running stack, its stack pointer in *save, and resumes `to`. */
void lab_switch(void **save, void *to);

/* A context for lab_switch that calls `entry` (which must not return) on a fresh stack. */
void *lab_context(void *stack_top, void (*entry)(void));

/* The thread pointer: where _Thread_local variables are found. */
uintptr_t lab_thread_pointer(void);
void lab_set_thread_pointer(uintptr_t tp);

/* In a function that the code under test called: its caller's stack pointer at the call. */
#define LAB_CALLER_SP ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))

/* Where the frame with this stack pointer and return address ends; `sp` itself if that is unknown. */
uintptr_t lab_frame_end(uintptr_t sp, const void *return_address, uintptr_t stack_end);

/* Where a signal came in, from the handler's context. */
const void *lab_interrupted_at(const void *context);

/* Returns the kernel's result, negative error included. */
long lab_raw_syscall(long number, const long arguments[6]);
