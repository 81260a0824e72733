/* events.c - what happens next: a heap of events, by time and by the order in which they were asked for */
#include "sim.h"

#include <stdlib.h>

typedef struct event {
    sim_time when;
    uint64_t order;
    sim_action *action;
    void *of;
    unsigned generation;
} event;

static event *heap; /* from 1 */
static size_t count, room;
static uint64_t asked;
static sim_time now;
static uint64_t random_state;

static bool is_before(const event *a, const event *b)
{
    return a->when < b->when || (a->when == b->when && a->order < b->order);
}

void sim_at(sim_time when, sim_action *action, void *of, unsigned generation)
{
    if (count + 2 > room) {
        room = room > 0 ? 2 * room : 1024;
        heap = realloc(heap, room * sizeof *heap);
        if (heap == NULL)
            lab_die("out of memory");
    }
    event e = {when, asked++, action, of, generation};
    size_t i = ++count;
    for (; i > 1 && is_before(&e, &heap[i / 2]); i /= 2)
        heap[i] = heap[i / 2];
    heap[i] = e;
}

static event take_first(void)
{
    event first = heap[1], last = heap[count--];
    size_t i = 1;
    for (size_t child; (child = 2 * i) <= count; i = child) {
        if (child < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}

sim_time sim_next_event(void)
{
    return count > 0 ? heap[1].when : SIM_NEVER;
}

bool sim_do_next_event(void)
{
    if (count == 0)
        return false;
    event e = take_first();
    now = e.when;
    e.action(e.of, e.generation);
    return true;
}

sim_time sim_now(void)
{
    return now;
}

void sim_seed(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
}

/* SplitMix64. */
uint64_t sim_random(uint64_t below)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below > 0 ? (z ^ z >> 31) % below : 0;
}
