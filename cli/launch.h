/* launch.h - what is checked before a program is started with a lock under it */
#pragma once

#include "preload/place/settings.h"

#include <stddef.h>

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127 }; /* as env(1) exits */

extern const char launch_default_lock[];

/* The library for the lock; fails if the lock can't be put under the command, and says why. */
void launch_check(const char *lock, const char *command, char *library, size_t size);

/* A way to set pawl_mutex; fails, naming `what`, if there is none of that name. */
const preload_setting *launch_setting(const char *what, const char *name);

/* Becomes the command; exits, and says why, if it cannot. */
_Noreturn void launch_exec(char **argv);

/* How a program ended, from its wait status: "killed by SIGSEGV" or "exit status 3". */
const char *launch_end(int status, char *text, size_t size);

/* setenv(), or fail(). */
void launch_set(const char *name, const char *value);
