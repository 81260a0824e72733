/* pthreads.c - a program that knows nothing of Pawl, and takes two mutexes in both orders */
#include <pthread.h>
#include <string.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static void forth(void)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
}

__attribute__((noinline)) static void back(void)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}

static void *signals(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&a);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_mutex_lock(&a);
    if (pthread_create(&thread, NULL, signals, NULL) != 0)
        return 2;
    pthread_cond_wait(&condition, &a);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    forth();
    if (argc > 1 && strcmp(argv[1], "inversion") == 0)
        back();
    return 0;
}
