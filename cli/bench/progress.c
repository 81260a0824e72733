/* progress.c - what is going on, for whoever watches a terminal */
#include "bench.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One column less than the line: a full line may wrap, and then the next one erases only its end. */
static int room(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known ? size.ws_col : USUAL) - 1;
}

void progress_show(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r\033[K%.*s", room(), line);
    fflush(stderr);
}

void progress_clear(void)
{
    progress_show("%s", "");
}
