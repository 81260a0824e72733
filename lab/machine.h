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

/* Returns the kernel's result, negative error included. */
long lab_raw_syscall(long number, const long arguments[6]);
