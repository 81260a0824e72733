/* leveldb.c - a program whose threads read random keys of a LevelDB database, as its db_bench's readrandom
 * does
 *
 * LevelDB takes one mutex of the whole database twice for every read. From all papers but one: the Hapax
 * paper's figure 2, the Reciprocating paper's 3, and Hemlock's 8.
 */
#include "interposed.h"
#include "loops.h"
#include "workload.h"

#include <errno.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY = 16, VALUE = 100, BATCH = 1000 }; /* db_bench's sizes */
enum { FILL = 1 };                            /* the variant that makes the database */

typedef struct database {
    leveldb_t *db;
    leveldb_readoptions_t *options;
    uint64_t entries;
} database;

static void key_of(uint64_t number, char *key)
{
    snprintf(key, KEY + 1, "%016llu", (unsigned long long)number);
}

/* Half of it compresses away, as db_bench's values do. */
static void make_value(generator *g, char *value)
{
    for (int i = 0; i < VALUE; i++)
        value[i] = i < VALUE / 2 ? (char)(' ' + generator_next(g) % 95) : value[i - VALUE / 2];
}

static bool fill(database *d)
{
    char key[KEY + 1], value[VALUE], *error = NULL;
    generator g = generator_from(1);
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    for (uint64_t i = 0; i < d->entries && error == NULL; i++) {
        key_of(i, key);
        make_value(&g, value);
        leveldb_writebatch_put(batch, key, KEY, value, VALUE);
        if ((i + 1) % BATCH != 0 && i + 1 < d->entries)
            continue;
        leveldb_write(d->db, options, batch, &error);
        leveldb_writebatch_clear(batch);
    }
    leveldb_writebatch_destroy(batch);
    leveldb_writeoptions_destroy(options);
    return error == NULL;
}

static void read_random(bench_worker *w)
{
    bench_shared *s = w->shared;
    database *d = s->extra;
    generator random = w->own;
    char key[KEY + 1];
    uint64_t count = 0;
    while (bench_phase_now(s) != BENCH_STOP) {
        size_t length;
        char *error = NULL;
        key_of((generator_next(&random) >> 32) * d->entries >> 32, key);
        char *value = leveldb_get(d->db, d->options, key, KEY, &length, &error);
        if (value == NULL)
            w->worst_wait = 1; /* every key is there: the run means nothing */
        free(value);
        bench_counted(w, ++count);
    }
}

static bench_duty read_of(const bench_request *q, unsigned index)
{
    (void)q, (void)index;
    return read_random;
}

static void run_reads(database *d, const bench_request *q, bench_run *run)
{
    bench_team *t = bench_team_new(q);
    if (t == NULL) {
        run->error = ENOMEM;
        return;
    }
    t->shared->extra = d;
    run->error = bench_team_run(t, q, read_of, run);
    for (unsigned i = 0; i < q->threads && run->error == 0; i++)
        if (t->workers[i].worst_wait != 0)
            run->error = BENCH_NO_DATABASE;
    run->starvation_ns = run->worst_wait_ns = -1; /* nothing was timed */
}

static void run_leveldb(const bench_request *q, bench_run *run, bench_waits **waits)
{
    (void)waits;
    char *error = NULL;
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, q->variant == FILL);
    leveldb_options_set_compression(options, leveldb_snappy_compression);
    database d = {.db = leveldb_open(options, q->path, &error),
                  .options = leveldb_readoptions_create(),
                  .entries = q->entries};
    if (d.db == NULL) {
        run->error = BENCH_NO_DATABASE;
        return;
    }
    if (q->variant == FILL)
        run->error = fill(&d) ? 0 : BENCH_NO_DATABASE;
    else if (bench_interposed(q))
        run_reads(&d, q, run);
    else
        run->error = BENCH_NOT_INTERPOSED;
    leveldb_close(d.db);
}

int main(void)
{
    return bench_answer(run_leveldb, NULL);
}
