/* early.h - a library that is initialised before the preloaded one, and finished after it */
#pragma once

enum { EARLY_CALLS = 10000 };

extern int early_constructed, early_forks_prepared, early_forks_seen; /* how often */

/* In the children that follow, a thread is started by a handler, and waits to be told to end. */
void early_start_threads(void);
void early_end_thread(void);
