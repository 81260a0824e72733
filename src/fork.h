/* fork.h - a child of fork(), where no other thread exists */
#pragma once

/* Before any other use of the library in a child: forgets the threads that were asleep in the parent, and unlocks the
 * library's own tables, which they may have held. */
void pawl_fork_process(void);

/* Called by the thread that forked, before it locks anything in the child. */
void pawl_fork_thread(void);

/* Registers both with pthread_atfork(), from the constructor of the bucket table, which nobody sleeps without. Child
 * handlers run in the order of registration, and a program's own may lock: so that constructor comes before the
 * program's. If the library is loaded late, handlers registered before that must not use its locks. */
void pawl_fork_expect(void);

/* What each file has to forget. */
void pawl_fork_word(void);
void pawl_fork_fence(void);
void pawl_fork_queue(void);
void pawl_fork_hint(void);
void pawl_fork_nodes(void);
