/* leveldb.c - `pawl bench leveldb`: a database with one mutex */
#include "places.h"

#include "cli/janitor.h"
#include "cli/parse.h"

#include <stdlib.h>

enum { ENTRIES = 0x400, MOST_ENTRIES = 100000000, FILL = 1 };

static const struct argp_option options[] = {
    {"entries", ENTRIES, "N", 0, "Entries of 116 bytes in the database (default 1000000)", 0},
    {0},
};

static bool take(study *s, int key, char *argument)
{
    if (key != ENTRIES)
        return false;
    s->base.entries = (unsigned)parse_number("--entries", argument, 1, MOST_ENTRIES);
    return true;
}

static void fill(const bench_request *base, const char *program)
{
    bench_request q = *base;
    bench_waits *none;
    q.variant = FILL;
    progress_show("filling the database");
    bench_run run = bench_ask(&q, &(bench_place){.program = program}, &none);
    progress_clear();
    if (run.error != 0)
        fail("leveldb: cannot make a database in %s", q.path);
}

static const char *temporary_folder(void)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    return janitor_folder("TMPDIR", parent, "pawl-bench-XXXXXX", false);
}

static void plan(study *s)
{
    const char *program = find_program(s->workload->name);
    if (program == NULL)
        fail("leveldb: there is no pawl-bench-leveldb; it is built where libleveldb is (libleveldb-dev)");
    if (s->base.entries == 0)
        s->base.entries = 1000000;
    if (snprintf(s->base.path, sizeof s->base.path, "%s/db", temporary_folder()) >= (int)sizeof s->base.path)
        fail("leveldb: TMPDIR is too long");
    fill(&s->base, program);
    plan_locks_and_threads(s);
    for (size_t i = 0; i < s->point_count; i++)
        s->points[i].place.program = program;
}

static void parameters(const bench_request *q, json_t *to)
{
    json_object_set_new(to, "entries", json_integer(q->entries));
}

static const workload leveldb = {
    .name = "leveldb",
    .doc = "Measure how often threads can read random keys of a LevelDB database, whose mutex Pawl's "
           "interposer replaces. "
           "The database is made in TMPDIR and removed in the end.\vLIST is comma-separated.",
    .takes = TAKES_LOCKS | TAKES_THREADS | TAKES_PIN,
    .unit = "reads/s",
    .higher_is_better = true,
    .options = options,
    .take = take,
    .subjects = preload_subjects,
    .refusal = preload_refusal,
    .plan = plan,
    .parameters = parameters,
    .done = janitor_done,
};

int leveldb_main(int argc, char **argv)
{
    return workload_main(&leveldb, argc, argv);
}
