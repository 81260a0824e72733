/* mixed.c - the program of mixed.h: `mixed correct`, `mixed hooked` or `mixed plain` (who takes two locks in both orders) */
#include "mixed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mixed_shared shared;

static void *hooked_thread(void *unused)
{
    hooked_take_turns(&shared, 0);
    hooked_give_and_take(&shared);
    hooked_use_every_lock();
    return unused;
}

static int correct(void)
{
    hooked_lock(&shared), plain_unlock(&shared);
    hooked_lock(&shared), hooked_unlock(&shared);
    plain_lock(&shared), hooked_unlock(&shared);
    pthread_t thread;
    if (pthread_create(&thread, NULL, hooked_thread, NULL) != 0)
        abort();
    plain_take_turns(&shared, 1);
    plain_give_and_take(&shared);
    plain_use_every_lock();
    pthread_join(thread, NULL);
    return shared.turn;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "hooked") == 0)
        hooked_invert();
    else if (argc == 2 && strcmp(argv[1], "plain") == 0)
        plain_invert();
    else
        return correct();
    return 0;
}
