/* trace.c - the timeline, in Chrome's trace event format */
#include "trace.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST_SPANS = 50000, THREADS = 1, STORES = 2 };

typedef struct span {
    const char *what;
    sim_object object;
    int process; /* THREADS or STORES */
    unsigned line, cpu;
    sim_time from, to;
} span;

static const char *file;
static span *spans;
static size_t count;
static bool measuring;

void trace_start(const char *path)
{
    file = path;
    if (path != NULL && (spans = calloc(MOST_SPANS, sizeof *spans)) == NULL)
        lab_die("out of memory");
}

void trace_measure(void)
{
    measuring = file != NULL;
}

static void add(span s)
{
    if (measuring && count < MOST_SPANS && s.to > s.from)
        spans[count++] = s;
}

void trace_thread(const sim_thread *t, const char *what, sim_object object, sim_time from, sim_time to)
{
    if (t->fiber != NULL)
        add((span){what, object, THREADS, t->id, t->cpu->id, from, to});
}

void trace_stores(const sim_cpu *c, const char *what, sim_object object, sim_time from, sim_time to)
{
    add((span){what, object, STORES, c->id, c->id, from, to});
}

/* Microseconds. */
static double us(sim_time t)
{
    return (double)t / 1e6;
}

static void write_span(FILE *f, const span *s)
{
    bool named = s->object != SIM_OBJECTS;
    fprintf(f,
            ",\n{\"name\":\"%s%s%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%.6f,\"dur\":%.6f,\"args\":{"
            "\"cpu\":%u}}",
            s->what, named ? " " : "", named ? sim_object_names[s->object] : "", s->process, s->line,
            us(s->from), us(s->to - s->from), s->cpu);
}

/* Without displayTimeUnit, which older versions of Perfetto take for the unit of the times. */
static bool write_all(FILE *f)
{
    fprintf(
        f,
        "{\"traceEvents\":[\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"threads\"}},\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"store buffers of CPUs\"}}",
        THREADS, STORES);
    for (size_t i = 0; i < count; i++)
        write_span(f, &spans[i]);
    fputs("\n]}\n", f);
    return !ferror(f);
}

bool trace_write(void)
{
    if (file == NULL)
        return true;
    char *temporary;
    if (asprintf(&temporary, "%s.%d", file, (int)getpid()) < 0)
        return false;
    FILE *f = fopen(temporary, "w");
    bool written = f != NULL && write_all(f);
    written = f != NULL && fclose(f) == 0 && written;
    written = written && rename(temporary, file) == 0;
    if (!written)
        unlink(temporary);
    free(temporary);
    return written;
}
