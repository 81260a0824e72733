/* thread.h - what a thread owns for the sake of the locks
 *
 * All of it is one thread-local object, zero when the thread starts, in the initial-exec model: one
 * segment-relative instruction reaches it, and no allocator is called for it.
 *
 * Words that other threads write have a sector of their own. Gaps see to it, not alignment: a library that is loaded
 * by dlopen() gets thread-local storage aligned to 16 bytes at most (on AArch64; 64 on x86-64), and about 1.5 kB of it
 * are left for all such libraries together.
 */
#pragma once

#include "atomic.h"

/* A queue node of MCS and CLH. Lives in the pool of nodes.h, never returns to the system. */
typedef struct pawl_node {
    pawl_word next;         /* MCS: the successor's node, once it has linked up; first, because that saves
                             * the uncontended unlock an instruction                                     */
    pawl_word wait;         /* 1 while the thread that watches it must wait                              */
    struct pawl_node *link; /* the next free node, while this one is in a cache                          */
    uint32_t uses;          /* CLH: how often it was in a lock, modulo 2^32                              */
} PAWL_ALIGNED pawl_node;

/* What a thread waits on in the locks that stack or chain their waiters. One is enough, because a thread
 * waits for one lock at a time. */
typedef struct pawl_element {
    pawl_word gate;   /* 0 while the thread must wait                                           */
    pawl_word next;   /* the element behind this one, or what has to be told to it              */
    const void *lock; /* hemlock_chain: the lock being waited for                              */
} pawl_element;

/* Hemlock's mailboxes: the owner of one hands a lock over by writing the lock's address into it. The
 * variants that speak another protocol have another box, so that one thread may mix them. */
typedef struct pawl_mailboxes {
    pawl_word grant;   /* naive, CTR, AH, OH2: empty whenever its owner is outside unlock */
    pawl_word overlap; /* Overlap: may stay full until the owner's next hand-over         */
    pawl_word flagged; /* OH1: address | 1 says that a successor waits                    */
    pawl_word chain;   /* appendix C: the waiting elements of all immediate successors    */
} pawl_mailboxes;

/* Two objects, each of whole 16-byte units, share no sector if so many bytes are between them. */
#define PAWL_TLS_ALIGNMENT 16
#define PAWL_APART         (PAWL_SECTOR - PAWL_TLS_ALIGNMENT)

typedef struct pawl_thread {
    pawl_mailboxes
        hemlock; /* first, because that saves Hemlock an instruction; src/thread.c has the gap before it */
    char apart_from_element[PAWL_APART];
    pawl_element element;
    char apart_from_own[8 + PAWL_APART];
    uint64_t hapax;   /* the next hapax of this thread's block                */
    pawl_node *nodes; /* free nodes                                           */
    int8_t puts_left; /* nodes to put back until pawl_nodes_settle(); 0 at first  */
    bool at_exit;     /* pawl_thread_leave() will run when the thread ends    */
    char identity[2]; /* Tidex: two addresses that no other thread has        */
    uint16_t spins;   /* whether it is any use: see src/park/pause.c          */
    uint64_t random;  /* state of pawl_random()                               */
} __attribute__((aligned(PAWL_TLS_ALIGNMENT))) pawl_thread;

#ifdef __cplusplus
extern "C" {
#endif

extern __thread pawl_thread pawl_self __attribute__((tls_model("initial-exec")));

/* Sees to it that pawl_thread_leave() runs when this thread ends. Cheap to repeat. */
void pawl_thread_enter(void);

/* Takes what that needs, which is one of the 1024 keys of POSIX, before a lock is in a hurry for it. */
void pawl_thread_expect(void);

/* Waits until no other thread can touch this one's mailboxes, and gives its nodes back. */
void pawl_thread_leave(void);

#ifdef __cplusplus
}
#endif

/* Marsaglia's 64-bit xorshift: enough to break up a schedule, and a handful of instructions. */
static inline uint64_t pawl_random(void)
{
    uint64_t x = pawl_self.random;
    if (PAWL_UNLIKELY(x == 0))
        x = pawl_address(&pawl_self) * 0x9E3779B97F4A7C15u | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return pawl_self.random = x;
}

/* True once in `n` on average. */
static inline bool pawl_one_in(uint32_t n)
{
    return (uint32_t)(((pawl_random() >> 32) * n) >> 32) == 0;
}
