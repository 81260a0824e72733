/* vendored.c - two threads count with a lock that scripts/vendor.sh wrote; LOCK, and MUTEX if it has no context */
#include <pawl/locks.h>

#include <pthread.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

static JOIN(pawl_, LOCK, ) lock;
static long count;

static void *run(void *arg)
{
    for (int i = 0; i < 20000; i++) {
#ifdef MUTEX
        JOIN(pawl_, LOCK, _lock)(&lock);
        count++;
        JOIN(pawl_, LOCK, _unlock)(&lock);
#else
        JOIN(pawl_, LOCK, _ctx) ctx;
        JOIN(pawl_, LOCK, _lock)(&lock, &ctx);
        count++;
        JOIN(pawl_, LOCK, _unlock)(&lock, &ctx);
#endif
    }
    return arg;
}

int main(void)
{
    enum { THREADS = 2 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return count != 20000L * THREADS;
}
