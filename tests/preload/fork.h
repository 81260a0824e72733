/* fork.h - what the cases of fork_held.c, fork_crowd.c and fork_handler.c share */
#pragma once

#include "case.h"

typedef struct scene {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    _Atomic(int) tid, entered;
    _Atomic(bool) stop;
    int go, waiting;
} scene;

/* A thread that sleeps, waiting for the mutex. */
pthread_t stand_in_line(scene *s);

/* A child uses the mutex as if it were new, also from several threads. */
void use_it_all(scene *s);

/* The same after unlocking it so many times. */
void unlock_and_use(scene *s, int depth);
