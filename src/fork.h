/* fork.h - a child of fork(), where no other thread exists */
#pragma once

/* Before anything else of the library is used in a child: forgets the threads that were asleep in the parent, and
 * the mutexes of the library's own tables that they held. */
void pawl_fork_process(void);

/* By the thread that forked, before it locks anything in the child. */
void pawl_fork_thread(void);

/* Sees to both by pthread_atfork(); from the constructors of the files below, so that none is linked without it. */
void pawl_fork_expect(void);

/* What each file has to forget. */
void pawl_fork_park(void);
void pawl_fork_queue(void);
void pawl_fork_nodes(void);
