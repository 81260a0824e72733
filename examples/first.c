/* first.c - two threads count to two million, and nothing is lost
 *
 *   cc first.c $(pkg-config --cflags --libs pawl) -o first
 */
#include <pawl/hapax_vw.h>

#include <pthread.h>
#include <stdio.h>

static pawl_hapax_vw lock; /* all-zero is unlocked: nothing to initialise, nothing to destroy */
static long counter;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000000; i++) {
        pawl_hapax_vw_ctx c; /* what lock tells its unlock */
        pawl_hapax_vw_lock(&lock, &c);
        counter++;
        pawl_hapax_vw_unlock(&lock, &c);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, count, NULL);
    pthread_create(&b, NULL, count, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%ld\n", counter);
    return counter == 2000000 ? 0 : 1;
}
