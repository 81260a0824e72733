/* first.c - two threads count to two million, and nothing is lost */
#include <pawl/hapax_vw.h>
#include <pthread.h>
#include <stdio.h>

static pawl_hapax_vw lock; /* all-zero is unlocked */
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 1000000; i++) {
        pawl_hapax_vw_ctx c; /* what lock tells its unlock */
        pawl_hapax_vw_lock(&lock, &c);
        counter++;
        pawl_hapax_vw_unlock(&lock, &c);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, count, NULL);
    count(NULL);
    pthread_join(other, NULL);
    printf("%ld\n", counter);
    return counter == 2000000 ? 0 : 1;
}
