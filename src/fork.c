/* fork.c - a child of fork(), where no other thread exists */
#include "copy.h"
#include "fork.h"

#include <pawl/detail/thread.h>

#include <pthread.h>
#include <string.h>

PAWL_ONE_COPY

/* It takes its state along. Whoever was to clear its mailboxes is not there. */
void pawl_fork_thread(void)
{
    pawl_mailboxes *boxes = &pawl_self.hemlock;
    atomic_store_explicit(&boxes->grant, 0, memory_order_relaxed);
    atomic_store_explicit(&boxes->overlap, 0, memory_order_relaxed);
    atomic_store_explicit(&boxes->flagged, 0, memory_order_relaxed);
    atomic_store_explicit(&boxes->chain, 0, memory_order_relaxed);
    pawl_self.hapax = 0; /* the rest of the block is the parent's */
}

void pawl_fork_process(void)
{
    pawl_fork_word();
    pawl_fork_queue();
    pawl_fork_nodes();
}

#ifdef PAWL_IN_PTHREAD_MUTEX

/* preload/fork/epoch.c finds out: in a child whose handlers have started threads it would be too late here. */
void pawl_fork_expect(void)
{
}

#else

static void in_child(void)
{
    pawl_fork_thread();
    pawl_fork_process();
}

static void expect(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void pawl_fork_expect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, expect);
}

#endif
