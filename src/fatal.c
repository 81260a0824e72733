#include "fatal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void pawl_fatal(const char *line)
{
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written; /* nothing can be done if it fails */
    abort();
}
