/* library.h - the libraries that are put under programs: libpawl-<lock>.so */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In the build folder, beside this program as it was installed, or where the build said it would be installed. If
 * it is in none of them: false, and the last path. */
bool library_find(const char *lock, char *path, size_t size);

/* Puts the library in front of what LD_PRELOAD holds, in place of another libpawl. Fails if its path cannot be
 * written there. */
void library_preload(const char *path);
