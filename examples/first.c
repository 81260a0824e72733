/* first.c - two threads count to two million, and nothing is lost */
#include <pawl.h>
#include <pthread.h>
#include <stdio.h>

static pawl_mutex mutex; /* all-zero is unlocked */
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 1000000; i++)
        PAWL_GUARD(&mutex) /* or pawl_mutex_lock(), pawl_mutex_unlock() */
            counter++;
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, count, NULL);
    count(NULL);
    pthread_join(other, NULL);
    return printf("%ld\n", counter) < 0 || counter != 2000000;
}
