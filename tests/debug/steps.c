/* steps.c - the steps of the programs that debug mode judges */
#include "steps.h"

#include <pthread.h>

const lock_info *kind;
lock_memory memory[LOCKS];
lock_ctx context[LOCKS];

void take(int i)
{
    kind->lock(&memory[i], &context[i]);
}

void drop(int i)
{
    kind->unlock(&memory[i], &context[i]);
}

void end(int i)
{
    if (kind->destroy != NULL)
        kind->destroy(&memory[i]);
    else
        pawl_destroy(&memory[i]);
}

void in_thread(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

void takes_first(void)
{
    take(A);
    END;
}

void unlocks_first(void)
{
    drop(A);
    END;
}

void takes_a_then_b(void)
{
    take(A);
    take(B);
    drop(B);
    drop(A);
}

void takes_b_then_a(void)
{
    take(B);
    take(A);
    drop(A);
    drop(B);
}

void takes_b_then_c(void)
{
    take(B);
    take(C);
    drop(C);
    drop(B);
}

void takes_c_then_a(void)
{
    take(C);
    take(A);
    drop(A);
    drop(C);
}

void *some_pairs(void *unused)
{
    for (int i = 0; i < 200; i++) {
        lock_ctx a, b;
        kind->lock(&memory[A], &a);
        kind->lock(&memory[B], &b);
        kind->unlock(&memory[A], &a); /* in whatever order */
        kind->unlock(&memory[B], &b);
    }
    return unused;
}
