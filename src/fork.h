/* fork.h - a child of fork(), where no other thread exists */
#pragma once

/* Before anything else of the library is used in a child: forgets the threads that were asleep in the parent, and
 * the mutexes of the library's own tables that they held. */
void pawl_fork_process(void);

/* By the thread that forked, before it locks anything in the child. */
void pawl_fork_thread(void);

/* Sees to both by pthread_atfork(), from the constructor of the table of buckets, which nobody sleeps without. Child
 * handlers run in the order in which they were registered, and a program's own may lock: so that constructor comes
 * before those of the program. A library that is loaded late comes late: then the handlers that were registered before
 * must not use its locks. */
void pawl_fork_expect(void);

/* What each file has to forget. */
void pawl_fork_word(void);
void pawl_fork_queue(void);
void pawl_fork_nodes(void);
