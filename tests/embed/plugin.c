/* plugin.c - a library that programs load at run time, and that uses every lock
 *
 * PLUGIN_SEES_SLICES: it is linked with libpawl.a, whose slices it can look at. libpawl.so does not export that.
 */
#ifdef PLUGIN_SEES_SLICES
#include "../apart.h"
#endif

#include <pawl.h>

#ifdef __linux__
#include <pawl/shared.h>

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <stdlib.h>

#define PAWL_LOCK(name, ...) static pawl_##name name;
#include <pawl/locks.def>
#undef PAWL_LOCK
static int count;

#ifdef __linux__
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pawl_region *region;

static void make_region(void)
{
    int file = memfd_create("plugin", 0),
        error = pawl_region_create(&region, file, sizeof(pawl_mutex_shared));
    if (error != 0 && error != ENOTSUP && error != EMFILE)
        abort();
    close(file);
}

/* Stays mapped: the threads keep their seats. */
static void use_region(void)
{
    pthread_once(&once, make_region);
    if (region == NULL)
        return;
    pawl_mutex_shared *m = pawl_region_memory(region);
    if (pawl_mutex_shared_lock(region, m) != 0 || pawl_mutex_shared_unlock(region, m) != 0)
        abort();
}
#else
static void use_region(void)
{
}
#endif

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
    use_region();
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
