/* engine_test.c - does the engine find what is wrong, and pass what is right? (not instrumented) */
#include "subjects.h"
#include "test.h"
#include <errno.h>
#include <string.h>

static struct lab_limits limits(int preemptions, int stale)
{
    struct lab_limits l = LAB_LIMITS;
    l.preemptions = preemptions;
    l.stale = stale;
    return l;
}

static void expect(enum lab_verdict verdict, const char *name, const struct lab_program *p, const struct lab_limits *l)
{
    struct lab_result r;
    lab_explore(p, l, &r);
    bool searched = r.verdict != LAB_OK || l->search != LAB_EXHAUSTIVE || r.complete;
    check(r.verdict == verdict && searched, "%s: %s%s%s (%ju executions, %ju pruned, %.2f s)", name,
          lab_verdict_name(r.verdict), r.message[0] ? ", " : "", r.message, (uintmax_t)r.executions,
          (uintmax_t)r.pruned, r.seconds);
    if (r.verdict != verdict && r.verdict != LAB_OK)
        lab_print_trace(stdout, &r);
}

/* ---- locks ---------------------------------------------------------------------------------------------------- */

static struct lab_program contest(struct contest *c, int threads)
{
    return (struct lab_program){.threads = threads, .setup = contest_setup, .thread = contest_thread,
                                .finish = contest_finish, .arg = c};
}

static void lock_test(const struct subject *s, enum lab_verdict verdict)
{
    struct contest c = {s, 1, 1, verdict != LAB_TWO_OWNERS};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(3, 2);
    expect(verdict, s->name, &p, &l);
}

static void lock_tests(void)
{
    lock_test(&ticket, LAB_OK);
    lock_test(&tas, LAB_OK);
    lock_test(&tts, LAB_OK);
    lock_test(&mcs, LAB_OK);
    lock_test(&clh, LAB_OK);
    lock_test(&hapax_fixed, LAB_OK);
    lock_test(&futex_mutex, LAB_OK);
    lock_test(&test_then_set, LAB_TWO_OWNERS);
    lock_test(&tts_relaxed, LAB_DATA_RACE);
    lock_test(&hapax_listing, LAB_DEADLOCK);
    lock_test(&futex_lost, LAB_DEADLOCK);
    lock_test(&mcs_no_wait, LAB_DEADLOCK);
}

static void nothing_to_rely_on(void)
{
    struct contest c = {&futex_mutex, 1, 1, true};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(2, 1);
    l.inserts = l.spurious = 1;
    expect(LAB_OK, "futex mutex, spurious wake-ups and inserts", &p, &l);
}

static void bypass_test(const struct subject *s, int each, int total, enum lab_verdict verdict)
{
    struct contest c = {s, 1, 1, true};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(2, 1);
    l.bypass_each = each;
    l.bypass_total = total;
    expect(verdict, s->name, &p, &l);
}

static void bypass_tests(void)
{
    bypass_test(&ticket, 0, 0, LAB_OK);
    bypass_test(&mcs, 0, 0, LAB_OK);
    bypass_test(&tas, 0, -1, LAB_OVERTAKEN);
    bypass_test(&tas, -1, 0, LAB_OVERTAKEN);
    bypass_test(&tas, 1, -1, LAB_OVERTAKEN);
    bypass_test(&tas, 2, 3, LAB_OK); /* thread 0 comes twice, another once */
}

/* ---- programs ------------------------------------------------------------------------------------------------- */

struct program_test {
    const char *name;
    int threads;
    void (*setup)(void *);
    void (*thread)(void *, int);
    void *arg;
    enum lab_verdict verdict;
    bool threads_die, check_leaks;
    int stale, spurious, timeouts, membarrier_errno;
};

