/* subjects.c - the locks that are inlined into loops of this program */
#include "bench.h"

const subject *native_subjects(size_t *count)
{
    static subject *all;
    const bench_lock *const *locks = bench_locks(count);
    if (all != NULL)
        return all;
    all = allocate(*count, sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = (subject){.name = locks[i]->name, .peer = locks[i]->peer, .waiting = locks[i]->waiting};
    return all;
}
