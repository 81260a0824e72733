/* main.c - every mutant must be caught, by a verdict that fits what is wrong with it */
#include "mutants.h"
#include "../../check/run.h"
#include "../../check/survivors.h"

#include <stdlib.h>

static const mutant *const all[] = {hapax_mutants, hemlock_mutants, reciprocating_mutants, queue_mutants,
                                    capacitor_mutants};

static const lock_info *registered(const char *name)
{
    for (int i = 0; i < check_lock_count; i++)
        if (strcmp(check_lock_at(i)->name, name) == 0)
            return check_lock_at(i);
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

/* ---- what --mutate says about rows of survivors.c */

static char last_row[256];

static void count_row(const char *row, void *arg)
{
    snprintf(last_row, sizeof last_row, "%s", row);
    ++*(int *)arg;
}

static int stale_rows(void)
{
    int count = 0;
    survivors_stale(count_row, &count);
    return count;
}

static bool told(bool truth, const char *what)
{
    if (!truth)
        printf("FAIL survivors: %s\n", what);
    return truth;
}

/* The rows about capacitors are known to explain nothing when the last capacitor has been tried, not before. */
static bool stale_rows_are_told(void)
{
    bool ok = told(stale_rows() == 0, "no row is stale before its locks were tried");
    for (int i = 0; i < check_lock_count; i++)
        if (strcmp(check_lock_at(i)->name, "capacitor_plain") != 0)
            survivors_tried(check_lock_at(i)->name);
    int some = stale_rows();
    survivors_tried("capacitor_plain");
    int all = stale_rows();
    ok &= told(0 < some && some < all, "a row is stale when all of its locks were tried");

    char lock[64], site[128], op[16], from[16];
    bool parsed = sscanf(last_row, "%63s %127[^:]: %15s %15s", lock, site, op, from) == 4;
    ok &= told(parsed && survivor_reason(lock, site, op, from) != NULL, "a row explains what it names");
    return ok & told(stale_rows() == all - 1, "a row that explains something is not stale");
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
    static const struct {
        const char *name;
        bool (*holds)(void);
    } others[] = {{"seqlock-as-printed", seqlock_as_printed_is_caught}, {"survivors", stale_rows_are_told}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (argc > 1 && strstr(others[i].name, argv[1]) == NULL)
            continue;
        if (others[i].holds())
            passed++;
        else
            failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
