/* explore.c - run a program again and again, each time differently */
#include "backend.h"
#include "cache.h"
#include "choice.h"
#include "machine.h"
#include "shadow.h"
#include "site.h"
#include "trace.h"
#include <sys/syscall.h>
#include <time.h>

extern const struct lab_backend lab_weak_memory;

static const char *const verdict_names[LAB_VERDICTS] = {
    [LAB_OK] = "ok",
    [LAB_TWO_OWNERS] = "two-owners",
    [LAB_DATA_RACE] = "data-race",
    [LAB_DEADLOCK] = "deadlock",
    [LAB_NO_PROGRESS] = "no-progress",
    [LAB_OVERTAKEN] = "overtaken",
    [LAB_DESTROYED] = "destroyed",
    [LAB_CRASH] = "crash",
    [LAB_DEAD_THREAD] = "dead-thread-memory",
    [LAB_ASSERTION] = "assertion",
    [LAB_LEAK] = "leak",
    [LAB_UNSUPPORTED] = "unsupported",
};

const char *lab_verdict_name(enum lab_verdict v)
{
    return v < LAB_VERDICTS ? verdict_names[v] : "?";
}

void lab_violation(enum lab_verdict verdict, const char *text, uintptr_t address, const void *pc,
                   const struct lab_party *other)
{
    if (!lab_run.program || lab_run.in_setup)
        return;
    lab_run.verdict = verdict;
    snprintf(lab_run.message, sizeof lab_run.message, "%s", text);
    lab_run.fault = (struct lab_fault){address, {{lab_self(), pc}, {-1, NULL}}};
    if (other)
        lab_run.fault.by[1] = *other;
    if (lab_current)
        lab_fiber_leave();
}

/* ---- one execution -------------------------------------------------------------------------------------------- */

static void finish_main(void)
{
    lab_run.program->finish(lab_run.program->arg);
    if (lab_run.program->check_leaks)
        lab_heap_leaks();
    lab_fiber_leave();
}

/* finish comes after everything that any thread did, as after pthread_join. */
static void start_finish(void)
{
    struct lab_thread *t = &lab_threads[lab_run.threads];
    for (int i = 0; i < lab_run.threads; i++) {
        lab_clock_join(&t->clock, &lab_threads[i].clock);
        lab_view_join(t->view, lab_threads[i].view, lab_locations());
    }
    t->state = LAB_READY;
    lab_fiber_arm(t->fiber, finish_main);
    lab_fiber_switch(t->fiber);
}

static void thread_main(void)
{
    struct lab_thread *t = lab_running();
    lab_run.program->thread(lab_run.program->arg, t->id);
    if (lab_run.program->threads_die)
        lab_thread_end(t);
    lab_spin_clear(t);
    t->state = LAB_ENDED;
    if (++lab_run.ended < lab_run.threads)
        lab_sched_away();
    else if (lab_run.program->finish)
        start_finish();
    else if (lab_run.program->check_leaks)
        lab_heap_leaks();
    lab_fiber_leave();
}

static void begin_execution(const struct lab_limits *l)
{
    lab_run.left = (struct lab_budget){l->preemptions, l->stale, l->inserts, l->spurious, l->timeouts};
    lab_run.ended = 0;
    lab_run.restarts = 0;
    lab_run.steps = lab_run.streak = lab_run.plain_streak = 0;
    lab_run.graph = lab_run.decided = 0;
    lab_run.verdict = LAB_OK;
    lab_run.pruned = false;
    lab_shadow_begin();
    lab_locations_reset();
    lab_threads_reset();
    lab_monitor_reset();
    lab_heap_reset(false);
    lab_pthread_reset();
    lab_choices_begin();
    for (int i = 0; i < lab_run.threads; i++)
        lab_fiber_arm(lab_fiber(i), thread_main);
}

static void execute(const struct lab_limits *l)
{
    begin_execution(l);
    struct lab_thread *first = lab_sched_first();
    lab_run.pruned = !first;
    if (first && lab_run.verdict == LAB_OK)
        lab_fiber_run(first->fiber);
    lab_shadow_undo();
}

/* ---- the result ----------------------------------------------------------------------------------------------- */

static size_t append(char *text, size_t size, size_t at, const char *format, const char *a, const char *b,
                     int id)
{
    if (at >= size)
        return at;
    int n = snprintf(text + at, size - at, format, id, a, b);
    return at + (size_t)n;
}

/* Where each sleeper sleeps. */
static size_t describe_sleepers(char *text, size_t size, size_t at)
{
    char line[128];
    for (int i = 0; i < lab_run.threads; i++) {
        const struct lab_thread *t = &lab_threads[i];
        if (t->state == LAB_SPINNING)
            at = append(text, size, at, "; T%d %s at %s", "spins",
                        lab_source(t->watched[0].pc, line, sizeof line), i);
        else if (t->state == LAB_PARKED)
            at = append(text, size, at, "; T%d %s at %s", "sleeps",
                        lab_source(t->asleep_at, line, sizeof line), i);
    }
    return at;
}

