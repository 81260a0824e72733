/* thread.c - the state of a thread, and what its end means for the locks */
#include <pawl/thread.h>
#include <pawl/nodes.h>
#include <pawl/wait.h>

__thread pawl_thread pawl_self __attribute__((tls_model("initial-exec")));

void pawl_thread_leave(void)
{
    pawl_self.at_exit = false; /* a destructor that locks again calls pawl_thread_enter() again */
    /* Overlap leaves its last hand-over in the mailbox; the successor will still clear it. A: pairs with
     * the clearing in pawl_hemlock_overlap_lock(); without it the memory could be reused under that store. */
    pawl_wait_until_eq(&pawl_self.hemlock.overlap, 0);
    pawl_nodes_trim(0);
    pawl_self.puts_left = 0; /* a destructor that unlocks again calls pawl_nodes_settle() again */
}
