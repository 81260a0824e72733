/* main.c - every mutant must be caught, by a verdict that fits what is wrong with it */
#include "mutants.h"
#include "../../check/run.h"

#include <stdlib.h>

static const mutant *const all[] = {hapax_mutants, hemlock_mutants, reciprocating_mutants, queue_mutants,
                                    capacitor_mutants};

static const lock_info *registered(const char *name)
{
    for (int i = 0; i < check_lock_count; i++)
        if (strcmp(check_locks[i].name, name) == 0)
            return &check_locks[i];
    fprintf(stderr, "mutants: no lock %s\n", name);
    exit(2);
}

static lock_info make(const mutant *m)
{
    lock_info info = *registered(m->base);
    info.name = m->name;
    info.lock = m->lock != NULL ? m->lock : info.lock;
    info.unlock = m->unlock != NULL ? m->unlock : info.unlock;
    info.prompt = info.prompt || m->claims_prompt;
    return info;
}

/* A violation must replay: same verdict, from the text alone. */
static bool replays(const lock_info *info, const check_outcome *out)
{
    check_outcome again;
    const char *error;
    FILE *trace = fopen("/dev/null", "w");
    bool same = trace != NULL && out->replay != NULL &&
                check_replay(info, out->replay, trace, &again, &error) && again.verdict == out->verdict;
    if (trace != NULL)
        fclose(trace);
    if (same)
        check_outcome_free(&again);
    return same;
}

/* Runs the cases until one finds something. */
static bool caught(const mutant *m)
{
    lock_info info = make(m);
    check_options o = {.profile = check_quick, .seed = 1, .slots = m->slots};
    o.profile.inserts = 0;
    check_case cases[CHECK_MOST_CASES];
    int count = check_cases(&info, &o, cases, CHECK_MOST_CASES);
    for (int i = 0; i < count; i++) {
        check_outcome out;
        check_run(&cases[i], &o, &out);
        if (out.verdict == LAB_OK)
            continue;
        bool fits = (CAUGHT(out.verdict) & m->verdicts) != 0;
        bool again = replays(&info, &out);
        printf("%-40s %s: %s after %llu executions%s\n", m->name, cases[i].name,
               lab_verdict_name(out.verdict), (unsigned long long)out.executions,
               again ? "" : "  DOES NOT REPLAY");
        if (!fits)
            printf("%-40s not what is wrong with it (%s): %s\n", m->name, m->wrong, out.message);
        check_outcome_free(&out);
        return fits && again;
    }
    printf("%-40s SURVIVED: %s\n", m->name, m->wrong);
    return false;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (const mutant *m = all[i]; m->name != NULL; m++) {
            if (argc > 1 && strstr(m->name, argv[1]) == NULL)
                continue;
            if (caught(m))
                passed++;
            else
                failed++;
            fflush(stdout);
        }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
