/* copy.c - a process's tables, as they were at one time */
#include "copy.h"

#include "cli/cli.h"

#include <sys/mman.h>

stats_table *table_new(void)
{
    stats_table *t = mmap(NULL, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (t == MAP_FAILED)
        fail("out of memory");
    return t;
}

void table_free(stats_table *t)
{
    munmap(t, STATS_TABLE_BYTES);
}

static uint32_t used_of(const stats_id *used, uint32_t size)
{
    uint32_t n = stats_get_id(used);
    return n < size ? n + 1 : size;
}

uint32_t table_rows(const stats_table *t)
{
    return used_of(&t->locks_used, STATS_LOCKS);
}

bool table_copy(stats_table *to, bool (*part)(void *input, stats_table *to, size_t from, size_t size),
                void *input)
{
    if (!part(input, to, 0, offsetof(stats_table, stack_index)))
        return false;
    if (stats_get_id(&to->locks_used) == 0)
        return true; /* many processes use no lock */
    return part(input, to, offsetof(stats_table, stacks),
                used_of(&to->stacks_used, STATS_STACKS) * sizeof to->stacks[0]) &&
           part(input, to, offsetof(stats_table, frames),
                used_of(&to->frames_used, STATS_FRAMES) * sizeof to->frames[0]) &&
           part(input, to, offsetof(stats_table, meets), sizeof to->meets) &&
           part(input, to, offsetof(stats_table, details),
                used_of(&to->details_used, STATS_DETAILS) * sizeof to->details[0]) &&
           (stats_get_id(&to->any_refused) == 0 ||
            part(input, to, offsetof(stats_table, refused), table_rows(to) * sizeof to->refused[0]));
}

const stats_stack *table_stack(const stats_table *t, uint32_t place)
{
    const stats_stack *s = place != 0 && place < STATS_STACKS ? &t->stacks[place] : NULL;
    return s != NULL && s->ready != 0 && s->first <= STATS_FRAMES && s->depth <= STATS_FRAMES - s->first
               ? s
               : NULL;
}

const stats_detail *table_detail(const stats_table *t, const stats_row *row)
{
    return row->detail != 0 && row->detail < STATS_DETAILS ? &t->details[row->detail] : NULL;
}
