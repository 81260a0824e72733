/* lines.c - which cache lines moved, per acquisition: a table below the study's */
#include "sim.h"

#include "cli/grid.h"

static double misses(const bench_lines *l)
{
    return l->read_misses + l->write_misses + l->upgrades;
}

static void add(grid *g, double value, int digits)
{
    if (value < 0)
        grid_add(g, "-");
    else
        grid_add(g, "%.*f", digits, value);
}

void lines_text(output *o, const study *s)
{
    grid g = grid_new("rlrrrrrrrrrrrrr");
    static const char *const heads[] = {"threads", "lock", "misses", "upgrades", "invalidations", "remote"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        grid_add(&g, "%s", heads[i]);
    for (int i = 0; i < SIM_OTHER; i++)
        grid_add(&g, "%s", sim_object_names[i]);
    grid_add(&g, "hand-over");
    grid_add(&g, "bypass");
    grid_add(&g, "waiting");
    for (size_t i = 0; i < s->point_count; i++) {
        const point *p = &s->points[i];
        const bench_simulated *x = &p->samples[0].run.simulated;
        bench_lines sum = {0};
        for (int k = 0; k < SIM_OBJECTS; k++) {
            sum.read_misses += misses(&x->lines[k]) - x->lines[k].upgrades;
            sum.upgrades += x->lines[k].upgrades;
            sum.invalidations += x->lines[k].invalidations;
            sum.remote += x->lines[k].remote;
        }
        grid_add(&g, "%u", p->request.threads);
        grid_add(&g, "%s", p->lock);
        add(&g, sum.read_misses, 2);
        add(&g, sum.upgrades, 2);
        add(&g, sum.invalidations, 2);
        add(&g, sum.remote, 2);
        for (int k = 0; k < SIM_OTHER; k++)
            add(&g, misses(&x->lines[k]), 2);
        add_time(&g, x->handover_p50_ns);
        add(&g, x->bypass_most, 0);
        add_time(&g, x->waiting_cpu_ns);
    }
    fputs("\nCache lines per acquisition, of the first run:\n\n", o->file);
    grid_print(&g, o->file);
    grid_free(&g);
    fputs("\nmisses do not include upgrades, the columns of objects do; hand-over is the median from section "
          "to section, "
          "bypass\nhow often one wait was overtaken at most, waiting the CPU time between asking and having "
          "the lock\n",
          o->file);
}
