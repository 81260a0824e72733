/* early.h - a library that is initialised before the preloaded one, and finished after it */
#pragma once

enum { EARLY_CALLS = 10000 };

extern int early_constructed, early_forks_prepared, early_forks_seen; /* how often */
