/* config.h - how the locks are configured when the lab runs them
 *
 * Included before everything else in the code under test. The locks' code is what ships; only
 * its tunables are set so that rare paths become common, and those that a scenario varies are variables.
 */
#pragma once
#pragma GCC system_header /* no warning where it redefines what -D has set */

#include <stdbool.h>
#include <stdint.h>

extern uint32_t check_slot_mask; /* slots in use, less one                              */
extern uint32_t check_platoon;   /* the capacitors' B                                   */
extern uint32_t check_recheck;   /* looks at a slot between two at `depart`             */
extern uint32_t check_yields;    /* before a waiter sleeps whose CPU others want         */
extern uint32_t check_spins;     /* looks before the waiting policy is consulted        */
extern uint32_t check_coin;      /* one in so many, where a lock tosses a coin          */

#define PAWL_IN_LAB
#define PAWL_SLOW_PATH      static inline
#define PAWL_SPINS          check_spins
#define PAWL_SLOT_MASK      check_slot_mask
#define PAWL_PLATOON        check_platoon
#define PAWL_SHUFFLE_ONE_IN check_coin
#define PAWL_FRACTION       check_coin
#define PAWL_COIN_MOST      check_coin
#define PAWL_HAPAX_GRACE    1

/* Shares of pawl_mutex are some ticks, of which the clock makes one whenever it is looked at, and nobody spins before sleeping.
 * The first is longer than the others, so that looks cut it. */
#define PAWL_MUTEX_ROUND                8192
#define PAWL_MUTEX_SHARE                1024
#define PAWL_MUTEX_SHORT                1024
#define PAWL_MUTEX_GRACE                2048
#define PAWL_MUTEX_LOOK                 2048
#define PAWL_MUTEX_RARE                 2048
#define PAWL_MUTEX_LONG                 1024000000
#define PAWL_MUTEX_YIELDS               1
#define PAWL_MUTEX_STAY                 1024
#define PAWL_MUTEX_SPIN_FIRST           0
#define PAWL_MUTEX_SPIN_HEAD            0
#define PAWL_MUTEX_SPIN_HANDOFF         0
#define PAWL_MUTEX_SPIN_WATCH           0
#define PAWL_FAIRMUTEX_SPIN             0
#define PAWL_COND_YIELDS                1
#define PAWL_WAIT_YIELDS                check_yields
#define PAWL_YIELD_LONG                 UINT32_MAX
#define PAWL_YIELD_SPIN                 0
#define PAWL_BUCKET_LOOKS               0
#define PAWL_SPIN_NS                    0
#define PAWL_HINT_LOOKS_ON(looks, most) ((looks) < check_hint(most))
#define PAWL_NO_TIMESLICE
#define PAWL_HINT_CPU()         ((pawl_cpu)check_cpu())
#define PAWL_HINT_SLOT()        check_hint_slot()
#define PAWL_HINT_IS_OFF(slot)  check_hint_is_off(slot)
#define PAWL_FAIRMUTEX_YIELDING 1024
#define PAWL_PARKED_BITS        1
#define PAWL_HAPAX_RECHECK      check_recheck

unsigned check_hint(unsigned most);
int check_cpu(void);
uint32_t check_hint_slot(void);
bool check_hint_is_off(uint32_t slot);

/* Likewise for locks that processes share; and one of the threads dies at a step. */
#define PAWL_SHARED_BARGE      0
#define PAWL_SHARED_WATCH      0
#define PAWL_SHARED_SHARE      check_share
#define PAWL_SHARED_PATIENCE   check_patience
#define PAWL_REGION_STEP(name) check_step(name)
#define PAWL_FIRST_SEAT(mine)  check_first_seat()
extern long check_patience;  /* 0: a sleep ends only if somebody ends it */
extern uint64_t check_share; /* how long the first in line does not ask */
void check_step(const char *name);
unsigned check_first_seat(void);
