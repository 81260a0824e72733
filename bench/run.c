/* run.c - starts the threads, watches them for the measured time, and checks what they did */
#include "run.h"
#include "ticks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Thousands of threads should fit; the loops need next to no stack. */
enum { STACK = 256 * 1024 };
enum { SEED = 1 };

typedef struct team {
    bench_shared *shared;
    bench_worker *workers;
    pthread_t *threads;
    uint64_t *counts; /* of each worker at the beginning of the measured time */
    pthread_barrier_t start;
} team;

typedef struct seat {
    team *team;
    const bench_lock *lock;
    bench_worker *worker;
} seat;

/* The state of the world at one moment. */
typedef struct moment {
    double ns, ticks, cpu_ns;
} moment;

static void *sector_alloc(size_t bytes)
{
    void *memory = aligned_alloc(PAWL_SECTOR, (bytes + PAWL_SECTOR - 1) / PAWL_SECTOR * PAWL_SECTOR);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

static void *worker_main(void *argument)
{
    seat s = *(seat *)argument;
    pthread_barrier_wait(&s.team->start); /* until here the creator keeps the argument alive */
    s.lock->work(s.worker);
    return NULL;
}

/* Reads all counters as nearly at one moment as the scheduler allows: on a busy machine this thread may lose
 * its CPU halfway through, so a reading that took long is made again. */
static moment read_counts(const team *t, unsigned threads, uint64_t *counts)
{
    uint64_t limit = 20000 + 200 * (uint64_t)threads, from, until, at;
    int tries = 5;
    do {
        from = nanoseconds(CLOCK_MONOTONIC);
        at = ticks();
        for (unsigned i = 0; i < threads; i++)
            counts[i] = atomic_load_explicit(&t->workers[i].count, memory_order_relaxed);
        until = nanoseconds(CLOCK_MONOTONIC);
    } while (until - from > limit && --tries > 0);
    return (moment){((double)from + (double)until) / 2, (double)at,
                    (double)nanoseconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void sleep_ns(uint64_t ns)
{
    uint64_t until = nanoseconds(CLOCK_MONOTONIC) + ns;
    struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static uint64_t warm_up_ns(uint64_t duration_ns)
{
    uint64_t tenth = duration_ns / 10, least = 5000000, most = 100000000;
    return tenth < least ? least : tenth > most ? most : tenth;
}

static void summarise(const team *t, unsigned threads, const uint64_t *counts, moment from, moment to,
                      bench_run *run)
{
    double ns = to.ns - from.ns, ns_per_tick = ns / (to.ticks - from.ticks);
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    run->worst_wait_ns = 0;
    for (unsigned i = 0; i < threads; i++) {
        uint64_t n = counts[i] - t->counts[i];
        /* Whoever never got in has waited all the time, and was not timed. */
        double worst = n == 0 ? ns : (double)t->workers[i].worst_wait * ns_per_tick;
        run->worst_wait_ns = worst > run->worst_wait_ns ? worst : run->worst_wait_ns;
        least = n < least ? n : least;
        most = n > most ? n : most;
        sum += n;
    }
    run->throughput = (double)sum * 1e9 / ns;
    run->fairness = most > 0 ? (double)least / (double)most : 0;
    run->cpu_seconds = (to.cpu_ns - from.cpu_ns) / 1e9;
}

static bool excluded(const team *t, unsigned threads, const bench_load *load)
{
    generator replay = generator_from(SEED);
    for (unsigned i = 0; i < threads; i++)
        generator_advance(&replay, load->cs * t->workers[i].count);
    return memcmp(&replay, &t->shared->data, sizeof replay) == 0;
}

static int start_threads(team *t, const bench_point *p, seat *seats)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&t->start, NULL, p->threads + 1);
    int error = 0;
    for (unsigned i = 0; i < p->threads && error == 0; i++) {
        t->workers[i].shared = t->shared;
        t->workers[i].own = generator_from(SEED + 1 + i);
        seats[i] = (seat){t, p->lock, &t->workers[i]};
        error = pthread_create(&t->threads[i], &attributes, worker_main, &seats[i]);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

static int measure(team *t, const bench_point *p, seat *seats, uint64_t *counts, bench_run *run)
{
    int error = start_threads(t, p, seats);
    if (error != 0)
        return error;
    pthread_barrier_wait(&t->start);
    sleep_ns(warm_up_ns(p->duration_ns));
    moment from = read_counts(t, p->threads, t->counts);
    atomic_store_explicit(&t->shared->phase, BENCH_MEASURE, memory_order_relaxed);
    sleep_ns(p->duration_ns);
    moment to = read_counts(t, p->threads, counts);
    atomic_store_explicit(&t->shared->phase, BENCH_STOP, memory_order_relaxed);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(t->threads[i], NULL);
    pthread_barrier_destroy(&t->start);
    summarise(t, p->threads, counts, from, to, run);
    p->lock->destroy(t->shared);
    return excluded(t, p->threads, &p->load) ? 0 : BENCH_NO_EXCLUSION;
}

int bench_run_point(const bench_point *p, bench_run *run)
{
    team t = {.shared = sector_alloc(sizeof *t.shared),
              .workers = sector_alloc(p->threads * sizeof *t.workers),
              .threads = calloc(p->threads, sizeof *t.threads),
              .counts = calloc(p->threads, sizeof *t.counts)};
    seat *seats = calloc(p->threads, sizeof *seats);
    uint64_t *counts = calloc(p->threads, sizeof *counts);
    if (!t.shared || !t.workers || !t.threads || !t.counts || !seats || !counts)
        return ENOMEM;
    t.shared->data = generator_from(SEED);
    t.shared->load = p->load;
    int error = measure(&t, p, seats, counts, run);
    if (error > 0)
        return error;
    free(t.shared);
    free(t.workers);
    free(t.threads);
    free(t.counts);
    free(seats);
    free(counts);
    return error;
}

typedef struct pair_timing {
    const bench_lock *lock;
    bench_shared *shared;
    uint64_t pairs;
    double ns;
} pair_timing;

static void *pairs_main(void *argument)
{
    pair_timing *t = argument;
    t->lock->pairs(t->shared,
                   t->pairs / 10 + 1); /* first use of the lock, of the thread's state, of the code */
    uint64_t from = nanoseconds(CLOCK_MONOTONIC);
    t->lock->pairs(t->shared, t->pairs);
    t->ns = (double)(nanoseconds(CLOCK_MONOTONIC) - from);
    return NULL;
}

/* In a thread of its own: glibc's mutex skips its atomics as long as a process has but one. */
int bench_run_pairs(const bench_lock *lock, uint64_t pairs, double *ns_per_pair)
{
    pair_timing t = {.lock = lock, .shared = sector_alloc(sizeof *t.shared), .pairs = pairs};
    if (t.shared == NULL)
        return ENOMEM;
    pthread_t thread;
    int error = pthread_create(&thread, NULL, pairs_main, &t);
    if (error == 0) {
        pthread_join(thread, NULL);
        lock->destroy(t.shared);
        *ns_per_pair = t.ns / (double)pairs;
    }
    free(t.shared);
    return error;
}
