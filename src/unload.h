/* unload.h - whether this copy of the library can be unloaded: libpawl.a in a plugin, by dlclose()
 *
 * Elsewhere destructors run at the end of the process, while threads still lock and end. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#if !defined(__GLIBC__) && !defined(_DYNAMIC)
extern ElfW(Dyn) _DYNAMIC[]; /* which glibc's <link.h> declares */
#endif
#pragma weak _DYNAMIC /* a static program has none */

static inline bool can_be_unloaded(void)
{
    if (_DYNAMIC == NULL)
        return false;
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG || /* programs have it, libraries do not */
            (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE)))
            return false;
    return true;
}
