/* atomic_struct.c - a program whose threads exchange a structure of 20 bytes atomically
 *
 * No processor can, so the compiler calls libatomic, which takes a pthread mutex from a table: the one that
 * an interposer replaces. From the Hapax paper, figure 1, and the Reciprocating paper, figures 2a and 2b.
 */
#include "interposed.h"
#include "loops.h"
#include "workload.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { FIELDS = 5 };

typedef struct record {
    int32_t field[FIELDS];
} record;

typedef struct exchange {
    BENCH_ALIGNED _Atomic(record) global;
    record *own; /* of each thread, in the end */
} exchange;

static record record_of(int32_t value)
{
    record r;
    for (int i = 0; i < FIELDS; i++)
        r.field[i] = value;
    return r;
}

static void by_exchange(bench_worker *w)
{
    bench_shared *s = w->shared;
    exchange *x = s->extra;
    const bench_load load = w->load;
    generator random = w->own;
    record own = record_of((int32_t)w->index + 1);
    uint64_t count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        own = atomic_exchange(&x->global, own);
        bench_counted(w, ++count);
        bench_outside(w, &random, &load);
    }
    x->own[w->index] = own;
    w->own = random;
}

/* Adds one to the first field. */
static void by_cas(bench_worker *w)
{
    bench_shared *s = w->shared;
    exchange *x = s->extra;
    const bench_load load = w->load;
    generator random = w->own;
    uint64_t count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        record seen = atomic_load(&x->global), next;
        do {
            next = seen;
            next.field[0] = (int32_t)((uint32_t)next.field[0] + 1);
        } while (!atomic_compare_exchange_strong(&x->global, &seen, next));
        bench_counted(w, ++count);
        bench_outside(w, &random, &load);
    }
    w->own = random;
}

/* Every record of the beginning is there at the end, and none is torn. */
static bool all_there(exchange *x, unsigned threads)
{
    bool *seen = calloc(threads + 1, sizeof *seen);
    for (unsigned i = 0; i <= threads && seen != NULL; i++) {
        record r = i < threads ? x->own[i] : atomic_load(&x->global);
        uint32_t value = (uint32_t)r.field[0];
        for (int f = 1; f < FIELDS; f++)
            if (r.field[f] != r.field[0])
                return false;
        if (value > threads || seen[value])
            return false;
        seen[value] = true;
    }
    free(seen);
    return true;
}

static bool all_counted(exchange *x, const bench_team *t, unsigned threads)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < threads; i++)
        sum += t->workers[i].count;
    record last = atomic_load(&x->global);
    return (uint32_t)last.field[0] == (uint32_t)sum;
}

static bench_duty duty_of(const bench_request *q, unsigned index)
{
    (void)index;
    return q->variant == 0 ? by_exchange : by_cas;
}

static void run_exchange(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    if (!bench_interposed(q)) {
        run->error = BENCH_NOT_INTERPOSED;
        return;
    }
    bench_team *t = bench_team_new(q);
    exchange *x = bench_sector_alloc(sizeof *x);
    if (t == NULL || x == NULL || (x->own = calloc(q->threads, sizeof *x->own)) == NULL) {
        run->error = ENOMEM;
        return;
    }
    t->shared->extra = x;
    run->error = bench_team_run(t, q, duty_of, run);
    if (run->error == 0 && !(q->variant == 0 ? all_there(x, q->threads) : all_counted(x, t, q->threads)))
        run->error = BENCH_NO_EXCLUSION;
    run->starvation_ns = run->worst_wait_ns = -1; /* nothing was timed */
}

int main(void)
{
    return bench_answer(run_exchange, NULL);
}
