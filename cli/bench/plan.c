/* plan.c - the points of a study */
#include "bench.h"

#include <stdlib.h>

point *add_point(study *s, const subject *lock, unsigned threads)
{
    s->points = realloc(s->points, (s->point_count + 1) * sizeof *s->points);
    if (s->points == NULL)
        fail("out of memory");
    point *p = &s->points[s->point_count++];
    *p = (point){.lock = lock->name,
                 .peer = lock->peer,
                 .waiting = lock->waiting,
                 .request = s->base,
                 .place = {.preload = lock->preload},
                 .samples = allocate(s->runs, sizeof *p->samples)};
    p->request.threads = threads;
    snprintf(p->request.lock, sizeof p->request.lock, "%s", lock->name);
    return p;
}

void plan_locks_and_threads(study *s)
{
    for (size_t t = 0; t < s->thread_counts; t++)
        for (size_t l = 0; l < s->lock_count; l++)
            add_point(s, s->locks[l], s->threads[t]);
}
