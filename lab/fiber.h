/* fiber.h - simulated threads
 *
 * A fiber has a stack of its own and borrows the thread pointer of a pthread that sleeps for ever, so that
 * _Thread_local variables (and errno) are per fiber without help from the compiler.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_fiber {
    int id;
    void *sp; /* while it does not run */
    uintptr_t thread_pointer;
    uintptr_t stack_low, stack_high;
    uintptr_t tls_low, tls_high; /* the program's own thread-local block */
};

/* The fiber that runs, NULL on the host. */
extern struct lab_fiber *lab_current;

/* Creates fibers 0 to count - 1 unless they exist. Fibers, their stacks and their thread-local blocks stay at the
 * same addresses for the life of the process, and where possible from one process to the next. */
void lab_fibers_prepare(int count);
struct lab_fiber *lab_fiber(int id);

/* The fiber whose stack or thread-local block holds the address, NULL if none. */
struct lab_fiber *lab_fiber_of_stack(uintptr_t address);
struct lab_fiber *lab_fiber_of_tls(uintptr_t address);

void lab_fiber_arm(struct lab_fiber *f, void (*entry)(void));
void lab_fiber_run(struct lab_fiber *f);    /* on the host: until some fiber leaves */
void lab_fiber_switch(struct lab_fiber *f); /* on a fiber: until someone switches back */
void lab_fiber_leave(void);                 /* on a fiber: back to the host */

/* Memory at an address that does not change between runs if it can be had: code that hashes addresses then behaves
 * the same when an execution is replayed by another process. */
void *lab_map(size_t size);

/* An internal error: one line on stderr, then abort. */
_Noreturn void lab_die(const char *what);
