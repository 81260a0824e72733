/* answer.c - the whole life of a measuring process */
#include "workload.h"

#include <errno.h>
#include <stdio.h>

int bench_answer(bench_runner *runner, bench_runner *find(const char *workload))
{
    bench_request q;
    if (fread(&q, sizeof q, 1, stdin) != 1)
        return 2;
    if (runner == NULL)
        runner = find(q.workload);
    bench_run run = {.error = runner == NULL ? EINVAL : 0};
    bench_waits *waits = NULL;
    if (runner != NULL)
        runner(&q, &run, &waits);
    if (waits == NULL || run.error != 0)
        run.waits_of_threads = 0;
    fwrite(&run, sizeof run, 1, stdout);
    if (run.waits_of_threads > 0)
        fwrite(waits, sizeof *waits, run.waits_of_threads, stdout);
    /* Threads may still be waiting for a start; they end with the process. */
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
