/* asleep.h - whether another thread or process sleeps: a test that waits for that does not depend on when it runs */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

static inline void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static inline bool is_asleep(pid_t thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(f);
    return state == 'S';
}
