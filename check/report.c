/* report.c - what a check found, for people and for programs */
#include "report.h"
#include "survivors.h"

#include "commit.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *text(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

static uint64_t number(json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

void report_begin(report *r, output *to, const check_options *o, bool mutate, bool json)
{
    *r = (report){.to = to,
                  .options = o,
                  .mutate = mutate,
                  .started = now(),
                  .locks = json ? json_array() : NULL,
                  .stale = json_array()};
    if (json)
        return;
    if (mutate)
        fprintf(to->file, "%-24s %s\n", "lock", "order, and what happens when it is weakened");
    else
        fprintf(to->file, "%-24s %9s %12s %10s %8s  %s\n", "lock", "scenarios", "executions", "exhaustive",
                "seconds", "verdict");
}

/* ---- scenarios */

static void print_violation(FILE *to, const char *lock, json_t *c)
{
    fprintf(to, "\n%s in scenario %s of %s\n%s\n\n%s\nSee it again: pawl check --lock %s --replay '%s'\n\n",
            text(c, "verdict"), text(c, "scenario"), lock, text(c, "message"), text(c, "trace"), lock,
            text(c, "replay"));
}

static void add_cases(report *r, json_t *found)
{
    json_t *cases = json_object_get(found, "cases"), *c;
    size_t i;
    uint64_t executions = 0, exhaustive = 0, bad = 0;
    double seconds = 0;
    const char *verdict = json_array_size(cases) > 0 ? "ok" : "not concerned";
    json_array_foreach (cases, i, c) {
        executions += number(c, "executions");
        exhaustive += json_is_true(json_object_get(c, "exhaustive"));
        seconds += json_number_value(json_object_get(c, "seconds"));
        if (json_object_get(c, "replay") != NULL) {
            verdict = text(c, "verdict");
            bad++;
        }
    }
    r->executions += executions;
    r->exhaustive += exhaustive;
    r->cases += json_array_size(cases);
    r->bad += bad;
    if (r->locks != NULL)
        return;
    fprintf(r->to->file, "%-24s %9zu %12llu %5llu of %zu %7.1f  %s\n", text(found, "lock"),
            json_array_size(cases), (unsigned long long)executions, (unsigned long long)exhaustive,
            json_array_size(cases), seconds, verdict);
    json_array_foreach (cases, i, c)
        if (json_object_get(c, "replay") != NULL)
            print_violation(r->to->file, text(found, "lock"), c);
    fflush(r->to->file);
}

/* ---- mutations */

static void add_mutations(report *r, json_t *found)
{
    json_t *mutations = json_object_get(found, "mutations"), *m;
    size_t i;
    json_array_foreach (mutations, i, m) {
        bool killed = json_is_true(json_object_get(m, "killed"));
        const char *reason =
            killed ? NULL
                   : survivor_reason(text(found, "lock"), text(m, "site"), text(m, "op"), text(m, "from"));
        r->mutations++;
        r->survivors += !killed;
        r->bad += !killed && reason == NULL;
        if (reason != NULL)
            json_object_set_new(m, "reason", json_string(reason));
        if (r->locks != NULL)
            continue;
        fprintf(r->to->file, "%-24s %s: %s %s -> %s: ", text(found, "lock"), text(m, "site"), text(m, "op"),
                text(m, "from"), text(m, "to"));
        if (killed)
            fprintf(r->to->file, "%s in %s\n", text(m, "verdict"), text(m, "by"));
        else
            fprintf(r->to->file, "SURVIVED after %llu executions%s%s\n",
                    (unsigned long long)number(m, "executions"), reason != NULL ? ", as expected: " : "",
                    reason != NULL ? reason : "");
    }
    fflush(r->to->file);
    const check_options *o = r->options;
    if (o->scenario == NULL && o->threads == 0 && o->iterations == 0 && o->locks == 0 && o->slots == 0)
        survivors_tried(text(found, "lock"));
}

static void add_stale_row(const char *row, void *arg)
{
    report *r = arg;
    json_array_append_new(r->stale, json_string(row));
    if (r->locks == NULL)
        fprintf(r->to->file, "%s: explains nothing; take it out of check/survivors.c\n", row);
}

void report_add(report *r, json_t *found)
{
    if (r->mutate)
        add_mutations(r, found);
    else
        add_cases(r, found);
    if (r->locks != NULL)
        json_array_append(r->locks, found);
}

/* ---- the end */

static void end_text(const report *r)
{
    double seconds = now() - r->started;
    if (r->mutate)
        fprintf(r->to->file, "%llu orders weakened, %llu survived, %llu of them unexpectedly; %.0f s\n",
                (unsigned long long)r->mutations, (unsigned long long)r->survivors,
                (unsigned long long)r->bad, seconds);
    else
        fprintf(r->to->file,
                "%llu explorations, %llu of them exhaustive (%d preemptions, %d stale reads, %d reordered "
                "stores), "
                "%llu executions; %llu violations; %.0f s\n",
                (unsigned long long)r->cases, (unsigned long long)r->exhaustive,
                r->options->profile.preemptions, r->options->profile.stale, r->options->profile.inserts,
                (unsigned long long)r->executions, (unsigned long long)r->bad, seconds);
}

/* What was asked for; 0 stands for what each scenario has. */
static json_t *bounds_json(const check_options *o)
{
    const check_profile *p = &o->profile;
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s?, s:i, s:i, s:i, s:i, s:I, s:b}", "profile", p->name,
                     "preemptions", p->preemptions, "stale", p->stale, "inserts", p->inserts, "spurious",
                     p->spurious, "scenario", o->scenario, "threads", o->threads, "iterations", o->iterations,
                     "locks", o->locks, "slots", (int)o->slots, "seed", (json_int_t)o->seed, "exhaustive",
                     o->exhaustive);
}

bool report_end(report *r)
{
    if (r->mutate)
        survivors_stale(add_stale_row, r);
    bool ok = r->bad == 0 && json_array_size(r->stale) == 0;
    if (r->locks == NULL) {
        end_text(r);
        json_decref(r->stale);
        return ok;
    }
    json_t *all = json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:f}", "check", r->mutate ? "mutations" : "locks",
                            "pawl", PAWL_VERSION, "commit", BENCH_COMMIT, "bounds", bounds_json(r->options),
                            "locks", r->locks, "ok", ok, "seconds", now() - r->started);
    if (r->mutate)
        json_object_set(all, "stale", r->stale);
    json_decref(r->stale);
    output_json(r->to, all);
    return ok;
}
