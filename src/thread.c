/* thread.c - the state of a thread, and what its end means for the locks */
#include <pawl/detail/thread.h>
#include <pawl/detail/nodes.h>
#include <pawl/detail/wait.h>
#include "copy.h"

PAWL_ONE_COPY

/* Sectors begin anywhere, as far as a pawl_thread knows. */
_Static_assert(offsetof(pawl_thread, element) - sizeof(pawl_mailboxes) >= PAWL_APART, "mailboxes");
_Static_assert(offsetof(pawl_thread, hapax) - offsetof(pawl_thread, element) - 32 >= PAWL_APART, "element");
_Static_assert(sizeof(pawl_element) <= 32 && offsetof(pawl_thread, hapax) % PAWL_TLS_ALIGNMENT == 0, "units");

/* __thread pawl_thread pawl_self, and a gap before it, where another library's variables may lie. C has no name for
 * what is inside an object, and with an offset to add, Hemlock's fast path would be an instruction longer. */
#define THREAD_SIZE 320
_Static_assert(sizeof(pawl_thread) == THREAD_SIZE && PAWL_APART == 112 && PAWL_TLS_ALIGNMENT == 16,
               "as below");
#ifdef PAWL_IN_PTHREAD_MUTEX
#define VISIBILITY ".hidden pawl_self\n"
#else
#define VISIBILITY ""
#endif
#define STRING(x)  STRING_(x)
#define STRING_(x) #x
__asm__(".pushsection .tbss,\"awT\",%nobits\n"
        ".balign 16\n"
        ".zero 112\n"
        ".globl pawl_self\n" VISIBILITY ".type pawl_self,%tls_object\n"
        ".size pawl_self," STRING(THREAD_SIZE) "\n"
                                               "pawl_self: .zero " STRING(THREAD_SIZE) "\n"
                                                                                       ".popsection");

void pawl_thread_leave(void)
{
    pawl_self.at_exit = false; /* a destructor that locks again calls pawl_thread_enter() again */
    /* Overlap leaves its last hand-over in the mailbox; the successor will still clear it. A: pairs with
     * the clearing in pawl_hemlock_overlap_acquire(); without it the memory could be reused under that store. */
    pawl_wait_until_eq(&pawl_self.hemlock.overlap, 0);
    pawl_nodes_trim(0);
    pawl_self.puts_left = 0; /* a destructor that unlocks again calls pawl_nodes_settle() again */
}
