/* rules.c - the rules of toy.h's slices are followed */
#include <pawl.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, TIMES = 1000 };

static pawl_toy lock;

static void *take(void *unused)
{
    pawl_toy_ctx c;
    for (int i = 0; i < TIMES; i++) {
        pawl_toy_lock(&lock, &c);
        pawl_toy_unlock(&lock, &c);
    }
    return unused;
}

static bool is_counted_at_the_end(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, take, NULL) != 0)
            return false;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return atomic_load(&pawl_toy_total) == THREADS * TIMES;
}

static bool is_zero_in_a_child(void)
{
    int status;
    take(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(pawl_toy_count_self.taken != 0);
    return pawl_toy_count_self.taken == TIMES && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    int failed = 0;
    if (!is_counted_at_the_end())
        failed++, puts("FAIL toy/is_counted_at_the_end");
    if (!is_zero_in_a_child())
        failed++, puts("FAIL toy/is_zero_in_a_child");
    printf("%d passed, %d failed\n", 2 - failed, failed);
    return failed != 0;
}
