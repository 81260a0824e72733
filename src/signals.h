/* signals.h - no signal handlers while one of the library's own locks is held
 *
 * A handler that locks is the program's risk, except inside libpawl-<lock>.so: there it must not deadlock on a table
 * that the program does not know of. Elsewhere these do nothing. They do not nest.
 */
#pragma once

#include <stdint.h>

/* Blocks these signals and no others, the C library's own among them; returns those that were blocked. Linux only. */
uint64_t pawl_signals_swap(uint64_t mask);

#ifdef PAWL_IN_PTHREAD_MUTEX
void pawl_signals_block(void);
void pawl_signals_restore(void);
#else
static inline void pawl_signals_block(void)
{
}

static inline void pawl_signals_restore(void)
{
}
#endif
