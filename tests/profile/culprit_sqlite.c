/* culprit_sqlite.c - a thread's query takes long, and SQLite locks the connection all the while: another thread waits
 *
 * The lock is inside SQLite. Who is to blame is the line that asked for the query.
 */
#include "asleep.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HOLD_MS = 10, ROUNDS = 4 };

static sqlite3 *db;
static pthread_barrier_t together;
static pid_t waiting;

static void check(int status)
{
    if (status != SQLITE_OK)
        exit(1);
}

/* nap(): called by SQLite, under its lock. Ends only after the other thread waits. */
static void nap_until_wanted(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    pthread_barrier_wait(&together);
    pid_t other;
    while ((other = __atomic_load_n(&waiting, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(other))
        nap(1);
    nap(HOLD_MS);
    waiting = 0;
    sqlite3_result_int(context, 1);
}

__attribute__((noinline)) void slow_report(void)
{
    check(sqlite3_exec(db, "SELECT nap()", NULL, NULL, NULL)); /* HOLDER */
}

__attribute__((noinline)) void quick_lookup(void)
{
    pthread_barrier_wait(&together);
    __atomic_store_n(&waiting, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    check(sqlite3_exec(db, "SELECT 1", NULL, NULL, NULL)); /* WAITER */
}

static void *look_up(void *argument)
{
    for (int i = 0; i < ROUNDS; i++)
        quick_lookup();
    return argument;
}

int main(void)
{
    pthread_t other;
    check(sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL));
    check(sqlite3_create_function(db, "nap", 0, SQLITE_UTF8, NULL, nap_until_wanted, NULL, NULL));
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&other, NULL, look_up, NULL);
    for (int i = 0; i < ROUNDS; i++)
        slow_report();
    pthread_join(other, NULL);
    check(sqlite3_close(db));
}
