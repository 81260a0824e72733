/* mutexbench_report.c - the results of mutexbench as a table and as JSON */
#include "grid.h"
#include "json.h"
#include "mutexbench.h"
#include "parse.h"

#include <string.h>

/* What glibc's mutex did with as many threads; NULL if it was not asked for. */
static const bench_result *reference(const mutexbench *m, unsigned threads)
{
    for (size_t i = 0; i < m->result_count; i++)
        if (m->results[i].threads == threads && strcmp(m->results[i].lock->name, "pthread") == 0)
            return &m->results[i];
    return NULL;
}

static void add_wait(grid *g, double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t u = 0;
    while (ns < units[u].ns && u < sizeof units / sizeof units[0] - 1)
        u++;
    grid_add(g, "%.*f %s", units[u].ns > 1 ? 1 : 0, ns / units[u].ns, units[u].name);
}

static void add_row(grid *g, const mutexbench *m, const bench_result *r)
{
    const bench_result *glibc = reference(m, r->threads);
    grid_add(g, "%u", r->threads);
    grid_add(g, "%s", r->lock->name);
    grid_add(g, "%.3f", r->throughput / 1e6);
    grid_add(g, "%.3f-%.3f", r->throughput_min / 1e6, r->throughput_max / 1e6);
    if (glibc != NULL && glibc->throughput > 0)
        grid_add(g, "%.2f", r->throughput / glibc->throughput);
    else
        grid_add(g, "-");
    grid_add(g, "%.2f", r->fairness);
    add_wait(g, r->worst_wait_ns);
}

void mutexbench_text(output *o, const mutexbench *m)
{
    static const char *const heads[] = {"threads",   "lock",     "M/s",       "from-to",
                                        "x pthread", "fairness", "worst wait"};
    const bench_campaign *c = &m->campaign;
    fprintf(o->file, "mutexbench on %u CPU%s, %s, %s, %s\n", m->machine.cpus, m->machine.cpus == 1 ? "" : "s",
            m->machine.model, m->machine.kernel, m->machine.compiler);
    fprintf(o->file, "cs %u, ncs %s, wait %s; median of %u run%s of %g s\n\n", (unsigned)c->load.cs, m->ncs,
            policy_name(m->policy), c->runs, c->runs == 1 ? "" : "s", (double)c->duration_ns / 1e9);
    grid g = grid_new("rlrrrrr");
    for (size_t i = 0; i < g.columns; i++)
        grid_add(&g, "%s", heads[i]);
    for (size_t i = 0; i < m->result_count; i++)
        add_row(&g, m, &m->results[i]);
    grid_print(&g, o->file);
    grid_free(&g);
}

static json_t *machine_json(const machine *m)
{
    return json_pack("{si ss ss ss}", "cpus", (int)m->cpus, "model", m->model, "kernel", m->kernel,
                     "compiler", m->compiler);
}

static json_t *config_json(const mutexbench *m)
{
    const bench_campaign *c = &m->campaign;
    json_t *locks = json_array(), *threads = json_array();
    for (size_t i = 0; i < c->lock_count; i++)
        json_array_append_new(locks, json_string(c->locks[i]->name));
    for (size_t i = 0; i < c->thread_counts; i++)
        json_array_append_new(threads, json_integer(c->threads[i]));
    return json_pack("{so so ss si ss sf si}", "locks", locks, "threads", threads, "ncs", m->ncs, "cs",
                     (int)c->load.cs, "wait", policy_name(m->policy), "duration_seconds",
                     (double)c->duration_ns / 1e9, "runs", (int)c->runs);
}

static json_t *result_json(const mutexbench *m, const bench_result *r)
{
    return json_pack("{ss si ss si ss sf sf sf sf sI sf si}", "lock", r->lock->name, "threads",
                     (int)r->threads, "ncs", m->ncs, "cs", (int)m->campaign.load.cs, "wait",
                     r->lock->sleeps ? "futex" : policy_name(m->policy), "throughput", r->throughput,
                     "throughput_min", r->throughput_min, "throughput_max", r->throughput_max, "fairness",
                     r->fairness, "worst_wait_ns", (json_int_t)r->worst_wait_ns, "cpu_seconds",
                     r->cpu_seconds, "runs", (int)r->runs);
}

void mutexbench_json(output *o, const mutexbench *m)
{
    json_t *results = json_array(), *warnings = json_array();
    for (size_t i = 0; i < m->result_count; i++)
        json_array_append_new(results, result_json(m, &m->results[i]));
    for (size_t i = 0; i < m->doubts.count; i++)
        json_array_append_new(warnings, json_string(m->doubts.text[i]));
    output_json(o,
                json_pack("{ss so so so so}", "benchmark", "mutexbench", "machine", machine_json(&m->machine),
                          "config", config_json(m), "warnings", warnings, "results", results));
}
