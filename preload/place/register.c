/* register.c - all libraries libpawl-<name>.so, and the locks for which there is none */
#include "register.h"
#include "fits.h"

/* Where none is built, the build says why. */
#ifdef PRELOAD_MISSING
#undef PRELOAD_REFUSED
#define PRELOAD_REFUSED(...) PRELOAD_MISSING
#endif

const preload_library preload_libraries[] = {
#define PAWL_LOCK(name, form, room, ...) {PAWL_SHOWN(name, form), PRELOAD_REFUSED(name, form, room)},
#include <pawl/locks.def>
#undef PAWL_LOCK
};

const size_t preload_library_count = sizeof preload_libraries / sizeof preload_libraries[0];
