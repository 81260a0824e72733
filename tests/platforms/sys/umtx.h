/* umtx.h - what FreeBSD's header of this name declares, as far as src/park/futex_freebsd.c needs it */
#pragma once

#include <stdint.h>
#include <time.h>

enum { UMTX_OP_WAKE_PRIVATE = 16, UMTX_OP_WAIT_UINT_PRIVATE = 15, UMTX_ABSTIME = 1 };

struct _umtx_time {
    struct timespec _timeout;
    uint32_t _flags;
    uint32_t _clockid;
};

int _umtx_op(void *object, int op, unsigned long value, void *size, void *time);
