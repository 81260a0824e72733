/* error.c - says what cannot be done, and ends the command */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>

/* One line, whatever is quoted in it: what people type and what files hold may contain anything. */
static void say(const char *format, va_list arguments)
{
    static char line[16384];
    vsnprintf(line, sizeof line, format, arguments);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "pawl: %s\n", line);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
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
