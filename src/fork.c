/* fork.c - a child of fork(), where no other thread exists */
#include "copy.h"
#include "fork.h"
#include "reentry.h"
#include "slices.h"

#include <pthread.h>
#include <string.h>

PAWL_ONE_COPY

void pawl_fork_thread(void)
{
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        if (s->child == PAWL_ZEROED)
            memset(s->address(), 0, s->size);
    pawl_reentry_fork();
}

void pawl_fork_process(void)
{
    pawl_fork_word();
    pawl_fork_fence();
    pawl_fork_queue();
    pawl_fork_hint();
    pawl_fork_nodes();
}

#ifdef PAWL_IN_PTHREAD_MUTEX

/* preload/fork/epoch.c detects forks: a handler here would be too late if others had started threads in the child. */
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
