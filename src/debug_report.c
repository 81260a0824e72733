/* debug_report.c - what the debug mode says on standard error */
#include "debug_report.h"
#include "symbol.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    line[length] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length + 1);
    (void)written; /* nothing can be done if it fails */
}

static void say_title(const char *what)
{
    say("pawl: %s (process %d)", what, (int)getpid());
}

/* A frame holds the address after the call, which may already belong to the next line, or function. */
static void say_frame(int number, const char *frame)
{
    symbol s;
    pawl_symbol_find(frame - 1, &s);
    const char *slash = strrchr(s.module, '/'), *module = slash != NULL ? slash + 1 : s.module;
    if (s.name[0] == '\0')
        say("    #%-2d ?? (%s+0x%llx)", number, module, (unsigned long long)s.where);
    else
        say("    #%-2d %s+0x%llx (%s+0x%llx)", number, s.name, (unsigned long long)s.offset, module,
            (unsigned long long)s.where);
}

static void say_stack(const debug_stack *s)
{
    if (s == NULL)
        say("    (not known)");
    for (int i = 0; s != NULL && i < s->depth; i++)
        say_frame(i, s->frame[i]);
}

static void say_lock(const char *before, const debug_lock *l, const char *after)
{
    say("  %s %s %p%s", before, l->kind, l->address, after);
}

void pawl_debug_report_self_deadlock(const debug_thread *me, const debug_lock *l)
{
    say_title("self-deadlock");
    say("  thread %d waits for %s %p, which it holds; it waits here:", (int)me->id, l->kind, l->address);
    say_stack(me->stack);
    say("  and took it here:");
    say_stack(l->taken);
    pawl_debug_reported();
}

void pawl_debug_report_inversion(const debug_thread *me, const debug_lock *held, const debug_lock *wanted)
{
    say_title("lock-order inversion");
    say("  thread %d holds %s %p, taken here:", (int)me->id, held->kind, held->address);
    say_stack(held->taken);
    say_lock("and takes", wanted, " here:");
    say_stack(me->stack);
    /* The way leads from `held` back to `wanted`. */
    for (const debug_lock *at = held; at != wanted; at = at->way->from) {
        say("  but thread %d held %s %p, taken here:", (int)at->way->thread, at->way->from->kind,
            at->way->from->address);
        say_stack(at->way->first);
        say_lock("and took", at, " here:");
        say_stack(at->way->second);
    }
    pawl_debug_reported();
}

void pawl_debug_report_not_held(const debug_thread *me, const void *l, const char *kind,
                                const debug_stack *here, const debug_stack *last)
{
    say_title("unlock of a lock that is not held");
    say("  thread %d unlocks %s %p here:", (int)me->id, kind, l);
    say_stack(here);
    if (last != NULL) {
        say("  it was last unlocked here:");
        say_stack(last);
    } else {
        say("  it was not locked lately");
    }
    pawl_debug_reported();
}

void pawl_debug_report_wrong_thread(const debug_thread *me, const debug_lock *l, const debug_stack *here)
{
    say_title("unlock by a thread that does not hold the lock");
    say("  thread %d unlocks %s %p here:", (int)me->id, l->kind, l->address);
    say_stack(here);
    say("  thread %d took it here:", (int)l->owner->id);
    say_stack(l->taken);
    pawl_debug_reported();
}

void pawl_debug_report_shared(const debug_thread *me, const void *l, const char *kind, int other)
{
    say_title("lock that two processes use");
    say("  thread %d takes %s %p, in shared memory, here:", (int)me->id, kind, l);
    say_stack(me->stack);
    say("  process %d has taken it before; locks are for the threads of one process", other);
    pawl_debug_reported();
}

void pawl_debug_report_destruction(const debug_thread *me, const void *address, const char *kind,
                                   const debug_lock *l, const debug_stack *here)
{
    say_title("destruction of a lock that is held");
    say("  thread %d destroys %s %p here:", (int)me->id, l != NULL ? l->kind : kind, address);
    say_stack(here);
    if (l != NULL && l->owner != NULL) {
        say("  thread %d took it here:", (int)l->owner->id);
        say_stack(l->taken);
    } else {
        say("  nobody knows who took it: not code that is compiled with -DPAWL_DEBUG");
    }
    pawl_debug_reported();
}
