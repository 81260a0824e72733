/* run.c - makes the cases of a lock, and explores them */
#include "mutex_scenarios.h"
#include "run.h"
#include "shared.h"

#include <errno.h>
#include <stdlib.h>

#define MUTEX_TIMEOUTS   2  /* the head of a queue lives by its timers */
#define MOST_PREEMPTIONS 12 /* more than any interleaving of these scenarios needs */

const check_profile check_quick = {"quick", 2, 1, 0, 0, 1, 0.5, 0.2};
const check_profile check_standard = {"standard", 3, 2, 1, 1, 1, 6, 3};
const check_profile check_deep = {"deep", 4, 3, 1, 1, 1, 30, 15};

/* ---- cases */

typedef struct builder {
    const lock_info *lock;
    const check_options *options;
    check_case *cases;
    int count, most;
} builder;

static scenario_setting plain_setting(const builder *b)
{
    const check_options *o = b->options;
    return (scenario_setting){.lock = b->lock,
                              .threads = o->threads,
                              .iterations = o->iterations,
                              .locks = o->locks,
                              .slots = o->slots != 0 ? o->slots : PAWL_SLOTS,
                              .platoon = 2,
                              .coin = 2,
                              .recheck = 1,
                              .random = o->seed};
}

static void add_case(builder *b, const scenario *s, scenario_setting with, const char *special,
                     unsigned value)
{
    if (b->count < b->most) {
        check_case *c = &b->cases[b->count];
        c->scenario = s;
        c->with = with;
        if (special != NULL)
            snprintf(c->name, sizeof c->name, "%s/%s=%u", s->name, special, value);
        else
            snprintf(c->name, sizeof c->name, "%s", s->name);
    }
    b->count++;
}

bool check_stands_for_libpawl(const lock_info *lock)
{
    return lock != NULL && strcmp(lock->name, "mcs") == 0;
}

/* Every scenario spins and sleeps. The first one also runs with all that may matter to this lock: colliding slots,
 * other platoons, other coin tosses, other ways to sleep. */
static void add_scenario(builder *b, const scenario *s)
{
    scenario_setting with = plain_setting(b);
    for (uint32_t step = 1; step <= check_deaths(s); step++)
        add_case(b, s, (with.coin = step, with), check_deaths(s) > 1 ? "step" : NULL, step);
    if (check_deaths(s) > 0)
        return;
    add_case(b, s, with, NULL, 0);
    if (b->lock != NULL && b->lock->own_waiting) { /* it sleeps in any case */
        with.waiting = CHECK_PARK_HINTED;
        add_case(b, s, with, "hinted", 1);
        return;
    }
    bool first = b->count == 1;
    bool hashes = b->lock == NULL || b->lock->waiting == PAWL_SEMI_PRIVATE;
    static const char *const asleep[] = {[CHECK_PARK] = "park",
                                         [CHECK_PARK_FENCED] = "fenced",
                                         [CHECK_PARK_REFUSED] = "refused",
                                         [CHECK_PARK_HINTED] = "hinted"};
    int ways = first || check_stands_for_libpawl(b->lock) ? CHECK_PARK_HINTED : CHECK_PARK;
    for (int how = CHECK_PARK; s->sleeps && how <= ways; how++) {
        with.waiting = (check_waiting)how;
        add_case(b, s, with, asleep[how], 1);
        with.waiting = CHECK_SPIN;
    }
    if (hashes && b->options->slots == 0)
        for (uint32_t slots = 1; slots <= (first ? 2 : 1); slots++) {
            with.slots = slots;
            add_case(b, s, with, "slots", slots);
            with.slots = PAWL_SLOTS;
        }
    if (!first || b->lock == NULL)
        return;
    if (b->lock->tunables & PAWL_TUNES_PLATOON)
        for (uint32_t platoon = 1; platoon <= 3; platoon += 2)
            add_case(b, s, (with.platoon = platoon, with), "platoon", platoon);
    if (b->lock->tunables & PAWL_TUNES_RECHECK)
        add_case(b, s, (with.recheck = 3, with), "recheck", 3);
    with = plain_setting(b);
    for (uint32_t toss = 1; (b->lock->tunables & PAWL_TUNES_COIN) && toss <= 2; toss++) {
        with.random = b->options->seed + toss;
        add_case(b, s, with, "toss", toss);
    }
    with = plain_setting(b);
    if (b->lock->tunables & PAWL_TUNES_COIN)
        add_case(b, s, (with.coin = 1, with), "coin", 1); /* always heads */
}

