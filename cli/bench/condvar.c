/* condvar.c - `pawl bench condvar`: a bounded queue over a mutex and its condition variables */
#include "bench.h"

#include "cli/parse.h"

enum { PRODUCERS = 0x400, CONSUMERS, PLACES, MOST_OF_A_KIND = 2048, MOST_PLACES = 1000000 };

static const struct argp_option options[] = {
    {"producers", PRODUCERS, "N", 0, "Threads that put items into the queue (default 1)", 0},
    {"consumers", CONSUMERS, "N", 0, "Threads that take them out (default 1)", 0},
    {"places", PLACES, "N", 0, "Places in the queue (default 64)", 0},
    {0},
};

static bool take(study *s, int key, char *argument)
{
    switch (key) {
    case PRODUCERS:
        s->base.producers = (unsigned)parse_number("--producers", argument, 1, MOST_OF_A_KIND);
        return true;
    case CONSUMERS:
        s->base.consumers = (unsigned)parse_number("--consumers", argument, 1, MOST_OF_A_KIND);
        return true;
    case PLACES:
        s->base.places = (unsigned)parse_number("--places", argument, 1, MOST_PLACES);
        return true;
    }
    return false;
}

static const subject *subjects(size_t *count)
{
    static subject *all;
    const bench_queue *const *queues = bench_queues(count);
    if (all != NULL)
        return all;
    all = allocate(*count, sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = (subject){.name = queues[i]->name, .peer = queues[i]->peer, .waiting = queues[i]->waiting};
    return all;
}

static const char *refusal(const char *lock)
{
    return bench_lock_find(lock) != NULL ? "has no condition variable" : NULL;
}

static void plan(study *s)
{
    for (size_t l = 0; l < s->lock_count; l++)
        add_point(s, s->locks[l], s->base.producers + s->base.consumers);
}

static void parameters(const bench_request *q, json_t *to)
{
    json_object_set_new(to, "producers", json_integer(q->producers));
    json_object_set_new(to, "consumers", json_integer(q->consumers));
    json_object_set_new(to, "places", json_integer(q->places));
}

static void describe(const bench_request *q, FILE *to)
{
    fprintf(to, "%u producer%s, %u consumer%s, %u place%s", q->producers, q->producers == 1 ? "" : "s",
            q->consumers, q->consumers == 1 ? "" : "s", q->places, q->places == 1 ? "" : "s");
}

const workload condvar = {
    .name = "condvar",
    .doc = "Measure how many items producers can hand to consumers through a queue with a limited number of "
           "places: one lock, and two condition variables to wait for an item or for a place.\vLIST is "
           "comma-separated. Every item must arrive once, or that is reported, and the exit status is 1.",
    .takes = TAKES_LOCKS | TAKES_PIN,
    .unit = "items/s",
    .higher_is_better = true,
    .base = {.producers = 1, .consumers = 1, .places = 64},
    .options = options,
    .take = take,
    .subjects = subjects,
    .refusal = refusal,
    .plan = plan,
    .parameters = parameters,
    .describe = describe,
};

int condvar_main(int argc, char **argv)
{
    return workload_main(&condvar, argc, argv);
}
