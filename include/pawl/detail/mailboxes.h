/* mailboxes.h - Hemlock's: the owner of one hands a lock over by writing the lock's address into it
 *
 * The variants that speak another protocol have another box, so that one thread may mix them.
 */
#pragma once

#include "thread.h"
#include "wait.h"

typedef struct pawl_mailboxes {
    pawl_word grant;   /* naive, CTR, AH, OH2: empty whenever its owner is outside unlock; first, because that
                        * saves an instruction                                                             */
    pawl_word overlap; /* Overlap: may stay full until the owner's next hand-over                        */
    pawl_word flagged; /* OH1: address | 1 says that a successor waits                                   */
    pawl_word chain;   /* appendix C: the waiting elements of all immediate successors                   */
    bool awaited;      /* the thread's: at its end it waits for `overlap` to be empty                    */
} pawl_mailboxes;

static inline void pawl_mailboxes_leave(void);

/* A child has nobody to empty them. A signal handler may find one full of the hand-over that it has interrupted: the
 * interposer then has another, and PAWL_MAILBOX_<lock> tells it which of these that one stands for. */
PAWL_SHARED_SLICE(hemlock, pawl_mailboxes, .leave = pawl_mailboxes_leave, .child = PAWL_ZEROED);

static inline void pawl_mailboxes_leave(void)
{
    pawl_hemlock_self.awaited = false;
    /* Overlap leaves its last hand-over in the mailbox; the successor will still clear it. A: pairs with
     * the clearing in pawl_hemlock_overlap_lock(); without it the memory could be reused under that store. */
    pawl_wait_until_eq(&pawl_hemlock_self.overlap, 0);
}
