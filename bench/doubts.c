/* doubts.c - why results may not mean what they seem to */
#include "doubts.h"

#include <pawl/wait.h>

#include <stdarg.h>
#include <stdio.h>

/* Less than this part of the CPU time that the threads could have had is no quiet machine. */
static const double enough = 0.8;

static void __attribute__((format(printf, 2, 3))) add(bench_doubts *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->text[d->count++], sizeof d->text[0], format, arguments);
    va_end(arguments);
}

void bench_doubt_spinning(bench_doubts *d, const bench_campaign *c, unsigned cpus)
{
    unsigned most = 0;
    for (size_t i = 0; i < c->thread_counts; i++)
        most = c->threads[i] > most ? c->threads[i] : most;
    if (pawl_get_wait() == PAWL_WAIT_SPIN && most > cpus)
        add(d, "%u threads spin on %u CPU%s: this measures the scheduler, not the lock", most, cpus,
            cpus == 1 ? "" : "s");
}

void bench_doubt_load(bench_doubts *d, const bench_campaign *c, unsigned cpus, const bench_result *results)
{
    double least = 1;
    for (size_t i = 0; i < c->lock_count * c->thread_counts; i++) {
        const bench_result *r = &results[i];
        if (r->lock->sleeps)
            continue; /* may have left CPUs idle itself; the others never do */
        double usable = (double)(r->threads < cpus ? r->threads : cpus) * (double)c->duration_ns / 1e9;
        least = r->cpu_seconds / usable < least ? r->cpu_seconds / usable : least;
    }
    if (least < enough)
        add(d, "the threads got only %.0f %% of the CPU time at some point: other programs were running",
            100 * least);
}
