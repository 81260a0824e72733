/* mixed.h - one program of two kinds of code: mixed_part.c is compiled with -DPAWL_DEBUG, and again without it */
#pragma once

#include <pawl.h>

/* What both kinds use. */
typedef struct mixed_shared {
    pawl_mutex mutex;
    pawl_fairmutex fair;
    pawl_cond cond;
    pawl_semaphore given;
    int turn;
} mixed_shared;

#define MIXED_PART(kind)                                                                                     \
    void kind##_lock(mixed_shared *s);                                                                       \
    void kind##_unlock(mixed_shared *s);                                                                     \
    void kind##_take_turns(mixed_shared *s, int me);                                                         \
    void kind##_give_and_take(mixed_shared *s);                                                              \
    void kind##_use_every_lock(void);                                                                        \
    void kind##_invert(void);
MIXED_PART(hooked)
MIXED_PART(plain)
