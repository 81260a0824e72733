/* error.c - ends a command that cannot do what it was asked to */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>

/* One line, whatever is quoted in it: what people type and what files hold may contain anything. */
void fail(const char *format, ...)
{
    static char line[16384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "pawl: %s\n", line);
    exit(EXIT_CANNOT);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL && count > 0 && size > 0)
        fail("out of memory");
    return memory;
}