static const struct program_test programs[] = {
    {.name = "destroys too early", .threads = 2, .setup = destroy_setup, .thread = destroy_early,
     .verdict = LAB_DESTROYED},
    {.name = "destroys in order", .stale = 2, .threads = 2, .setup = destroy_setup, .thread = destroy_ordered},
    {.name = "exits without waiting", .threads = 2, .thread = tls_reuse_unordered, .verdict = LAB_DEAD_THREAD},
    {.name = "waits, then exits", .stale = 2, .threads = 2, .thread = tls_reuse_ordered},
    {.name = "waits, then exits; all threads die", .stale = 2, .threads = 2, .thread = tls_reuse_ordered,
     .threads_die = true},
    {.name = "thread-local memory is reset", .threads = 2, .thread = tls_is_reset},
    {.name = "leaks", .threads = 2, .thread = leaks, .check_leaks = true, .verdict = LAB_LEAK},
    {.name = "does not leak", .stale = 2, .threads = 2, .thread = leaks_not, .check_leaks = true},
    {.name = "gives its node back", .threads = 2, .thread = gives_back, .arg = "", .check_leaks = true},
    {.name = "does not give its node back", .threads = 2, .thread = gives_back, .check_leaks = true,
     .verdict = LAB_LEAK},
    {.name = "frees twice", .threads = 2, .thread = frees_twice, .verdict = LAB_DESTROYED},
    {.name = "uses after free", .stale = 2, .threads = 2, .thread = uses_after_free, .verdict = LAB_DESTROYED},
    {.name = "clears by memset", .threads = 2, .thread = clears_by_memset},
    {.name = "clears by memset, unordered", .threads = 2, .thread = clears_unordered, .verdict = LAB_DATA_RACE},
    {.name = "gives up spinning", .stale = 2, .threads = 2, .thread = spins_for_a_while},
    {.name = "gives up at a deadline", .stale = 2, .threads = 2, .thread = clock_deadline},
    {.name = "spins for ever", .threads = 2, .thread = spins_for_ever, .verdict = LAB_DEADLOCK},
    {.name = "waits for two words", .stale = 2, .threads = 3, .thread = waits_for_two_words},
    {.name = "polls by RMW", .stale = 2, .threads = 3, .thread = polls_by_exchange},
    {.name = "livelock", .threads = 2, .thread = livelock, .verdict = LAB_NO_PROGRESS},
    {.name = "times out", .threads = 2, .thread = times_out},
    {.name = "times out, by choice", .threads = 2, .thread = times_out, .timeouts = 1},
    {.name = "naps while another naps", .threads = 2, .thread = naps_until_told},
    {.name = "naps often while another naps", .threads = 2, .thread = naps_until_told, .arg = &(int){12},
     .verdict = LAB_ASSERTION},
    {.name = "naps often before another naps", .threads = 2, .thread = naps_often_before, .verdict = LAB_ASSERTION},
    {.name = "sleeps without timeout", .threads = 2, .thread = sleeps_without_timeout, .verdict = LAB_DEADLOCK},
    {.name = "trusts its wake-up", .threads = 2, .thread = wakes_spuriously},
    {.name = "takes its wake-up for an acquire", .threads = 2, .thread = wakes_spuriously, .stale = 1,
     .verdict = LAB_ASSERTION},
    {.name = "trusts a spurious wake-up", .threads = 2, .thread = wakes_spuriously, .spurious = 1,
     .verdict = LAB_ASSERTION},
    {.name = "requeues", .threads = 2, .thread = requeues},
    {.name = "Dekker by membarrier", .stale = 2, .threads = 2, .thread = membarrier_dekker},
    {.name = "membarrier refused", .threads = 2, .thread = membarrier_dekker, .membarrier_errno = EPERM,
     .verdict = LAB_ASSERTION},
    {.name = "Dekker without a fence", .stale = 2, .threads = 2, .thread = unfenced_dekker, .verdict = LAB_DATA_RACE},
    {.name = "mcs on the stack", .stale = 2, .threads = 2, .setup = clear_subjects, .thread = on_stack_published,
     .arg = (void *)&stack_mcs},
    {.name = "mcs on the stack, late access", .threads = 2, .setup = clear_subjects, .thread = on_stack_published,
     .arg = (void *)&stack_mcs_late, .verdict = LAB_DEAD_THREAD},
};

static void program_tests(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program_test *t = &programs[i];
        struct lab_program p = {.threads = t->threads, .setup = t->setup, .thread = t->thread, .arg = t->arg,
                                .threads_die = t->threads_die, .check_leaks = t->check_leaks};
        struct lab_limits l = limits(3, t->stale);
        l.spurious = t->spurious;
        l.timeouts = t->timeouts;
        l.membarrier_errno = t->membarrier_errno;
        expect(t->verdict, t->name, &p, &l);
    }
}

/* ---- replay, seeds, repetition -------------------------------------------------------------------------------- */

static size_t trace_text(const struct lab_result *r, char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < r->trace_length && at < size; i++)
        at += (size_t)lab_event_text(r, i, text + at, size - at);
    return at;
}

static void replays_exactly(const struct subject *s, enum lab_search search)
{
    static char first[65536], again[65536], text[4096];
    struct contest c = {s, 1, 1, true};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(3, 2);
    struct lab_result r;
    l.search = search;
    lab_explore(&p, &l, &r);
    enum lab_verdict verdict = r.verdict;
    size_t length = trace_text(&r, first, sizeof first);
    snprintf(text, sizeof text, "%s", r.replay ? r.replay : "");
    l.search = LAB_REPLAY;
    l.replay = text;
    l.preemptions = 0; /* the replay brings its own */
    lab_explore(&p, &l, &r);
    bool same = length > 0 && trace_text(&r, again, sizeof again) == length && memcmp(first, again, length) == 0;
    check(verdict != LAB_OK && r.verdict == verdict && same && r.executions == 1,
          "replay of %s (%s): %s, %zu characters of trace", s->name, text, lab_verdict_name(r.verdict), length);
}

