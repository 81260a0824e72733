/* bench_main.c - from the options of a workload to its output */
#include "bench.h"

#include "cli/parse.h"

#include <stdlib.h>
#include <string.h>

static error_t parse(int key, char *argument, struct argp_state *state)
{
    study *s = state->input;
    if (key == ARGP_KEY_INIT) {
        for (const struct argp_child *c = state->root_argp->children; c->argp != NULL; c++)
            state->child_inputs[c - state->root_argp->children] = s;
        return 0;
    }
    return s->workload->take != NULL && s->workload->take(s, key, argument) ? 0 : ARGP_ERR_UNKNOWN;
}

static void take_options(study *s, int argc, char **argv)
{
    struct argp_child children[8] = {{0}};
    size_t count = option_groups(s->workload->takes, children);
    if (bench_setting.options != NULL)
        children[count++].argp = bench_setting.options;
    children[count] = common_options[0];
    struct argp argp = {
        .options = s->workload->options, .parser = parse, .doc = s->workload->doc, .children = children};
    parse_options(&argp, argc, argv, 0, s);
}

void study_begin(study *s, const workload *w, uint64_t duration_ns)
{
    s->workload = w;
    s->machine = machine_here();
    s->base = w->base;
    s->base.load.cs = 1;
    s->base.policy = pawl_get_wait();
    s->base.duration_ns = w->base.duration_ns > 0 ? w->base.duration_ns : duration_ns;
    snprintf(s->base.workload, sizeof s->base.workload, "%s", w->name);
}

void study_measure(study *s)
{
    s->workload->plan(s);
    if (bench_setting.begin != NULL)
        bench_setting.begin(s);
    parts_take_shard(s);
    measure(s);
    if (s->workload->done != NULL)
        s->workload->done();
    judge(s);
    if (bench_setting.judge != NULL)
        bench_setting.judge(s);
    warn_of(s);
}

void study_end(study *s)
{
    for (size_t i = 0; i < s->point_count; i++) {
        for (unsigned r = 0; r < s->runs; r++)
            free(s->points[i].samples[r].waits);
        free(s->points[i].samples);
    }
    free(s->points);
    free(s->files);
    free(s->locks);
    free(s->threads);
    free(s->ratios);
}

int workload_main(const workload *w, int argc, char **argv)
{
    static void (*const write[])(output * o, const study *s) = {
        [TEXT] = study_text, [JSON] = study_json, [CSV] = study_csv};
    study s = {.runs = bench_setting.runs};
    study_begin(&s, w, bench_setting.duration_ns);
    take_options(&s, argc, argv);
    check_environment();
    output_check(s.output);
    if (s.file_count > 0 && !s.merge)
        fail("'%s': only --merge takes files", s.files[0]);
    if (s.merge && (s.shard != NULL || s.units))
        fail("--merge: not together with --%s", s.units ? "units" : "shard");
    if (s.shard != NULL && s.format != JSON && !s.units)
        fail("--shard: a part is written as JSON, for --merge: add --json");
    default_options(&s);
    output o;
    if (s.units || s.merge) {
        output_open(&o, s.output);
        if (s.merge) {
            parts_merge(&o, &s);
        } else {
            s.workload->plan(&s);
            parts_take_shard(&s);
            parts_list(&o, &s);
        }
        output_close(&o);
        study_end(&s);
        return EXIT_SUCCESS;
    }
    study_measure(&s);
    output_open(&o, s.output);
    if (s.format == TEXT && w->text != NULL)
        w->text(&o, &s);
    else
        write[s.format](&o, &s);
    if (s.format == TEXT && bench_setting.text != NULL)
        bench_setting.text(&o, &s);
    output_close(&o);
    study_end(&s);
    return EXIT_SUCCESS;
}