typedef enum kind { LOCK, SEMAPHORE, SHARED, SEQLOCK } kind;

static kind kind_of(const lock_info *lock)
{
    if (lock == NULL)
        return SEMAPHORE;
    return check_is_shared(lock) ? SHARED : lock == &check_seqlock ? SEQLOCK : LOCK;
}

static const struct {
    const scenario *scenarios;
    const int *count;
    kind of;
} lists[] = {{check_scenarios, &check_scenario_count, LOCK},
             {check_mutex_scenarios, &check_mutex_scenario_count, LOCK},
             {check_semaphore_scenarios, &check_semaphore_scenario_count, SEMAPHORE},
             {check_shared_scenarios, &check_shared_scenario_count, SHARED},
             {check_seqlock_scenarios, &check_seqlock_scenario_count, SEQLOCK}};

enum { LISTS = sizeof lists / sizeof lists[0] };

/* The next scenario of the lock after `last` (NULL: from the start), with this name if one is given; NULL if there is
 * none. */
static const scenario *next_scenario(const lock_info *lock, const char *name, const scenario *last)
{
    bool found = last == NULL;
    for (int k = 0; k < LISTS; k++)
        for (int i = 0; i < *lists[k].count && lists[k].of == kind_of(lock); i++) {
            const scenario *s = &lists[k].scenarios[i];
            if (found && (name == NULL || strcmp(name, s->name) == 0) &&
                (s->applies == NULL || s->applies(lock)))
                return s;
            found = found || s == last;
        }
    return NULL;
}

bool check_has_scenario(const char *name)
{
    for (int k = 0; k < LISTS; k++)
        for (int i = 0; i < *lists[k].count; i++)
            if (strcmp(lists[k].scenarios[i].name, name) == 0)
                return true;
    return false;
}

int check_cases(const lock_info *lock, const check_options *o, check_case *cases, int most)
{
    builder b = {.lock = lock, .options = o, .cases = cases, .most = most};
    for (const scenario *s = NULL; (s = next_scenario(lock, o->scenario, s)) != NULL;)
        add_scenario(&b, s);
    return b.count;
}

/* ---- exploring one */

static struct lab_limits limits_of(const check_case *which, const check_profile *p)
{
    struct lab_limits l = LAB_LIMITS;
    l.preemptions = p->preemptions;
    l.stale = p->stale;
    l.inserts = p->inserts;
    l.spurious = p->spurious;
    l.timeouts = p->timeouts;
    l.membarrier_errno = which->with.waiting == CHECK_PARK_REFUSED ? EPERM : 0;
    if (which->with.lock != NULL && which->with.lock->own_waiting && l.timeouts < MUTEX_TIMEOUTS)
        l.timeouts = MUTEX_TIMEOUTS;
    bool ordered = check_deaths(which->scenario) == 0; /* a death costs the order */
    l.bypass_each = ordered ? scenario_bypass_each(&which->with) : PAWL_UNBOUNDED;
    l.bypass_total = ordered ? scenario_bypass_total(&which->with) : PAWL_UNBOUNDED;
    return l;
}

/* What `--replay` takes: the setting, then the lab's own description of the execution. */
static char *replay_text(const check_case *c, const char *execution)
{
    char *text;
    const scenario_setting *w = &c->with;
    if (asprintf(&text, "%s:%d:%d:%d:%d:%u:%u:%u:%u:%llu:%s", c->scenario->name, (int)w->waiting, w->threads,
                 w->iterations, w->locks, w->slots, w->platoon, w->coin, w->recheck,
                 (unsigned long long)w->random, execution) < 0)
        return NULL;
    return text;
}

static void add_result(check_outcome *out, const struct lab_result *r)
{
    out->verdict = r->verdict;
    out->executions += r->executions;
    out->pruned += r->pruned;
    out->steps += r->steps;
    out->seconds += r->seconds;
    if (r->verdict == LAB_OK)
        return;
    snprintf(out->message, sizeof out->message, "%s", r->message);
    out->replay = replay_text(&out->which, r->replay);
}

