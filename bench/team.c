/* team.c - starts the threads, watches them for the measured time, and adds up what they did */
#include "team.h"
#include "ticks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 256 * 1024 }; /* thousands of threads should fit; the loops need next to no stack */
enum { SEED = 1, SLOW_NS = 500 };

typedef struct seat {
    const bench_request *request;
    bench_worker *worker;
    bench_duty duty;
    pthread_t thread;
    int error; /* of pinning */
} seat;

static pthread_barrier_t start;

void *bench_sector_alloc(size_t bytes)
{
    void *memory = aligned_alloc(BENCH_SECTOR, (bytes + BENCH_SECTOR - 1) / BENCH_SECTOR * BENCH_SECTOR);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

static bool equip(bench_worker *w, bench_shared *s, const bench_request *q, unsigned index)
{
    w->shared = s;
    w->index = index;
    w->load = q->load;
    w->own = generator_from(SEED + 1 + index);
    if (!q->load.mersenne)
        return true;
    w->twister = bench_sector_alloc(sizeof *w->twister);
    if (w->twister != NULL)
        mersenne_seed(w->twister, SEED + 1 + index);
    return w->twister != NULL;
}

bench_team *bench_team_new(const bench_request *q)
{
    bench_team *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->shared = bench_sector_alloc(sizeof *t->shared);
    t->workers = bench_sector_alloc(q->threads * sizeof *t->workers);
    t->from = calloc(q->threads, sizeof *t->from);
    t->to = calloc(q->threads, sizeof *t->to);
    if (!t->shared || !t->workers || !t->from || !t->to)
        return NULL;
    for (unsigned i = 0; i < q->threads; i++)
        if (!equip(&t->workers[i], t->shared, q, i))
            return NULL;
    t->shared->threads = q->threads;
    t->shared->variant = q->variant;
    return t;
}

static void *worker_main(void *argument)
{
    seat *s = argument;
    s->error = bench_pin_self(&s->request->pin, s->worker->index, s->request->threads, s->request->cpus);
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start); /* between the two, the errors are looked at */
    s->duty(s->worker);
    return NULL;
}

static int start_threads(bench_team *t, const bench_request *q, bench_duty_of *duty_of, seat *seats)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_barrier_init(&start, NULL, q->threads + 1);
    int error = 0;
    for (unsigned i = 0; i < q->threads && error == 0; i++) {
        seats[i] = (seat){.request = q, .worker = &t->workers[i], .duty = duty_of(q, i)};
        error = pthread_create(&seats[i].thread, &attributes, worker_main, &seats[i]);
    }
    pthread_attr_destroy(&attributes);
    if (error != 0)
        return error;
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < q->threads && error == 0; i++)
        error = seats[i].error;
    return error;
}

static void sleep_ns(uint64_t ns)
{
    uint64_t until = pawl_nanoseconds(CLOCK_MONOTONIC) + ns;
    struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Reads all counts as nearly at one moment as the scheduler allows. On a busy machine this thread may lose its CPU
 * halfway through, so a reading that took long is repeated. The kernel's statistics, which always take long, are read
 * first. */
static bench_moment read_counts(const bench_team *t, unsigned threads, uint64_t *counts,
                                const bench_counters *counters)
{
    uint64_t limit = 20000 + 200 * (uint64_t)threads, from;
    bench_moment m = bench_moment_now(counters, t->events);
    int tries = 5;
    do {
        from = pawl_nanoseconds(CLOCK_MONOTONIC);
        m.ticks = (double)ticks();
        for (unsigned i = 0; i < threads; i++)
            counts[i] = __atomic_load_n(&t->workers[i].count, __ATOMIC_RELAXED);
    } while (pawl_nanoseconds(CLOCK_MONOTONIC) - from > limit && --tries > 0);
    m.ns = (double)from;
    return m;
}

static void set_phase(bench_team *t, bench_phase phase)
{
    __atomic_store_n(&t->shared->phase, phase, __ATOMIC_RELAXED);
}

double bench_team_shares(const bench_team *t, unsigned first, unsigned end, bench_run *run)
{
    double sum = 0, squares = 0, least = 1e300, most = 0;
    run->worst_wait_ns = run->starvation_ns = 0;
    for (unsigned i = first; i < end; i++) {
        double n = bench_team_count(t, i);
        /* A thread that never got in has waited all the time, and was not timed. */
        double worst = n == 0 ? t->ns : (double)t->workers[i].worst_wait * t->ns_per_tick;
        double starved = n == 0 ? t->ns : (double)t->workers[i].starvation * t->ns_per_tick;
        run->worst_wait_ns = worst > run->worst_wait_ns ? worst : run->worst_wait_ns;
        run->starvation_ns = starved > run->starvation_ns ? starved : run->starvation_ns;
        least = n < least ? n : least;
        most = n > most ? n : most;
        sum += n;
        squares += n * n;
    }
    run->value = sum * 1e9 / t->ns;
    run->fairness = most > 0 ? least / most : 0;
    run->jain = squares > 0 ? sum * sum / ((end - first) * squares) : 0;
    return sum;
}

static void add_calls(const bench_moment *from, const bench_moment *to, bench_run *run)
{
    for (int i = 0; i < PAWL_EVENTS; i++)
        run->calls[i] = from->events[i] >= 0 && run->acquisitions > 0
                            ? (to->events[i] - from->events[i]) * 1000 / run->acquisitions
                            : -1;
}

int bench_team_run(bench_team *t, const bench_request *q, bench_duty_of *duty_of, bench_run *run)
{
    seat *seats = calloc(q->threads, sizeof *seats);
    if (seats == NULL)
        return ENOMEM;
    run->step_ns = bench_step_ns();
    t->shared->ticks_per_ns = bench_ticks_per_ns();
    t->shared->slow = (uint64_t)(SLOW_NS * t->shared->ticks_per_ns) + 1;
    bench_beside beside; /* before the counters: it is not to be counted in them */
    int error = bench_beside_start(&beside, q->beside);
    bench_counters counters = bench_counters_open(&beside);
    if (error == 0)
        error = start_threads(t, q, duty_of, seats);
    if (error != 0)
        return error;
    pthread_barrier_wait(&start);
    sleep_ns(q->warm_up_ns);
    bench_moment from = read_counts(t, q->threads, t->from, &counters);
    set_phase(t, BENCH_MEASURE);
    sleep_ns(q->duration_ns);
    bench_moment to = read_counts(t, q->threads, t->to, &counters);
    set_phase(t, BENCH_STOP);
    for (unsigned i = 0; i < q->threads; i++)
        pthread_join(seats[i].thread, NULL);
    free(seats);
    t->ns = to.ns - from.ns;
    t->ns_per_tick = t->ns / (to.ticks - from.ticks);
    bench_surroundings(run, &from, &to);
    run->acquisitions = bench_team_shares(t, 0, q->threads, run);
    add_calls(&from, &to, run);
    return bench_beside_stop(&beside);
}
