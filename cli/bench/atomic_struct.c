/* atomic_struct.c - `pawl bench atomic-struct`: pthread mutexes where nobody expects them */
#include "places.h"

#include "cli/parse.h"

#include <string.h>

enum { BY = 0x400, NCS, PRESET };

static const char *const variants[] = {"exchange", "cas", NULL};

static const struct argp_option options[] = {
    {"by", BY, "LIST", 0, "Ways to change the structure: exchange, cas (default: both)", 0},
    {"ncs", NCS, "N|random:N", 0,
     "Steps of a thread's own generator between two changes: N, or each time another number in [0,N) "
     "(default 0)",
     0},
    {"preset", PRESET, "NAME", 0,
     "Settings of a paper's figure: hapax-fig1, reciprocating-fig2a, reciprocating-fig2b; options after it "
     "prevail",
     0},
    {0},
};

static const struct {
    const char *name;
    unsigned variants;
    bench_load load;
} presets[] = {
    {"hapax-fig1", 1, {.ncs = 100, .ncs_random = true}},
    {"reciprocating-fig2a", 1, {.ncs = 0}},
    {"reciprocating-fig2b", 2, {.ncs = 0}},
};

static void variant_item(const char *item, void *input)
{
    study *s = input;
    for (unsigned v = 0; variants[v] != NULL; v++)
        if (strcmp(item, variants[v]) == 0) {
            s->variants |= 1u << v;
            return;
        }
    fail("--by '%s': must be exchange or cas", item);
}

static void take_preset(study *s, const char *text)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(text, presets[i].name) == 0) {
            s->preset = presets[i].name;
            s->variants = presets[i].variants;
            s->base.load = presets[i].load;
            return;
        }
    fail("--preset '%s': must be hapax-fig1, reciprocating-fig2a or reciprocating-fig2b", text);
}

/* Once a later option changes something, it is no longer the figure. */
static bool take(study *s, int key, char *argument)
{
    switch (key) {
    case BY:
        s->preset = NULL;
        s->variants = 0;
        parse_list("--by", argument, variant_item, s);
        return true;
    case NCS:
        s->preset = NULL;
        take_ncs_steps(&s->base.load, argument);
        return true;
    case PRESET:
        take_preset(s, argument);
        return true;
    }
    return false;
}

static void plan(study *s)
{
    const char *program = find_program(s->workload->name);
    if (program == NULL)
        fail("atomic-struct: there is no pawl-bench-atomic-struct; it is built with glibc, where libatomic "
             "is");
    for (unsigned v = 0; variants[v] != NULL; v++)
        for (size_t t = 0; t < s->thread_counts; t++)
            for (size_t l = 0; l < s->lock_count; l++) {
                if (s->variants != 0 && (s->variants & 1u << v) == 0)
                    continue;
                point *p = add_point(s, s->locks[l], s->threads[t]);
                p->variant = variants[v];
                p->request.variant = v;
                p->place.program = program;
            }
}

static void parameters(const bench_request *q, json_t *to)
{
    json_object_set_new(to, "ncs", json_integer(q->load.ncs));
    json_object_set_new(to, "ncs_random", json_boolean(q->load.ncs_random));
}

static const workload atomic_struct = {
    .name = "atomic-struct",
    .doc = "Measure how often threads can change a structure of 20 bytes atomically. The compiler's library "
           "does that "
           "under a pthread mutex, which Pawl's interposer replaces.\vLIST is comma-separated.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_PIN | TAKES_NCS,
    .unit = "operations/s",
    .higher_is_better = true,
    .options = options,
    .take = take,
    .subjects = preload_subjects,
    .refusal = preload_refusal,
    .plan = plan,
    .parameters = parameters,
    .describe = ncs_describe,
};

int atomic_struct_main(int argc, char **argv)
{
    return workload_main(&atomic_struct, argc, argv);
}
