/* error.c - the end of a command that cannot do what it was asked to */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("pawl: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_CANNOT);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL && count > 0 && size > 0)
        fail("out of memory");
    return memory;
}
