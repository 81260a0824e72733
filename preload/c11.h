/* c11.h - what C11's functions return */
#pragma once

#include <errno.h>
#include <threads.h>

static inline int c11_result(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}
