/* cond.h - threads that wait on a condition variable until they may go */
#pragma once

#include "case.h"

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, go, gone;
} scene;

/* A thread: waits until `go` is not 0, and takes one of it. */
void *wait_to_go(void *scene);
void await_waiting(scene *s, int count);
