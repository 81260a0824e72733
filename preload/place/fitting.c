/* fitting.c - the locks that have a library, for the build: compiled to assembler and read as text
 *
 * Sizes are the compiler's business, and when cross-compiling nothing can be run. */
#include "fits.h"

#define PAWL_LOCK(name, title, source, order, each, total, constant, trylock, destroy, prompt, ...)          \
    __asm__ volatile("#library " #name " %c0"                                                                \
                     :                                                                                       \
                     : "i"(PAWL_BOOL(prompt) && PAWL_BOOL(trylock) && PRELOAD_FITS(name)));

void libraries(void);

void libraries(void)
{
#include <pawl/locks.def>
}
