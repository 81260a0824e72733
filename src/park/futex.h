/* futex.h - sleeping in the kernel
 *
 * Nothing here changes errno or is a cancellation point: a waiting thread is in a queue, and must not leave it by
 * being unwound.
 */
#pragma once

#include "clock.h"

#include <pawl/detail/atomic.h>

#define PAWL_ALL_BITS UINT32_MAX

/* Sleeps while the word holds `value`, until it is woken; may return early. A null deadline means none. Returns
 * ETIMEDOUT once the deadline has passed, else 0. */
int pawl_futex_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline);
int pawl_futex_wait_bits(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline,
                         uint32_t bits);

/* Wakes all sleepers that have one of these bits. */
void pawl_futex_wake_bits(_Atomic(uint32_t) *word, uint32_t bits);

/* Wakes one sleeper. The word's memory may be gone. */
void pawl_futex_wake(_Atomic(uint32_t) *word);

#ifdef __linux__
/* Across processes: the word is in memory that they share. Sleeps for so many nanoseconds at most, less than a second
 * (0: any time); false if they are over. Wakes all sleepers. */
bool pawl_futex_wait_shared(_Atomic(uint32_t) *word, uint32_t value, long nanoseconds);
void pawl_futex_wake_shared(_Atomic(uint32_t) *word);
#endif

/* Sleeps that long; less than a second. */
void pawl_nap(long nanoseconds);

/* EINVAL if the clock is not supported or the deadline is invalid, else 0. */
int pawl_deadline_check(int clock, const struct timespec *deadline);
