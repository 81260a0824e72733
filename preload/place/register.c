/* register.c - all libraries libpawl-<name>.so, and the locks for which there is none */
#include "register.h"
#include "fits.h"

const preload_library preload_libraries[] = {
    {"pawl_mutex", NULL},
    {"pawl_fairmutex", NULL},
#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, destroy, prompt, ...)          \
    {#name, PRELOAD_REFUSED(name, PAWL_BOOL(trylock), PAWL_BOOL(prompt))},
#include <pawl/locks.def>
#undef PAWL_LOCK
};

const size_t preload_library_count = sizeof preload_libraries / sizeof preload_libraries[0];
