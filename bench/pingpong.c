/* pingpong.c - one cache line between two CPUs: no lock can be handed over faster than the line travels
 *
 * Each thread waits for the other's number and answers with the next. No pause: it would round the time up.
 */
#include "loops.h"
#include "workload.h"

#include <errno.h>

typedef struct line {
    BENCH_ALIGNED uint64_t number;
} line;

static void play(bench_worker *w)
{
    bench_shared *s = w->shared;
    uint64_t *number = &((line *)s->extra)->number, count = 0;
    /* The flag is looked at only now and then: it is in another line. */
    while (bench_phase_now(s) != BENCH_STOP)
        for (int looks = 0; looks < 256; looks++) {
            uint64_t seen = __atomic_load_n(number, __ATOMIC_RELAXED);
            if (seen % 2 != w->index)
                continue;
            __atomic_store_n(number, seen + 1, __ATOMIC_RELAXED);
            bench_counted(w, ++count);
        }
}

static bench_duty play_of(const bench_request *q, unsigned index)
{
    (void)q, (void)index;
    return play;
}

void bench_pingpong(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    bench_team *t = bench_team_new(q);
    line *l = t != NULL ? bench_sector_alloc(sizeof *l) : NULL;
    if (l == NULL) {
        run->error = ENOMEM;
        return;
    }
    t->shared->extra = l;
    run->error = bench_team_run(t, q, play_of, run);
    run->value = run->value > 0 ? 1e9 / run->value : t->ns; /* nanoseconds of one way */
    run->fairness = run->jain = run->starvation_ns = run->worst_wait_ns = -1;
}
