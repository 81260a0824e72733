/* mailboxes.h - Hemlock's mailboxes: a thread hands a lock off by writing the lock's address into its own
 *
 * Variants with another protocol have another mailbox, so that one thread may mix them.
 */
#pragma once

#include "thread.h"
#include "wait.h"

typedef struct pawl_mailboxes {
    pawl_word grant;   /* naive, CTR, AH, OH2: empty unless its owner is in unlock; first, because that
                        * saves an instruction                                                             */
    pawl_word overlap; /* Overlap: may stay full until the owner's next hand-off       */
    pawl_word flagged; /* OH1: address | 1 says that a successor waits                 */
    pawl_word chain;   /* appendix C: the waiting elements of all immediate successors */
    bool awaited;      /* the thread waits at its end until `overlap` is empty         */
} pawl_mailboxes;

static inline void pawl_mailboxes_leave(void);

/* Zeroed in a child, where nobody would empty them. A signal handler that interrupts a hand-off finds the mailbox
 * full: the interposer then gives it a spare one, and PAWL_MAILBOX_<lock> says which of these the spare replaces. */
PAWL_SHARED_SLICE(hemlock, pawl_mailboxes, .leave = pawl_mailboxes_leave, .child = PAWL_ZEROED);

static inline void pawl_mailboxes_leave(void)
{
    pawl_hemlock_self.awaited = false;
    /* Overlap leaves its last hand-off in the mailbox, and the successor has yet to clear it. C: pairs with that
     * store in pawl_hemlock_overlap_acquire(); without the wait, the memory could be reused under it. */
    pawl_wait_until_eq(&pawl_hemlock_self.overlap, 0);
}
