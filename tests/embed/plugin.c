/* plugin.c - a library that programs load at run time, and that uses every lock */
#include "../apart.h"

#include <pawl.h>

#include <stdlib.h>

#define PAWL_LOCK(name, ...) static pawl_##name name;
#include <pawl/locks.def>
#undef PAWL_LOCK
static pawl_mutex mutex;
static int count;

void plugin_use(void);

/* Something is left in the thread, of which its end takes care. */
__attribute__((visibility("default"))) void plugin_use(void)
{
    if (!pawl_thread_enter() || apart_failed() != NULL)
        abort();
    for (int i = 0; i < 100; i++) {
#define PAWL_LOCK(name, ...)                                                                                 \
    pawl_##name##_ctx ctx_##name;                                                                            \
    pawl_##name##_lock(&name, &ctx_##name);                                                                  \
    count++;                                                                                                 \
    pawl_##name##_unlock(&name, &ctx_##name);
#include <pawl/locks.def>
#undef PAWL_LOCK
        pawl_mutex_lock(&mutex);
        pawl_mutex_unlock(&mutex);
    }
}
