/* answer.c - bench/ask.h for simulated runs: each in a child process, which is the machine */
#include "answer.h"
#include "trace.h"
#include "kernel.h"
#include "sim.h"
#include "watch.h"

#include "../bench/ask.h"
#include "../bench/workload.h"
#include "../lab/backend.h"
#include "../src/park/queue.h"
#include "../src/park/word.h"

#include <pawl/detail/slots.h>
#include <pawl/detail/wait.h>
#include <pawl/detail/thread.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

sim_machine sim_chosen;
uint64_t sim_chosen_seed = 1;
const char *sim_chosen_trace;

/* ---- in the child */

bench_team *sim_plain_team_new(const bench_request *q);
void sim_protects(const void *data, const void *twister);

bench_team *bench_team_new(const bench_request *q)
{
    bench_team *t = sim_plain_team_new(q);
    if (t == NULL)
        return NULL;
    bench_shared *s = t->shared;
    watch_region(s, sizeof *s, SIM_OTHER);
    watch_region(s->locks, sizeof s->locks, SIM_LOCK);
    watch_region(&s->data, sizeof s->data, SIM_DATA);
    watch_region(&s->twister, sizeof s->twister, SIM_DATA);
    watch_region(t->workers, q->threads * sizeof *t->workers, SIM_OTHER);
    sim_protects(&s->data, &s->twister);
    return t;
}

/* Threads end with the process: nothing has to be cleaned up. */
bool pawl_thread_enter(void)
{
    return true;
}

void pawl_thread_expect(void)
{
}

static bool polls_without_end(const bench_request *q)
{
    const bench_lock *lock = bench_lock_find(q->lock);
    if (lock == NULL) /* ring, pingpong */
        return true;
    return lock->waiting == BENCH_SPINS || (lock->waiting == BENCH_BY_POLICY && q->policy == PAWL_WAIT_SPIN);
}

static void boot(const bench_request *q, unsigned round)
{
    sim_seed(sim_chosen_seed + round * 0x51ed2701u);
    sim_polls_sleep = polls_without_end(q);
    sim_boot(&sim_chosen);
    kernel_boot();
    watch_region(pawl_slots, sizeof pawl_slots, SIM_SLOT);
    watch_region(pawl_twa_slots, sizeof pawl_twa_slots, SIM_SLOT);
    watch_region(pawl_parked, sizeof pawl_parked, SIM_PARKING);
    watch_region(pawl_bucket_at(0), sizeof(pawl_bucket) << PAWL_BUCKET_BITS, SIM_PARKING);
    lab_backend = &sim_backend;
    bool real = strcmp(q->lock, bench_no_lock.name) != 0;
    trace_start(real && round == 0 ? sim_chosen_trace : NULL);
}

static _Noreturn void answer(const bench_request *q, unsigned round, int to)
{
    bench_runner *runner = bench_runner_of(q->workload);
    bench_run run = {.error = runner == NULL ? EINVAL : 0};
    bench_waits *waits = NULL;
    boot(q, round);
    if (runner != NULL)
        runner(q, &run, &waits);
    if (!trace_write())
        run.error = EIO;
    watch_answer(&run);
    run.simulated.accesses = (double)sim_accesses;
    if (waits == NULL || run.error != 0)
        run.waits_of_threads = 0;
    FILE *out = fdopen(to, "w");
    bool written = out != NULL && fwrite(&run, sizeof run, 1, out) == 1 &&
                   fwrite(waits, sizeof *waits, run.waits_of_threads, out) == run.waits_of_threads &&
                   fclose(out) == 0;
    _exit(written ? 0 : 2);
}

/* ---- in the parent */

/* How often the same was asked before: every run of a point has a seed of its own, whatever else is simulated. */
static unsigned round_of(const bench_request *q)
{
    static struct asked {
        struct asked *next;
        bench_request request;
        unsigned times;
    } * all;
    struct asked *a = all;
    while (a != NULL && memcmp(&a->request, q, sizeof *q) != 0)
        a = a->next;
    if (a == NULL) {
        a = calloc(1, sizeof *a);
        if (a == NULL)
            return 0;
        memcpy(&a->request, q, sizeof *q); /* all bytes: they are compared */
        a->next = all;
        all = a;
    }
    return a->times++;
}

static bool read_answer(FILE *from, bench_run *run, bench_waits **waits)
{
    if (from == NULL || fread(run, sizeof *run, 1, from) != 1)
        return false;
    if (run->waits_of_threads == 0)
        return true;
    *waits = calloc(run->waits_of_threads, sizeof **waits);
    return *waits != NULL &&
           fread(*waits, sizeof **waits, run->waits_of_threads, from) == run->waits_of_threads;
}

bench_run bench_ask(const bench_request *q, const bench_place *place, bench_waits **waits)
{
    (void)place;
    int ends[2], status;
    bench_run run = {0};
    *waits = NULL;
    unsigned round = round_of(q);
    if (pipe(ends) != 0) {
        run.error = errno;
        return run;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer(q, round, ends[1]);
    }
    int error = child < 0 ? errno : 0;
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    bool answered = child > 0 && read_answer(from, &run, waits);
    if (from != NULL)
        fclose(from);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!answered)
        run.error = error != 0 ? error : BENCH_DIED;
    return run;
}
