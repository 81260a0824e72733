/* ring.c - Hemlock, section 5.5: threads in a ring pass one token, and wait for it in different ways
 *
 * A thread waits until its mailbox is not empty, empties it, and fills its successor's. Waiting by a load
 * takes the line twice: shared to see the token, and exclusive to empty the mailbox. Waiting by an atomic
 * operation takes it exclusively at once.
 */
#include "loops.h"
#include "workload.h"

#include <pawl/detail/wait.h>

#include <errno.h>

enum { TOKEN = 1 };

typedef struct mailbox {
    BENCH_ALIGNED uint64_t token;
} mailbox;

/* Each takes the token out of the mailbox if it is in there. */

static inline bool take_by_load(uint64_t *box)
{
    if (__atomic_load_n(box, __ATOMIC_ACQUIRE) == 0)
        return false;
    __atomic_store_n(box, 0, __ATOMIC_RELAXED);
    return true;
}

static inline bool take_by_cas(uint64_t *box)
{
    uint64_t token = TOKEN;
    return __atomic_compare_exchange_n(box, &token, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline bool take_by_swap(uint64_t *box)
{
    return __atomic_exchange_n(box, 0, __ATOMIC_ACQUIRE) != 0;
}

/* Adding nothing is a load that takes the line exclusively. */
static inline bool take_by_faa(uint64_t *box)
{
    if (__atomic_fetch_add(box, 0, __ATOMIC_ACQUIRE) == 0)
        return false;
    __atomic_store_n(box, 0, __ATOMIC_RELAXED);
    return true;
}

static inline __attribute__((always_inline)) void circulate(bench_worker *w, bool (*take)(uint64_t *box))
{
    bench_shared *s = w->shared;
    mailbox *boxes = s->extra;
    uint64_t *own = &boxes[w->index].token, *next = &boxes[(w->index + 1) % s->threads].token, count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        if (!take(own)) {
            pawl_pause();
            continue;
        }
        __atomic_store_n(next, TOKEN, __ATOMIC_RELEASE);
        bench_counted(w, ++count);
    }
}

static void by_load(bench_worker *w)
{
    circulate(w, take_by_load);
}

static void by_cas(bench_worker *w)
{
    circulate(w, take_by_cas);
}

static void by_swap(bench_worker *w)
{
    circulate(w, take_by_swap);
}

static void by_faa(bench_worker *w)
{
    circulate(w, take_by_faa);
}

/* In the order of bench_ring_variants. */
static const bench_duty duties[] = {by_load, by_cas, by_swap, by_faa};
const char *const bench_ring_variants[] = {"load", "cas", "swap", "faa", NULL};

static bench_duty duty_of(const bench_request *q, unsigned index)
{
    (void)index;
    return duties[q->variant];
}

void bench_ring(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    bench_team *t = bench_team_new(q);
    mailbox *boxes = t != NULL ? bench_sector_alloc(q->threads * sizeof *boxes) : NULL;
    if (boxes == NULL) {
        run->error = ENOMEM;
        return;
    }
    boxes[0].token = TOKEN;
    t->shared->extra = boxes;
    run->error = bench_team_run(t, q, duty_of, run);
    /* The ring is fair by its shape, and nothing was timed. */
    run->fairness = run->jain = run->starvation_ns = run->worst_wait_ns = -1;
}
