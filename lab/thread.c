/* thread.c - the end of threads, and what scenario code may ask for */
#include "shadow.h"
#include "trace.h"

#define PC __builtin_return_address(0)

int lab_self(void)
{
    return lab_current ? lab_current->id : -1;
}

void lab_at_thread_exit(void (*fn)(void))
{
    if (!lab_checking())
        return;
    struct lab_thread *t = lab_running();
    for (unsigned i = 0; i < t->exit_count; i++)
        if (t->exit_functions[i] == fn)
            return; /* like a key's destructor: once per thread, however often it is set */
    if (t->exit_count == LAB_EXIT_FUNCTIONS)
        lab_violation(LAB_UNSUPPORTED, "too many exit functions", 0, PC, NULL);
    t->exit_functions[t->exit_count++] = fn;
}

/* The thread's memory is given to the next thread, which clears it: a write, ordered after all that this thread did
 * and before all that the next one does. Others have no order with it unless they were waited for. */
void lab_thread_end(struct lab_thread *t)
{
    while (t->exit_count > 0)
        t->exit_functions[--t->exit_count]();
    lab_pthread_end();
    lab_spin_clear(t);
    lab_shadow_retire(t->fiber->tls_low, t->fiber->tls_high, true);
    t->restarted = t->clock.at[t->id];
    lab_run.restarts++;
    lab_trace_note("thread ends", 0, 0, NULL);
}

void lab_thread_restart(void)
{
    if (lab_checking())
        lab_thread_end(lab_running());
}

void lab_destroy(void *p, size_t size)
{
    if (!lab_checking())
        return;
    lab_trace_note("destroys", (uintptr_t)p, 0, PC);
    lab_shadow_destroy((uintptr_t)p, size, PC);
}

void lab_fail(enum lab_verdict verdict, const char *text)
{
    lab_violation(verdict, text, 0, PC, NULL);
}

void lab_assert(bool condition, const char *text)
{
    if (!condition)
        lab_violation(LAB_ASSERTION, text, 0, PC, NULL);
}
