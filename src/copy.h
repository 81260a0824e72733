/* copy.h - there is one libpawl in a process; see copy.c */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In the source files that every use of libpawl needs: linking them links copy.c. */
#ifdef PAWL_IN_PTHREAD_MUTEX
#define PAWL_ONE_COPY
#else
extern const char pawl_copy;
#define PAWL_ONE_COPY __attribute__((used)) static const char *const one_copy = &pawl_copy;
#endif
