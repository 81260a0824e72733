/* stage.h - plays arrivals and releases in a known order, and compares every admission with the register
 *
 * The owner of the lock directs. It asks the play's script what happens next, and makes one actor arrive (and
 * sees it wait before it goes on), lets one try, or releases; then whoever is admitted directs. So the order
 * of arrivals is known without looking into the lock, and a play is the same each time.
 */
#pragma once

#include "hook.h"
#include "team.h"

#include <semaphore.h>

enum { ACTORS_MOST = 32 };

typedef enum verb {
    ARRIVE,  /* lock                              */
    TRY,     /* trylock on a lock that is held    */
    OPEN,    /* trylock on a lock that is free    */
    RELEASE, /* for the owner that directs        */
    LEAVE,   /* the play is over                  */
} verb;

typedef struct move {
    verb verb;
    int who; /* of ARRIVE and TRY: an actor that is idle */
} move;

typedef struct actor {
    struct play *play;
    pthread_t thread;
    sem_t cue;
    verb verb;
    bool locking;       /* its own: it is inside lock() */
    atomic_int arrived; /* it was seen to wait          */
    atomic_int tid;     /* its own, once it is inside lock() */
    bool waiting, owner;
    int arrived_at, segment;
    int overtaken, overtaken_by[ACTORS_MOST];
} actor;

typedef struct play {
    const lock_info *lock;
    move (*script)(struct play *p);
    int actors;
    int last;        /* after so many admissions nobody opens again */
    int *log;        /* who was admitted                            */
    uint64_t random; /* not 0; the script's, too                    */

    void *l;
    int admissions, arrivals, waiting, owners;
    int segment; /* the one that is being served */
    int steps;   /* for the script to count      */
    bool answer; /* of a trylock                 */
    sem_t answered, over;
    actor actor[ACTORS_MOST];
} play;

/* Plays from an idle lock to an idle lock. The first five fields say what. */
void stage_play(play *p);

/* Some idle actor but `except`, or -1. */
int stage_idle(play *p, const actor *except);
