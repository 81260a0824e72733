/* measure.c - runs a campaign for a command */
#include "mutexbench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void progress_show(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

void progress_clear(void)
{
    progress_show("%s", "");
}

void warn_of(const bench_doubts *d, size_t from)
{
    for (size_t i = from; i < d->count; i++)
        fprintf(stderr, "pawl: warning: %s\n", d->text[i]);
}

static void show(const bench_point *next, size_t done, size_t all)
{
    progress_show("%3zu %%  %s, %u thread%s", 100 * done / all, next->lock->name, next->threads,
                  next->threads == 1 ? "" : "s");
}

bench_result *measure(bench_campaign *c)
{
    bench_result *results = allocate(c->lock_count * c->thread_counts, sizeof *results);
    bench_point at = {0};
    c->progress = show;
    int error = bench_campaign_run(c, results, &at);
    progress_clear();
    if (error == BENCH_NO_EXCLUSION) {
        fprintf(stderr, "pawl: %s: two of %u threads held the lock at once\n", at.lock->name, at.threads);
        exit(EXIT_BAD_NEWS);
    }
    if (error != 0)
        fail("%s with %u threads: %s", at.lock->name, at.threads, strerror(error));
    return results;
}
