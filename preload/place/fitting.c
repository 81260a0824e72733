/* fitting.c - the locks that have a library, for the build: compiled to assembler and read as text
 *
 * Sizes are the compiler's business, and when cross-compiling nothing can be run. */
#include "fits.h"

#define PAWL_LOCK(name, form, room, ...)                                                                     \
    __asm__ volatile("#library " PAWL_SHOWN(name, form) " " #name " " #form " " #room " %c0"                 \
                     :                                                                                       \
                     : "i"(PRELOAD_HAS_LIBRARY(name, form, room)));

void libraries(void);

void libraries(void)
{
#include <pawl/locks.def>
}
