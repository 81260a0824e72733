/* hint_workers.c - threads that contend for an ordered lock and for a mutex as long as standard input lasts
 *
 * For each line they get, they say "on" once each has had both locks many times more. Its exit status says whether anybody
 * was let in while somebody else was.
 */
#include <pawl/mcs.h>
#include <pawl/mutex.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 8, ROUNDS = 20 };

static pawl_mcs mcs;
static pawl_mutex mutex;
static long count[2]; /* under each */
static atomic_long rounds[THREADS];
static atomic_int over;

/* With a lock in hand, and long enough for others to sleep, however many CPUs there are: who never sleeps never registers. */
static void add(long *to)
{
    long before = *to;
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    *to = before + 1;
}

static void *work(void *rounds_done)
{
    atomic_long *done = rounds_done;
    while (!atomic_load(&over)) {
        pawl_mcs_ctx c;
        pawl_mcs_lock(&mcs, &c);
        add(&count[0]);
        pawl_mcs_unlock(&mcs, &c);
        pawl_mutex_lock(&mutex);
        add(&count[1]);
        pawl_mutex_unlock(&mutex);
        atomic_fetch_add(done, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    char line[8];
    long sum = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &rounds[i]) != 0)
            return 3;
    while (fgets(line, sizeof line, stdin) != NULL) {
        for (int i = 0; i < THREADS; i++)
            for (long before = atomic_load(&rounds[i]); atomic_load(&rounds[i]) < before + ROUNDS;)
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        puts("on");
        fflush(stdout);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += atomic_load(&rounds[i]);
    }
    return count[0] == sum && count[1] == sum ? 0 : 1;
}