/* All executions within the profile's bounds, then within wider ones, as long as there is time. */
static bool exhaust(const check_options *o, const struct lab_program *program, struct lab_limits *limits,
                    check_outcome *out)
{
    struct lab_result result;
    for (int round = 0;; round++) {
        limits->seconds = o->exhaustive ? 0 : o->profile.seconds - out->seconds;
        lab_explore(program, limits, &result);
        add_result(out, &result);
        if (result.verdict != LAB_OK || !result.complete)
            return out->complete;
        out->complete = true;
        out->preemptions = limits->preemptions;
        out->stale = limits->stale;
        if (o->exhaustive || out->seconds > o->profile.seconds / 4 || limits->preemptions > MOST_PREEMPTIONS)
            return true; /* the next bounds take several times as long */
        limits->preemptions++;
        limits->stale += round % 2;
    }
}

void check_run(const check_case *which, const check_options *o, check_outcome *out)
{
    *out = (check_outcome){.which = *which};
    struct lab_program program;
    scenario_prepare(which->scenario, &which->with, &program);
    struct lab_limits limits = limits_of(which, &o->profile);
    if (exhaust(o, &program, &limits, out) || out->verdict != LAB_OK || o->exhaustive)
        return;
    if (which->with.waiting == CHECK_PARK_REFUSED || check_deaths(which->scenario) > 0)
        return; /* its sleeps are short, and a random schedule may let one thread sleep for ever */
    struct lab_result result;
    limits.search = LAB_RANDOM;
    limits.seed = o->seed;
    limits.executions = UINT64_MAX;
    limits.seconds = o->profile.sample_seconds;
    limits.stale = limits.inserts = limits.spurious = limits.preemptions = 100;
    lab_explore(&program, &limits, &result);
    add_result(out, &result);
}

void check_outcome_free(check_outcome *out)
{
    free(out->replay);
    out->replay = NULL;
}

/* ---- replay */

static const char *parse_replay(const lock_info *lock, const char *text, check_case *c)
{
    const char *colon = strchr(text, ':');
    char name[sizeof c->name];
    if (colon == NULL || snprintf(name, sizeof name, "%.*s", (int)(colon - text), text) >= (int)sizeof name ||
        (c->scenario = next_scenario(lock, name, NULL)) == NULL)
        return NULL;
    scenario_setting *w = &c->with;
    unsigned long long random;
    int used = 0, waiting;
    w->lock = lock;
    if (sscanf(colon, ":%d:%d:%d:%d:%u:%u:%u:%u:%llu:%n", &waiting, &w->threads, &w->iterations, &w->locks,
               &w->slots, &w->platoon, &w->coin, &w->recheck, &random, &used) != 9 ||
        used == 0)
        return NULL;
    w->random = random;
    w->waiting = (check_waiting)waiting;
    bool fits = waiting >= CHECK_SPIN && waiting <= CHECK_PARK_HINTED && w->threads >= 0 &&
                w->threads <= LAB_MAX_THREADS && w->slots >= 1 && w->slots <= PAWL_SLOTS &&
                (w->slots & (w->slots - 1)) == 0 && w->locks >= 0 && w->locks <= 2 && w->iterations >= 0 &&
                w->platoon >= 1 && w->coin >= 1 && w->recheck >= 1;
    snprintf(c->name, sizeof c->name, "%s", c->scenario->name);
    return fits ? colon + used : NULL;
}

bool check_replay(const lock_info *lock, const char *text, FILE *trace, check_outcome *out,
                  const char **error)
{
    *out = (check_outcome){0};
    const char *execution = parse_replay(lock, text, &out->which);
    if (execution == NULL) {
        *error = "is not the replay of an execution of this lock";
        return false;
    }
    struct lab_program program;
    struct lab_result result;
    scenario_prepare(out->which.scenario, &out->which.with, &program);
    struct lab_limits limits = limits_of(&out->which, &check_standard);
    limits.search = LAB_REPLAY;
    limits.replay = execution;
    lab_explore(&program, &limits, &result);
    add_result(out, &result);
    if (result.verdict != LAB_OK)
        lab_print_trace(trace, &result);
    return true;
}
