/* cancel.c - pthread_setcanceltype(): to know who may be cancelled at any instruction */
#include "cancel.h"
#include "preload/mutex/mutex.h"

EXPORT int pthread_setcanceltype(int type, int *before)
{
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS) { /* first: it may strike at once */
        era_without_fast_paths();
        self.async = true;
    }
    int error = glibc()->setcanceltype(type, before);
    if (type == PTHREAD_CANCEL_DEFERRED)
        self.async = false;
    return error;
}
OF_LIBC(pthread_setcanceltype);
