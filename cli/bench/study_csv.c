/* study_csv.c - a study as CSV: a line for each run, as in RFC 4180 but with plain newlines */
#include "bench.h"

static void text_field(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text != '\0'; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', f);
}

/* Nothing for a number that the workload or the machine does not have. */
static void number_field(FILE *f, double value)
{
    fputc(',', f);
    if (value >= 0)
        fprintf(f, "%.9g", value);
}

static void run_line(FILE *f, const study *s, const point *p, unsigned r)
{
    char room[32];
    const bench_run *x = &p->samples[r].run;
    bool waits = p->samples[r].waits != NULL;
    const char *texts[] = {s->workload->name,
                           s->preset != NULL ? s->preset : "",
                           p->lock,
                           p->peer ? "peer" : "pawl",
                           p->variant != NULL ? p->variant : "",
                           pin_name(&p->request.pin, room, sizeof room),
                           s->workload->unit};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        text_field(f, texts[i]);
        fputc(',', f);
    }
    fprintf(f, "%u,%u", p->request.threads, r + 1);
    double numbers[] = {x->value,
                        x->fairness,
                        x->jain,
                        x->starvation_ns,
                        x->worst_wait_ns,
                        x->cpu_s,
                        x->voluntary_switches,
                        x->involuntary_switches,
                        x->counters[BENCH_CYCLES],
                        x->counters[BENCH_INSTRUCTIONS],
                        x->counters[BENCH_CACHE_MISSES],
                        waits ? x->waits.p50 : -1,
                        waits ? x->waits.p90 : -1,
                        waits ? x->waits.p99 : -1,
                        waits ? x->waits.p999 : -1,
                        waits ? x->waits.p9999 : -1,
                        waits ? x->waits.max : -1};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        number_field(f, numbers[i]);
    fprintf(f, ",%zu", p->doubts.count);
    const char *origin[] = {s->machine.model, s->machine.kernel, s->machine.compiler, s->machine.commit};
    for (size_t i = 0; i < sizeof origin / sizeof origin[0]; i++) {
        fputc(',', f);
        text_field(f, origin[i]);
    }
    fputc('\n', f);
}

void study_csv(output *o, const study *s)
{
    fputs("workload,preset,lock,family,variant,pin,unit,threads,run,value,fairness,jain,starvation_ns,worst_"
          "wait_ns,cpu_s,"
          "voluntary_switches,involuntary_switches,cycles,instructions,cache_misses,wait_p50_ns,wait_p90_ns,"
          "wait_p99_ns,"
          "wait_p99.9_ns,wait_p99.99_ns,wait_max_ns,doubts,cpu,kernel,compiler,commit\n",
          o->file);
    for (size_t i = 0; i < s->point_count; i++)
        for (unsigned r = 0; r < s->runs; r++)
            run_line(o->file, s, &s->points[i], r);
}
