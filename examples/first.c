/* first.c - two threads count to two million, and nothing is lost */
#include <pawl.h>
#include <pthread.h>
#include <stdio.h>

static pawl_mutex mutex; /* all-zero is unlocked */
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 1000000; i++) {
        pawl_mutex_lock(&mutex);
        counter++;
        pawl_mutex_unlock(&mutex);
    }
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
