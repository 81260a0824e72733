/* plugin.c - a library that programs load at run time, and that uses every lock
 *
 * PLUGIN_SEES_SLICES: it is linked with libpawl.a, whose slices it can look at. libpawl.so does not export that.
 */
#ifdef PLUGIN_SEES_SLICES
#include "../apart.h"
#endif

#include <pawl.h>

#include <stdlib.h>

#define PAWL_LOCK(name, ...) static pawl_##name name;
#include <pawl/locks.def>
#undef PAWL_LOCK
static int count;

void plugin_use(void);

/* Leaves something in the thread that the end of the thread takes care of. */
__attribute__((visibility("default"))) void plugin_use(void)
{
    if (!pawl_thread_enter())
        abort();
#ifdef PLUGIN_SEES_SLICES
    if (apart_failed() != NULL)
        abort();
#endif
    for (int i = 0; i < 100; i++) {
#define PAWL_LOCK(name, form, ...)                                                                           \
    PAWL_CTX_OF(name, form) ctx_##name;                                                                      \
    PAWL_CALL(name, form, lock, &name, &ctx_##name);                                                         \
    count++;                                                                                                 \
    PAWL_CALL(name, form, unlock, &name, &ctx_##name);
#include <pawl/locks.def>
#undef PAWL_LOCK
    }
}
