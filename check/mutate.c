/* mutate.c - weakens one memory order at a time and expects a violation */
#include "mutate.h"
#include "survivors.h"

_Static_assert((int)CHECK_MOST_CASES <= (int)LAB_VISITORS, "a visitor for each case");

const char *check_op_name(enum lab_op op, enum lab_role role)
{
    static const char *const names[] = {[LAB_LOAD] = "load",
                                        [LAB_STORE] = "store",
                                        [LAB_RMW] = "rmw",
                                        [LAB_CAS] = "cas",
                                        [LAB_FENCE] = "fence"};
    return role == LAB_FAILURE_ORDER ? "failed cas" : names[op];
}

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

/* The search for violations of one lock. */
typedef struct hunt {
    const lock_info *lock;
    const check_options *options;
    check_case cases[CHECK_MOST_CASES];
    int order[CHECK_MOST_CASES]; /* of the cases: what killed last comes first */
    int count;
    mutation_sink *sink;
    void *arg;
    int survived;
} hunt;

/* Most mutations fall at once, but seldom to the first case. So all cases get a moment, then half a second within the
 * standard bounds, and only then what was asked for. */
static const check_profile sooner[] = {{"moment", 2, 1, 0, 0, 1, 0.1, 0.05},
                                       {"while", 2, 2, 1, 1, 1, 0.5, 0.2}};

static bool finds(const hunt *h, int which, const check_options *o, mutation *m)
{
    check_outcome out;
    lab_visit_as(which);
    check_run(&h->cases[which], o, &out);
    m->executions += out.executions;
    m->seconds += out.seconds;
    m->verdict = out.verdict;
    check_outcome_free(&out);
    return out.verdict != LAB_OK && out.verdict != LAB_UNSUPPORTED;
}

/* Runs the cases that have visited the group, or the others, until one finds something. */
static bool kill_by(hunt *h, const struct lab_site_group *g, bool visited, const check_options *o,
                    mutation *m)
{
    for (int i = 0; i < h->count; i++) {
        int which = h->order[i];
        if (lab_was_visited(g, which) != visited || !finds(h, which, o, m))
            continue;
        memmove(&h->order[1], h->order, (size_t)i * sizeof *h->order);
        h->order[0] = which;
        snprintf(m->by, sizeof m->by, "%s", h->cases[which].name);
        return true;
    }
    return false;
}

static const char *reason_of(const hunt *h, const mutation *m)
{
    return survivor_reason(h->lock != NULL ? h->lock->name : "semaphore", m->site,
                           check_op_name(m->op, m->role), check_order_name(m->from));
}

/* A survivor that is explained needs no longer search: the order stays in any case. Any other is tried with all that
 * was asked for in the end, even by cases that have never come to this place. */
static bool try_to_kill(hunt *h, const struct lab_site_group *g, mutation *m)
{
    for (size_t i = 0; i < sizeof sooner / sizeof sooner[0]; i++) {
        check_options o = *h->options;
        o.profile = sooner[i];
        o.exhaustive = false;
        bool is_less = h->options->exhaustive || o.profile.seconds <= h->options->profile.seconds;
        if (is_less && kill_by(h, g, true, &o, m))
            return true;
        if (reason_of(h, m) != NULL)
            return false;
    }
    return kill_by(h, g, true, h->options, m) || kill_by(h, g, false, h->options, m);
}

/* Runs every case once, unweakened and briefly, so that the lab learns the sites and who comes there. A case that finds
 * something even so has nothing to say about mutations. */
static void visit_sites(hunt *h, int count)
{
    check_options brief = *h->options;
    brief.profile = sooner[0];
    brief.exhaustive = false;
    lab_unmutate();
    lab_forget_sites();
    h->count = 0;
    for (int i = 0; i < count; i++)
        if (!finds(h, i, &brief, &(mutation){0}))
            h->order[h->count++] = i;
}

static void mutate_role(hunt *h, const struct lab_site_group *g, enum lab_role role)
{
    int from = role == LAB_ORDER ? g->order : g->failure;
    for (const int *to = weaker(g->op, role, from); *to >= 0; to++) {
        mutation m = {.op = g->op, .role = role, .from = from, .to = *to};
        snprintf(m.site, sizeof m.site, "%s", g->key);
        lab_mutate(g->pcs, g->count, role, *to);
        m.killed = try_to_kill(h, g, &m);
        lab_unmutate();
        h->survived += !m.killed;
        h->sink(h->lock, &m, h->arg);
    }
}

/* In a lock's header, possibly inlined into what another header calls; or in libpawl. A site in a header that
 * was inlined into libpawl (pawl_post() in the pool of nodes) is libpawl's. */
static bool in_lock(const char *key)
{
    static const char *const apart[] = {"<semaphore.h:", "<seqlock.h:",  /* of no lock in the register */
                                        "<mcs.h:", "<reciprocating.h:"}; /* their unlock is not inlined */
    bool in = strstr(key, "<locks.def:") != NULL;
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
        in |= strstr(key, apart[i]) != NULL || strncmp(key, apart[i] + 1, strlen(apart[i]) - 1) == 0;
    return in;
}

static void mutate_sites(hunt *h, const char *within, bool library)
{
    struct lab_site_group *groups;
    size_t group_count = lab_group_sites(within, &groups);
    for (size_t i = 0; i < group_count; i++) {
        if (groups[i].key[0] == '\0' || (!library && !in_lock(groups[i].key)))
            continue; /* the scenario's own, or libpawl's */
        mutate_role(h, &groups[i], LAB_ORDER);
        if (groups[i].op == LAB_CAS)
            mutate_role(h, &groups[i], LAB_FAILURE_ORDER);
    }
    lab_free_groups(groups, group_count);
}

int check_mutate(const lock_info *lock, const check_options *o, mutation_sink *sink, void *arg)
{
    hunt h = {.lock = lock, .options = o, .sink = sink, .arg = arg};
    visit_sites(&h, check_cases(lock, o, h.cases, CHECK_MOST_CASES));
    bool mutex = lock != NULL && lock->own_waiting; /* which is libpawl, but for its first steps */
    mutate_sites(&h, "include/pawl/", mutex);
    if (mutex || check_stands_for_libpawl(lock))
        mutate_sites(&h, "/src/", true);
    return h.survived;
}
