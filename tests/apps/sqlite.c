/* sqlite.c - SQLite by many threads: sqlite MODE FOLDER THREADS TRANSACTIONS
 *
 * private     each thread has a database in memory; what they share is SQLite's allocator and page cache
 * shared      all threads use one connection, which SQLite serialises with a recursive mutex
 * file        each thread has a connection to one file
 */
#include "timing.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, MAX_THREADS = 64 }; /* rows per transaction */

typedef struct job {
    pthread_t thread;
    sqlite3 *own, *used;
    int number, transactions;
    int64_t sum;
} job;

static void check(int status, sqlite3 *db, const char *what)
{
    if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
        return;
    fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run(sqlite3 *db, const char *sql)
{
    check(sqlite3_exec(db, sql, NULL, NULL, NULL), db, sql);
}

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db;
    check(sqlite3_open(path, &db), NULL, path);
    sqlite3_busy_timeout(db, 600000);
    run(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
            "CREATE TABLE IF NOT EXISTS t (thread INTEGER, n INTEGER, text TEXT);"
            "CREATE INDEX IF NOT EXISTS i ON t (thread, n);");
    return db;
}

static void insert(job *j, int n)
{
    sqlite3_stmt *s;
    check(sqlite3_prepare_v2(j->used, "INSERT INTO t VALUES (?, ?, ?)", -1, &s, NULL), j->used, "prepare");
    for (int i = 0; i < ROWS; i++) {
        sqlite3_bind_int(s, 1, j->number);
        sqlite3_bind_int(s, 2, n * ROWS + i);
        sqlite3_bind_text(s, 3, "some text of a row", -1, SQLITE_STATIC);
        check(sqlite3_step(s), j->used, "insert");
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
}

static int64_t sum_of(sqlite3 *db, int thread, int from)
{
    sqlite3_stmt *s;
    check(sqlite3_prepare_v2(db, "SELECT n, text FROM t WHERE thread = ? AND n >= ?", -1, &s, NULL), db,
          "prepare");
    sqlite3_bind_int(s, 1, thread);
    sqlite3_bind_int(s, 2, from);
    int64_t sum = 0;
    int status;
    while ((status = sqlite3_step(s)) == SQLITE_ROW)
        sum += sqlite3_column_int(s, 0) + (int64_t)strlen((const char *)sqlite3_column_text(s, 1));
    check(status, db, "select");
    sqlite3_finalize(s);
    return sum;
}

static void *work(void *argument)
{
    job *j = argument;
    bool alone = j->own != NULL; /* a transaction belongs to the connection, not to the thread */
    for (int n = 0; n < j->transactions; n++) {
        if (alone)
            run(j->used, "BEGIN IMMEDIATE");
        insert(j, n);
        if (alone)
            run(j->used, "COMMIT");
        j->sum += sum_of(j->used, j->number, n * ROWS);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static job jobs[MAX_THREADS];
    int threads = argc == 5 ? atoi(argv[3]) : 0;
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: sqlite private|shared|file FOLDER THREADS TRANSACTIONS\n");
        return 2;
    }
    bool is_private = strcmp(argv[1], "private") == 0, is_shared = strcmp(argv[1], "shared") == 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/test.db", argv[2]);
    sqlite3 *shared = is_private ? NULL : open_database(path);
    for (int i = 0; i < threads; i++) {
        jobs[i] = (job){.number = i, .transactions = atoi(argv[4])};
        jobs[i].own = is_shared ? NULL : open_database(is_private ? ":memory:" : path);
        jobs[i].used = is_shared ? shared : jobs[i].own;
    }
    double began = timing_now();
    for (int i = 0; i < threads; i++)
        pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(jobs[i].thread, NULL);
    timing_report(began, (uint64_t)threads * (uint64_t)jobs[0].transactions * ROWS);
    for (int i = 0; i < threads; i++) {
        printf("thread %d: %jd, then %jd\n", i, (intmax_t)jobs[i].sum, (intmax_t)sum_of(jobs[i].used, i, 0));
        if (jobs[i].own != NULL)
            sqlite3_close(jobs[i].own);
    }
    if (shared != NULL)
        sqlite3_close(shared);
    return 0;
}
