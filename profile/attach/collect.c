/* collect.c - keeps what the kernel's side tells */
#include "collected.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static void *grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) /* full at powers of two */
        return items;
    items = realloc(items, (count > 0 ? 2 * count : 1) * size);
    if (items == NULL)
        fail("out of memory");
    return items;
}

void collected_add_sample(collected *c, const struct attach_sample *s)
{
    struct attach_sample *copy = allocate(1, sizeof *copy);
    *copy = *s;
    c->samples = grow(c->samples, c->samples_count, sizeof *c->samples);
    c->samples[c->samples_count++] = copy;
}

void collected_add_pair(collected *c, const struct attach_pair *pair, const struct attach_times *times)
{
    c->pairs = grow(c->pairs, c->pairs_count, sizeof *c->pairs);
    c->times = grow(c->times, c->pairs_count, sizeof *c->times);
    c->pairs[c->pairs_count] = *pair;
    c->times[c->pairs_count++] = *times;
}

static uint64_t length_of(const struct attach_long *e)
{
    return e->end_ns - e->start_ns;
}

/* Of the waits for a futex, or of all if it is 0: their number, and the place of the shortest. */
static size_t shortest(const collected *c, uint64_t address, size_t *place)
{
    size_t count = 0;
    for (size_t i = 0; i < c->longest_count; i++) {
        if (address != 0 && c->longest[i].address != address)
            continue;
        if (count++ == 0 || length_of(&c->longest[i]) < length_of(&c->longest[*place]))
            *place = i;
    }
    return count;
}

/* A few of each futex: idle threads wait longest, but not for locks. */
void collected_add_long(collected *c, const struct attach_long *e)
{
    size_t place = 0;
    if (shortest(c, e->address, &place) < ATTACH_EACH && shortest(c, 0, &place) < ATTACH_LONGEST)
        place = c->longest_count++;
    else if (length_of(&c->longest[place]) >= length_of(e))
        return;
    c->longest[place] = *e;
}

uint64_t collected_least(const collected *c, uint64_t address)
{
    size_t place = 0;
    return shortest(c, address, &place) == ATTACH_EACH ? length_of(&c->longest[place]) : 0;
}

void collected_free(collected *c)
{
    for (size_t i = 0; i < c->samples_count; i++)
        free(c->samples[i]);
    free(c->samples);
    free(c->pairs);
    free(c->times);
    free(c->maps);
}
