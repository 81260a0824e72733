/* region.h - a region as the library sees it: seats, and the threads that sit there */
#pragma once

#include <pawl/detail/atomic.h>

/* The interposer leaves shared mutexes to the C library. */
#if defined(__linux__) && !defined(PAWL_IN_PTHREAD_MUTEX)
#define PAWL_HAS_REGIONS

#include <pawl/shared.h>

#include <pthread.h>

/* Alive as long as it is held. A robust mutex, because the kernel unlocks that when its thread dies, in whatever way,
 * and marks it. The lab has a word instead (check/life.c). */
#ifdef PAWL_IN_LAB
typedef _Atomic(uint32_t) pawl_life;
#else
typedef pthread_mutex_t pawl_life;
#endif

/* A hapax of a seat has the seat's number in its lower bits and a count in the others: 2^54 for each seat. */
enum { PAWL_SEAT_BITS = 10, PAWL_SEATS = (1 << PAWL_SEAT_BITS) - 1 };

/* A token says who owns a lock: the seat's number (1 to 1023), 4 bits for the lock's flags, and the seat's generation,
 * which changes if a thread goes that owned locks. The last generation is never used. */
enum { PAWL_TOKEN_FLAG_BITS = 4, PAWL_GENERATION_AT = PAWL_SEAT_BITS + PAWL_TOKEN_FLAG_BITS };
#define PAWL_LAST_GENERATION (UINT32_MAX >> PAWL_GENERATION_AT)

typedef struct pawl_seat {
    pawl_life life;
    _Atomic(uint32_t) generation;
    /* Written at every turn in a line, unlike the above. */
    _Alignas(64) pawl_word queued; /* the hapax with which its thread is in a line, or 0            */
    _Atomic(uint32_t) bell;        /* raised when it leaves one; the lowest bit: somebody sleeps    */
    uint64_t count;                /* of the last hapax issued                                      */
} pawl_seat;

PAWL_ASSERT(sizeof(pawl_seat) == 128, "a seat is two lines");

/* Where they are in the file, and the program's memory behind them. */
#define PAWL_SEATS_AT  4096
#define PAWL_MEMORY_AT (PAWL_SEATS_AT + (PAWL_SEATS * sizeof(pawl_seat) + 4095) / 4096 * 4096)

struct pawl_region {
    pawl_seat *seats; /* NULL: not in use */
    unsigned seat_count;
    unsigned index;           /* of this structure, and of a thread's seat in this region */
    uint32_t serial;          /* of the last attachment; 0 if there was none               */
    _Atomic(uint32_t) seated; /* threads of this process */
    void *memory;
    size_t size, mapped;
};

/* ---- region_life.c: whether a thread lives */

/* False if this kernel cannot tell. */
bool pawl_life_is_told(void);
void pawl_life_prepare(pawl_life *life);
/* 0 if nobody has it, EOWNERDEAD if a dead thread had it: now the caller has it. EBUSY if a living thread has it. */
int pawl_life_try(pawl_life *life);
void pawl_life_end(pawl_life *life);
/* True if its thread lives for certain; later it may not. */
bool pawl_life_goes_on(pawl_life *life);
/* Between the two, no handler runs: one that ended the thread would leave the robust mutex half taken. Pass the result
 * to restore. */
uint64_t pawl_life_block_signals(void);
void pawl_life_restore_signals(uint64_t before);

/* ---- region_seat.c: who sits where */

/* This thread's token, 0 if all seats are taken. */
uint32_t pawl_seat_token(pawl_region *r);
/* The locks that this thread holds. Only after pawl_seat_token(). */
uint32_t *pawl_seat_held(pawl_region *r);
/* Whether the thread with this token is gone. Late to notice, never wrong. */
bool pawl_seat_is_dead(pawl_region *r, uint32_t token);
/* Frees the seat if its thread is gone. */
void pawl_seat_clear(pawl_seat *seat);
/* Leaves this thread's seat, if it has one. False if it holds a lock. */
bool pawl_seat_leave(pawl_region *r);
/* To be called before the first seat is taken. Returns an error. */
int pawl_seat_expect(void);

/* ---- region_table.c: those that this process has attached */

bool pawl_region_table_is_full(void);
/* One that is mapped at `base`, with `size` bytes of the program's; or EMFILE. */
int pawl_region_enter(pawl_region **region, void *base, size_t size);
/* Attached or not. */
pawl_region *pawl_region_numbered(unsigned index);
/* Around a fork. */
void pawl_region_lock_table(void);
void pawl_region_unlock_table(void);

static inline pawl_seat *pawl_seat_at(const pawl_region *r, uint64_t token_or_hapax)
{
    unsigned number = token_or_hapax & PAWL_SEATS;
    return number == 0 || number > r->seat_count ? NULL : &r->seats[number - 1];
}

/* A test kills a process here, or the lab a thread. */
#ifndef PAWL_REGION_STEP
#define PAWL_REGION_STEP(name) ((void)0)
#endif

#endif
