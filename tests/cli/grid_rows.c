/* grid_rows.c - the text of `pawl bench grid` for made-up throughputs: LOCK=VALUE,VALUE,... for each lock of one cell */
#include "cli/bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static const workload made_up = {.name = "grid", .unit = "operations/s", .higher_is_better = true};

static unsigned read_values(char *text, sample *to)
{
    unsigned count = 0;
    for (char *at = strtok(text, ","); at != NULL && count < MOST; at = strtok(NULL, ","))
        to[count++].run = (bench_run){.value = strtod(at, NULL), .worst_wait_ns = 1};
    return count;
}

int main(int argc, char **argv)
{
    static sample samples[MOST][MOST];
    static subject subjects[MOST];
    const subject *locks[MOST];
    point points[MOST] = {0};
    study s = {.workload = &made_up, .locks = locks, .points = points};
    for (int i = 1; i < argc && i <= MOST; i++, s.point_count++, s.lock_count++) {
        char *name = strtok(argv[i], "=");
        s.runs = read_values(strtok(NULL, ""), samples[i - 1]);
        subjects[i - 1] = (subject){.name = name, .peer = strncmp(name, "pawl", 4) != 0};
        locks[i - 1] = &subjects[i - 1];
        points[i - 1] = (point){.lock = name,
                                .peer = subjects[i - 1].peer,
                                .variant = "a cell",
                                .workload = &mutexbench,
                                .request.threads = 2,
                                .samples = samples[i - 1]};
    }
    output o;
    output_open(&o, NULL);
    grid_text(&o, &s);
    output_close(&o);
    return 0;
}
