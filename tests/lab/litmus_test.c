/* litmus_test.c - runs the litmus programs exhaustively and compares (not instrumented) */
#include "litmus.h"
#include "test.h"
#include <string.h>

static uint64_t seen;
static const struct litmus *now;

static void observe(void *unused)
{
    (void)unused;
    litmus_final();
    seen += memcmp(r, now->outcome, sizeof r) == 0;
}

/* With and without the cache: it must not hide an outcome. */
static void run(const struct litmus *l, bool no_cache)
{
    struct lab_program program = {.threads = l->threads, .setup = litmus_setup, .thread = l->body, .finish = observe};
    struct lab_limits limits = LAB_LIMITS;
    struct lab_result result;
    limits.preemptions = limits.stale = 10;
    limits.inserts = l->inserts;
    limits.spurious = l->spurious;
    limits.no_cache = no_cache;
    seen = 0;
    now = l;
    lab_explore(&program, &limits, &result);
    bool right = result.verdict == (l->expect == VERDICT ? l->verdict : LAB_OK);
    if (result.verdict == LAB_OK)
        right = right && result.complete;
    if (l->expect == ALLOWED)
        right = right && seen > 0;
    if (l->expect == FORBIDDEN)
        right = right && seen == 0;
    check(right, "%s%s: verdict %s, outcome seen %ju times in %ju executions%s%s", l->name,
          no_cache ? ", every interleaving" : "", lab_verdict_name(result.verdict), (uintmax_t)seen,
          (uintmax_t)result.executions, result.message[0] ? ": " : "", result.message);
}

void litmus_tests(void)
{
    for (int i = 0; i < litmus_count; i++) {
        run(&litmus[i], false);
        run(&litmus[i], true);
    }
}
