/* interposed.h - whether pthread's mutexes are those of the lock that the request names */
#pragma once

#include "request.h"

/* True for glibc, or if pthread_mutex_lock is that of libpawl-<lock>.so. The dynamic linker ignores a
 * library that it cannot load, and a number would then be the wrong lock's. */
bool bench_interposed(const bench_request *q);
