/* futex.h - sleeping in the kernel
 *
 * Nothing here changes errno, and nothing is a cancellation point: a thread that waits for a lock stands in a queue,
 * which it must not leave by being unwound.
 */
#pragma once

#include "clock.h"

#include <pawl/detail/atomic.h>

#define PAWL_ALL_BITS UINT32_MAX

/* Sleeps while the word holds `value`, until woken, or for no reason. A null deadline is no deadline.
 * Returns ETIMEDOUT if the time has come, else 0. */
int pawl_futex_wait(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline);
int pawl_futex_wait_bits(_Atomic(uint32_t) *word, uint32_t value, int clock, const struct timespec *deadline,
                         uint32_t bits);

/* Wakes all that sleep there with one of these bits. */
void pawl_futex_wake_bits(_Atomic(uint32_t) *word, uint32_t bits);

/* Wakes one that sleeps there. The memory may be gone. */
void pawl_futex_wake(_Atomic(uint32_t) *word);

/* Sleeps for so long, less than a second. */
void pawl_nap(long nanoseconds);

/* EINVAL if no clock or no time is meant by these, else 0. */
int pawl_deadline_check(int clock, const struct timespec *deadline);
