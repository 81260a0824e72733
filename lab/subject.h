/* subject.h - for code under test: -include this
 *
 * Compilers expand memset and memcpy without instrumenting them. The lab must see them: for races, and because what
 * it has not seen it cannot undo before the next execution.
 */
#pragma once
#include <string.h>

void *__tsan_memset(void *p, int byte, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);

#define memset(p, byte, size) __tsan_memset(p, byte, size)
#define memcpy(to, from, size) __tsan_memcpy(to, from, size)
#define memmove(to, from, size) __tsan_memmove(to, from, size)
