/* queue.h - the table of buckets, and queues of waiters in it, found by what they wait for
 *
 * Every sleeper goes through the bucket that the address of its lock selects. A bucket has a lock, the queues of all
 * mutexes and condition variables that hash to it, and what word.c needs for other locks. So an object needs no room
 * for a queue, and queue operations touch it only while a waiter is in its queue, which means that it still exists.
 * Everything that concerns queues is done with the bucket's lock held.
 */
#pragma once

#include <pawl/detail/sleeper.h>

#define PAWL_BUCKET_BITS 10

typedef struct pawl_bucket {
    _Atomic(uint32_t) lock;     /* 0 free, 1 held, 2 held and somebody may sleep    */
    _Atomic(uint32_t) parked;   /* threads parked on words (word.c)                 */
    _Atomic(uint32_t) sequence; /* their futex: counts posts to words with sleepers */
    pawl_sleeper *queues;       /* the first waiter of each queue                   */
} PAWL_ALIGNED pawl_bucket;

pawl_bucket *pawl_bucket_of(const volatile void *key);
pawl_bucket *pawl_bucket_at(unsigned index);
pawl_bucket *pawl_bucket_lock(const volatile void *key);
pawl_bucket *pawl_bucket_trylock(const volatile void *key); /* null if it is taken */
void pawl_bucket_unlock(pawl_bucket *b);

pawl_sleeper *pawl_queue_first(pawl_bucket *b, const volatile void *key);
void pawl_queue_append(pawl_bucket *b, const volatile void *key, pawl_sleeper *w);
/* Behind `at`, a waiter in a queue, and into the same queue. */
void pawl_queue_insert(pawl_bucket *b, pawl_sleeper *at, pawl_sleeper *w);
void pawl_queue_remove(pawl_bucket *b, pawl_sleeper *w);
/* Takes the whole queue out; its waiters stay linked by `next`. */
pawl_sleeper *pawl_queue_detach(pawl_bucket *b, const volatile void *key);
