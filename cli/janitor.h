/* janitor.h - a folder that goes away with this process, however that ends */
#pragma once

#include <stdbool.h>

/* Makes it in `parent`, named after `pattern`, which ends with XXXXXX; fails, naming `what`, if it cannot. With
 * `parent_too`, the parent goes away as well, unless there is something else in it by then. The path stays. */
const char *janitor_folder(const char *what, const char *parent, const char *pattern, bool parent_too);

/* Removes it now. Without this it is removed when the process has ended. */
void janitor_done(void);