static void describe(char *text, size_t size)
{
    char name[96], line[128];
    const struct lab_fault *f = &lab_run.fault;
    size_t at = (size_t)snprintf(text, size, "%s", lab_run.message);
    if (f->address)
        at += (size_t)snprintf(text + at, size - at, ": %s", lab_address_text(f->address, name, sizeof name));
    for (int i = 0; i < 2; i++)
        if (f->by[i].thread >= 0 && (f->by[i].pc || i == 1))
            at = append(text, size, at, i ? " and T%d%s%s" : ", T%d%s%s", f->by[i].pc ? " at " : "",
                        f->by[i].pc ? lab_source(f->by[i].pc, line, sizeof line) : "", f->by[i].thread);
    if (lab_run.verdict == LAB_DEADLOCK)
        describe_sleepers(text, size, at);
}

/* Runs the execution again to see what it did. */
static void explain(const struct lab_limits *l, struct lab_result *r)
{
    r->verdict = lab_run.verdict;
    r->replay = lab_replay_text(l);
    lab_trace_reset();
    lab_run.tracing = true;
    execute(l);
    lab_run.tracing = false;
    if (lab_run.verdict != r->verdict) {
        snprintf(r->message, sizeof r->message,
                 "a violation (%s) did not show again when its execution was repeated",
                 lab_verdict_name(r->verdict));
        r->verdict = LAB_UNSUPPORTED;
        return;
    }
    describe(r->message, sizeof r->message);
    r->trace = lab_trace(&r->trace_length);
}

/* ---- the search ----------------------------------------------------------------------------------------------- */

/* Of CPU time, so that a busy machine explores as much as an idle one. */
static double seconds(void)
{
    struct timespec ts;
    lab_raw_syscall(SYS_clock_gettime, (const long[6]){CLOCK_THREAD_CPUTIME_ID, (long)&ts});
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static bool out_of_budget(const struct lab_limits *l, const struct lab_result *r, double start)
{
    uint64_t limit = l->executions ? l->executions : l->search == LAB_RANDOM ? 10000 : UINT64_MAX;
    return r->executions >= limit ||
           (l->seconds > 0 && r->executions % 64 == 0 && seconds() - start > l->seconds);
}

/* Prepares the choices of the next execution; false if there is none. */
static bool next(const struct lab_limits *l, struct lab_result *r)
{
    switch (l->search) {
    case LAB_EXHAUSTIVE:
        if (lab_choices_next())
            return true;
        r->complete = !lab_run.truncated;
        return false;
    case LAB_RANDOM:
        lab_choices_drop();
        lab_random_begin(r->executions, r->max_depth);
        return true;
    default:
        return false;
    }
}

static void search(const struct lab_limits *l, struct lab_result *r)
{
    double start = seconds();
    if (l->search == LAB_RANDOM)
        lab_random_begin(0, 100);
    do {
        execute(l);
        r->executions++;
        r->pruned += lab_run.pruned;
        r->steps += lab_run.steps;
        if (lab_run.steps > r->max_depth)
            r->max_depth = lab_run.steps;
        if (lab_run.verdict != LAB_OK && r->violations++ == 0)
            explain(l, r);
        if (r->violations && !l->keep_going)
            break;
    } while (next(l, r) && !out_of_budget(l, r, start));
    r->seconds = seconds() - start;
}

static bool acceptable(const struct lab_program *p, struct lab_limits *l)
{
    int *const bounds[] = {&l->preemptions, &l->stale, &l->inserts, &l->spurious, &l->timeouts};
    if (p->threads < 1 || p->threads > LAB_MAX_THREADS || !p->thread)
        return false;
    if (l->search == LAB_REPLAY && !lab_replay_parse(l->replay, l))
        return false;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (*bounds[i] < 0 || *bounds[i] > 120)
            return false;
    return l->steps > 0;
}

/* Setup runs on the host. Its writes are kept in a log, so that the next exploration starts from the same memory. */
static void run_setup(const struct lab_program *p)
{
    lab_run.in_setup = true;
    lab_run.host_frame = (uintptr_t)__builtin_frame_address(0);
    if (p->setup)
        p->setup(p->arg);
    lab_heap_reset(false);
    lab_run.in_setup = false;
}

enum lab_verdict lab_explore(const struct lab_program *p, const struct lab_limits *limits,
                             struct lab_result *r)
{
    struct lab_limits l = *limits;
    memset(r, 0, sizeof *r);
    lab_choices_reset();
    if (!acceptable(p, &l)) {
        r->verdict = LAB_UNSUPPORTED;
        snprintf(r->message, sizeof r->message, "bad number of threads, bound or replay text");
        return r->verdict;
    }
    lab_backend = &lab_weak_memory;
    lab_catch_crashes();
    lab_fibers_prepare(p->threads + 1);
    lab_names_reset();
    lab_shadow_forget();
    lab_cache_reset(l.cache_bytes);
    lab_random_reset(l.seed, l.change_points);
    lab_heap_reset(true);
    lab_run.program = p;
    lab_run.limits = &l;
    lab_run.threads = p->threads;
    lab_run.truncated = false;

    run_setup(p);
    search(&l, r);
    lab_setup_undo();
    r->states = lab_cache_entries();
    r->cache_full = lab_cache_full();
    lab_cache_free();
    lab_run.program = NULL;
    return r->verdict;
}
