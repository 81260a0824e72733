/* heap.h - the program's malloc, and the lab's own
 *
 * What code under test allocates on a fiber comes from a region of its thread, in the same place in every execution
 * that leads there, and dies when freed. The lab's own data must not land there: it uses lab_allocate.
 */
#pragma once
#include <stddef.h>

void *lab_allocate(size_t size); /* zeroed; never NULL */
void *lab_reallocate(void *p, size_t size);