static void same_seed_same_numbers(void)
{
    struct contest c = {&ticket, 2, 0, true};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(120, 120);
    struct lab_result a, b, d;
    l.search = LAB_RANDOM;
    l.executions = 2000;
    lab_explore(&p, &l, &a);
    lab_explore(&p, &l, &b);
    l.seed = 2;
    lab_explore(&p, &l, &d);
    check(a.verdict == LAB_OK && a.steps == b.steps && a.max_depth == b.max_depth && a.executions == 2000,
          "same seed, same numbers: %ju and %ju steps, %.0f executions/s", (uintmax_t)a.steps, (uintmax_t)b.steps,
          (double)a.executions / a.seconds);
    check(a.steps != d.steps, "another seed, other numbers: %ju and %ju steps", (uintmax_t)a.steps, (uintmax_t)d.steps);
}

static void random_finds(void)
{
    const struct subject *wrong[] = {&test_then_set, &tts_relaxed, &futex_lost, &hapax_listing};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct contest c = {wrong[i], 2, 0, true};
        struct lab_program p = contest(&c, 3);
        struct lab_limits l = limits(120, 120);
        struct lab_result r;
        l.search = LAB_RANDOM;
        l.executions = 100000;
        lab_explore(&p, &l, &r);
        check(r.verdict != LAB_OK, "at random, %s: %s after %ju executions", wrong[i]->name,
              lab_verdict_name(r.verdict), (uintmax_t)r.executions);
    }
}

static void rejects_nonsense(void)
{
    struct contest c = {&ticket, 1, 0, true};
    struct lab_program p = contest(&c, LAB_MAX_THREADS + 1);
    struct lab_limits l = limits(3, 2);
    expect(LAB_UNSUPPORTED, "too many threads", &p, &l);
    p.threads = 2;
    l.search = LAB_REPLAY;
    l.replay = "nonsense";
    expect(LAB_UNSUPPORTED, "a replay that is none", &p, &l);
    l.replay = "p3.s2.i0.w0.t0:zzzz";
    expect(LAB_UNSUPPORTED, "a replay of something else", &p, &l);
}

/* ---- mutation ------------------------------------------------------------------------------------------------- */

static void mutation(void)
{
    struct contest c = {&ticket, 1, 1, true};
    struct lab_program p = contest(&c, 3);
    struct lab_limits l = limits(3, 2);
    struct lab_result r;
    struct lab_site_group *groups;
    int needed = 0, survivors = 0;
    lab_forget_sites();
    lab_explore(&p, &l, &r);
    size_t n = lab_group_sites("locks.c", &groups);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].order == __ATOMIC_RELAXED)
            continue;
        lab_mutate(groups[i].pcs, groups[i].count, LAB_ORDER, __ATOMIC_RELAXED);
        lab_explore(&p, &l, &r);
        lab_unmutate();
        if (r.verdict == LAB_DATA_RACE)
            needed++;
        else
            survivors++;
    }
    check(needed == 2 && survivors == 0, "ticket lock, each order weakened: %d needed, %d not, of %zu sites", needed,
          survivors, n);
    lab_free_groups(groups, n);
    lab_explore(&p, &l, &r);
    check(r.verdict == LAB_OK, "ticket lock, mutations taken back: %s", lab_verdict_name(r.verdict));
}

/* Two programs over different locks: each has visited its own sites, and not the other's. */
static void visitors(void)
{
    struct contest tickets = {&ticket, 1, 0, true}, swaps = {&test_then_set, 1, 0, true};
    struct lab_program p[2] = {contest(&tickets, 2), contest(&swaps, 2)};
    struct lab_limits l = limits(1, 1);
    struct lab_result r;
    struct lab_site_group *groups;
    int visited[2] = {0, 0}, by_both = 0, by_nobody = 0;
    lab_forget_sites();
    for (int i = 0; i < 2; i++) {
        lab_visit_as(i * 64); /* one bit in each word */
        lab_explore(&p[i], &l, &r);
    }
    lab_visit_as(0);
    size_t n = lab_group_sites("locks.c", &groups);
    for (size_t i = 0; i < n; i++) {
        bool first = lab_was_visited(&groups[i], 0), second = lab_was_visited(&groups[i], 64);
        visited[0] += first;
        visited[1] += second;
        by_both += first && second;
        by_nobody += (!first && !second) || lab_was_visited(&groups[i], 1);
    }
    check(visited[0] > 0 && visited[1] > 0 && by_both == 0 && by_nobody == 0,
          "sites and their visitors: %d and %d, %d by both, %d by others", visited[0], visited[1], by_both, by_nobody);
    lab_free_groups(groups, n);
}

void engine_tests(void)
{
    lock_tests();
    nothing_to_rely_on();
    bypass_tests();
    program_tests();
    replays_exactly(&test_then_set, LAB_EXHAUSTIVE);
    replays_exactly(&hapax_listing, LAB_EXHAUSTIVE);
    replays_exactly(&futex_lost, LAB_EXHAUSTIVE);
    replays_exactly(&test_then_set, LAB_RANDOM);
    same_seed_same_numbers();
    random_finds();
    rejects_nonsense();
    mutation();
    visitors();
}
