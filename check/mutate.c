/* mutate.c - weakens one memory order at a time and expects a violation */
#include "mutate.h"

#include <stdlib.h>

const char *check_order_name(int order)
{
    static const char *const names[] = {
        [__ATOMIC_RELAXED] = "relaxed", [__ATOMIC_CONSUME] = "consume", [__ATOMIC_ACQUIRE] = "acquire",
        [__ATOMIC_RELEASE] = "release", [__ATOMIC_ACQ_REL] = "acq_rel", [__ATOMIC_SEQ_CST] = "seq_cst"};
    return order >= 0 && order <= __ATOMIC_SEQ_CST ? names[order] : "?";
}

/* The next weaker orders: one step down only, because weaker ones do more harm. Ends with -1. */
static const int *weaker(enum lab_op op, enum lab_role role, int order)
{
    static const int none[] = {-1}, relaxed[] = {__ATOMIC_RELAXED, -1}, acquire[] = {__ATOMIC_ACQUIRE, -1};
    static const int release[] = {__ATOMIC_RELEASE, -1}, acq_rel[] = {__ATOMIC_ACQ_REL, -1};
    static const int either[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE, -1};
    switch (order) {
    case __ATOMIC_ACQUIRE:
    case __ATOMIC_RELEASE:
        return relaxed;
    case __ATOMIC_ACQ_REL:
        return either;
    case __ATOMIC_SEQ_CST:
        if (op == LAB_LOAD || role == LAB_FAILURE_ORDER)
            return acquire;
        return op == LAB_STORE ? release : acq_rel;
    default:
        return none;
    }
}

/* Runs the cases until one finds something. */
static void try_to_kill(const check_case *cases, int count, const check_options *o, mutation *m)
{
    for (int i = 0; i < count && !m->killed; i++) {
        check_outcome out;
        check_run(&cases[i], o, &out);
        m->executions += out.executions;
        m->seconds += out.seconds;
        m->killed = out.verdict != LAB_OK;
        m->verdict = out.verdict;
        if (m->killed)
            snprintf(m->by, sizeof m->by, "%s", cases[i].name);
        check_outcome_free(&out);
    }
}

/* Runs everything once, unweakened and briefly, so that the lab learns the sites. */
static void visit_sites(const check_case *cases, int count, const check_options *o)
{
    check_options brief = *o;
    brief.profile = check_quick;
    brief.profile.seconds = 0.2;
    brief.profile.sample_seconds = 0.2;
    brief.exhaustive = false;
    lab_unmutate();
    lab_forget_sites();
    for (int i = 0; i < count; i++) {
        check_outcome out;
        check_run(&cases[i], &brief, &out);
        check_outcome_free(&out);
    }
}

static int mutate_role(const struct lab_site_group *g, enum lab_role role, const check_case *cases, int count,
                       const check_options *o, const lock_info *lock, mutation_sink *sink, void *arg)
{
    int from = role == LAB_ORDER ? g->order : g->failure;
    int survived = 0;
    for (const int *to = weaker(g->op, role, from); *to >= 0; to++) {
        mutation m = {.op = g->op, .role = role, .from = from, .to = *to};
        snprintf(m.site, sizeof m.site, "%s", g->key);
        lab_mutate(g->pcs, g->count, role, *to);
        try_to_kill(cases, count, o, &m);
        lab_unmutate();
        survived += !m.killed;
        sink(lock, &m, arg);
    }
    return survived;
}

/* In a lock's header, possibly inlined into what another header calls; or in libpawl. A site in a header that
 * was inlined into libpawl (pawl_post() in the pool of nodes) is libpawl's. */
static bool in_lock(const char *key)
{
    return strstr(key, "<locks.def:") != NULL || strstr(key, "<semaphore.h:") != NULL ||
           strncmp(key, "semaphore.h:", 12) == 0;
}

static int mutate_sites(const char *within, bool library, const check_case *cases, int count,
                        const check_options *o, const lock_info *lock, mutation_sink *sink, void *arg)
{
    struct lab_site_group *groups;
    size_t group_count = lab_group_sites(within, &groups);
    int survived = 0;
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i].key[0] == '\0' || (!library && !in_lock(groups[i].key)))
            continue; /* the scenario's own, or libpawl's */
        survived += mutate_role(&groups[i], LAB_ORDER, cases, count, o, lock, sink, arg);
        if (groups[i].op == LAB_CAS)
            survived += mutate_role(&groups[i], LAB_FAILURE_ORDER, cases, count, o, lock, sink, arg);
    }
    lab_free_groups(groups, group_count);
    return survived;
}

int check_mutate(const lock_info *lock, const check_options *o, mutation_sink *sink, void *arg)
{
    check_case cases[CHECK_MOST_CASES];
    int count = check_cases(lock, o, cases, CHECK_MOST_CASES);
    visit_sites(cases, count, o);
    bool mutex = lock != NULL && lock->own_waiting; /* which is libpawl, but for its first steps */
    int survived = mutate_sites("include/pawl/", mutex, cases, count, o, lock, sink, arg);
    /* The rest of libpawl is the same for all; mcs uses its pool and sleeps in every way there is. */
    if (mutex || (lock != NULL && strcmp(lock->name, "mcs") == 0))
        survived += mutate_sites("/src/", true, cases, count, o, lock, sink, arg);
    return survived;
}
