/* strict.c - a program whose authors ask their compiler for more than most do, and use what the headers define as macros */
#include <pawl.h>
#include <pawl/guard.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>

PAWL_CAPACITOR(mine, ticket, 8)
PAWL_CAPACITOR_TRYLOCK(mine, ticket, 8)

static pawl_mutex outer, inner;
static pawl_mcs queue;
static pawl_mine own;
static pawl_cond cond = PAWL_COND_INIT;
static long counter;
static int begun;

static int add(long n)
{
    PAWL_GUARD(&outer) {
        PAWL_GUARD_LOCK (mcs, &queue) {
            PAWL_HOLD(&inner);
            counter += n;
            if (n < 0)
                return -1;
        }
    }
    return 0;
}

static void *count(void *arg)
{
    for (int i = 0; i < 1000000; i++) {
        pawl_mine_ctx c;
        pawl_mine_lock(&own, &c);
        counter++;
        pawl_mine_unlock(&own, &c);
    }
    PAWL_HOLD(&outer);
    begun++;
    pawl_cond_broadcast(&cond);
    return arg;
}

int main(void)
{
    pthread_t other;
    struct timespec soon;
    pthread_create(&other, NULL, count, NULL);
    count(NULL);
    pawl_mutex_lock(&outer);
    while (begun < 2)
        pawl_cond_wait(&cond, &outer);
    clock_gettime(CLOCK_REALTIME, &soon);
    int late = pawl_mutex_timedlock(&inner, &soon);
    pawl_mutex_unlock(&inner);
    pawl_mutex_unlock(&outer);
    pthread_join(other, NULL);
    int sum = add(1) + add(-1);
    return printf("%ld\n", counter) < 0 || counter != 2000000 || sum != -1 || late != 0;
}
