/* study_json.c - a study as JSON, in the form that bench/result.schema.json describes */
#include "bench.h"

#include "cli/json.h"
#include "cli/parse.h"

#include <math.h>
#include <time.h>

static json_t *number_or_null(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

static json_t *whole_or_null(double value)
{
    return value >= 0 ? json_integer((json_int_t)round(value)) : json_null();
}

static json_t *texts(const doubts *d)
{
    json_t *array = json_array();
    for (size_t i = 0; i < d->count; i++)
        json_array_append_new(array, json_string(d->text[i]));
    return array;
}

/* 0: it is not known. */
static json_t *count_or_null(unsigned count)
{
    return count > 0 ? json_integer(count) : json_null();
}

static json_t *machine_json(const machine *m)
{
    return json_pack("{ss si so so so ss ss ss so ss so so*}", "cpu", m->model, "cpus", (int)m->cpus,
                     "sockets", count_or_null(m->sockets), "cores", count_or_null(m->cores), "numa_nodes",
                     count_or_null(m->numa_nodes), "kernel", m->kernel, "libc", m->libc, "compiler", m->compiler, "commit",
                     m->commit[0] != '\0' ? json_string(m->commit) : json_null(), "topology", m->topology,
                     "perf", m->no_counters != NULL ? json_string(m->no_counters) : json_true(), "simulated",
                     m->simulated ? json_true() : NULL);
}

static void set_load(json_t *to, const bench_request *q, const workload *w)
{
    if (q->beside > 0)
        json_object_set_new(to, "load", json_integer(q->beside));
    if (w->parameters != NULL)
        w->parameters(q, to);
}

static json_t *parameters_json(const study *s)
{
    const bench_request *q = &s->base;
    char room[32];
    json_t *p = json_pack("{sf sf si ss}", "duration_s", (double)q->duration_ns / 1e9, "warm_up_s",
                          (double)q->warm_up_ns / 1e9, "processes", (int)s->runs, "pin",
                          pin_name(&q->pin, room, sizeof room));
    if ((s->workload->takes & TAKES_LOCKS) != 0)
        json_object_set_new(p, "wait", json_string(policy_name((pawl_policy)q->policy)));
    set_load(p, q, s->workload);
    return p;
}

json_t *cell_json(const point *p)
{
    if (p->workload == NULL)
        return NULL;
    json_t *cell = json_pack("{ss}", "workload", p->workload->name);
    set_load(cell, &p->request, p->workload);
    return cell;
}

static json_t *counters_json(const bench_run *r)
{
    static const char *const names[BENCH_COUNTERS] = {"cycles", "instructions", "cache_misses"};
    json_t *counters = json_object();
    for (int i = 0; i < BENCH_COUNTERS; i++)
        if (r->counters[i] >= 0)
            json_object_set_new(counters, names[i], whole_or_null(r->counters[i]));
    if (json_object_size(counters) > 0)
        return counters;
    json_decref(counters);
    return json_null();
}

static void set_calls(json_t *run, const double *calls)
{
    static const char *const names[PAWL_EVENTS] = {
        [PAWL_MEMBARRIERS] = "membarriers_per_1000",
        [PAWL_FUTEX_WAITS] = "futex_waits_per_1000",
        [PAWL_FUTEX_WAITS_VOID] = "futex_waits_void_per_1000",
        [PAWL_FUTEX_WAKES] = "futex_wakes_per_1000",
    };
    for (int i = 0; i < PAWL_EVENTS; i++)
        json_object_set_new(run, names[i], number_or_null(calls[i]));
}

double per_acquisition(const bench_run *r, double amount)
{
    return r->acquisitions > 0 && amount >= 0 ? amount / r->acquisitions : -1;
}

static void set_costs(json_t *run, const bench_run *r)
{
    double switches = r->voluntary_switches + r->involuntary_switches;
    json_object_set_new(run, "migrations", whole_or_null(r->migrations));
    json_object_set_new(run, "switches_per_1000", number_or_null(per_acquisition(r, 1000 * switches)));
    json_object_set_new(run, "migrations_per_1000", number_or_null(per_acquisition(r, 1000 * r->migrations)));
    json_object_set_new(run, "cpu_ns_per_acquisition", number_or_null(per_acquisition(r, 1e9 * r->cpu_s)));
}

static json_t *waits_json(const sample *x)
{
    const bench_waits *w = &x->run.waits;
    if (x->waits == NULL || x->run.schedule.admissions > 0)
        return json_null();
    json_t *threads = json_array();
    for (unsigned i = 0; i < x->run.waits_of_threads; i++)
        json_array_append_new(threads, json_pack("{so so so}", "p50", whole_or_null(x->waits[i].p50), "p99",
                                                 whole_or_null(x->waits[i].p99), "max",
                                                 whole_or_null(x->waits[i].max)));
    return json_pack("{so so so so so so so}", "p50", whole_or_null(w->p50), "p90", whole_or_null(w->p90),
                     "p99", whole_or_null(w->p99), "p99.9", whole_or_null(w->p999), "p99.99",
                     whole_or_null(w->p9999), "max", whole_or_null(w->max), "threads", threads);
}

static json_t *lines_json(const bench_lines *l)
{
    return json_pack("{sf sf sf sf sf}", "read_misses", l->read_misses, "write_misses", l->write_misses,
                     "upgrades", l->upgrades, "invalidations", l->invalidations, "remote", l->remote);
}

/* NULL if the run was none. */
static json_t *simulated_json(const bench_simulated *s)
{
    if (!s->is)
        return NULL;
    json_t *lines = json_object();
    for (int i = 0; i < SIM_OBJECTS; i++)
        json_object_set_new(lines, sim_object_names[i], lines_json(&s->lines[i]));
    return json_pack("{so so so so so so sI}", "lines", lines, "handover_p50_ns",
                     number_or_null(s->handover_p50_ns), "handover_p99_ns",
                     number_or_null(s->handover_p99_ns), "bypass_mean", number_or_null(s->bypass_mean),
                     "bypass_most", number_or_null(s->bypass_most), "waiting_cpu_ns",
                     number_or_null(s->waiting_cpu_ns), "accesses", (json_int_t)s->accesses);
}

static json_t *run_json(const sample *x)
{
    const bench_run *r = &x->run;
    json_t *run = json_pack(
        "{sf so so so so sf so so so so so* so*}", "value", r->value, "fairness", number_or_null(r->fairness),
        "jain", number_or_null(fmin(r->jain, 1)), "starvation_ns", whole_or_null(r->starvation_ns),
        "worst_wait_ns", whole_or_null(r->worst_wait_ns), "cpu_s", r->cpu_s, "voluntary_switches",
        whole_or_null(r->voluntary_switches), "involuntary_switches", whole_or_null(r->involuntary_switches),
        "perf", counters_json(r), "wait_ns", waits_json(x), "simulated", simulated_json(&r->simulated),
        "schedule", schedule_json(x));
    set_calls(run, r->calls);
    set_costs(run, r);
    return run;
}

static json_t *point_json(const study *s, const point *p)
{
    char room[32];
    json_t *runs = json_array();
    for (unsigned r = 0; r < s->runs; r++)
        json_array_append_new(runs, run_json(&p->samples[r]));
    return json_pack(
        "{ss ss si ss so so sf sf sf sf sf so so*}", "lock", p->lock, "family", p->peer ? "peer" : "pawl",
        "threads", (int)p->request.threads, "pin", pin_name(&p->request.pin, room, sizeof room), "variant",
        p->variant != NULL ? json_string(p->variant) : json_null(), "runs", runs, "median", p->median, "min",
        p->min, "max", p->max, "q1", p->q1, "q3", p->q3, "doubts", texts(&p->doubts), "cell", cell_json(p));
}

json_t *study_head(const study *s)
{
    char date[32];
    time_t now = s->machine.simulated ? 0 : time(NULL); /* the same simulation gives the same bytes */
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    json_t *head =
        json_pack("{ss si ss ss? so ss so so ss sb so}", "pawl", PAWL_VERSION, "format", 1, "workload",
                  s->workload->name, "preset", s->preset, "parameters", parameters_json(s), "date", date,
                  "machine", machine_json(&s->machine), "harness_ns",
                  s->harness_known ? json_real(s->harness_ns) : json_null(), "unit", s->workload->unit,
                  "higher_is_better", s->workload->higher_is_better, "doubts", texts(&s->doubts));
    if (head == NULL)
        fail("out of memory");
    if (s->parts > 0)
        json_object_set_new(head, "part",
                            json_pack("{sI sI sI}", "number", (json_int_t)s->part, "parts",
                                      (json_int_t)s->parts, "units", (json_int_t)s->units_of_all));
    return head;
}

void study_json(output *o, const study *s)
{
    json_t *all = study_head(s), *points = json_array();
    for (size_t i = 0; i < s->point_count; i++)
        json_array_append_new(points, point_json(s, &s->points[i]));
    json_object_set_new(all, "points", points);
    if (s->published != NULL)
        json_object_set(all, "published", s->published);
    output_json(o, all);
}
