/* lmdb.c - LMDB with writers that are killed: lmdb FOLDER ROUNDS
 *
 * LMDB's writers hold a robust mutex in shared memory. Each round starts writers that move money between accounts.
 * One of them is killed with the mutex held and the money in no account; the others must get on, and no money may be
 * lost. Only the sum of the accounts is printed, because how far a writer came is up to the scheduler.
 *
 * The writer kills itself, because only then is it sure to hold the mutex. One that is killed while it waits or unlocks
 * can take another's wake-up with it: glibc's own robust mutexes then hang, once in a thousand rounds.
 */
#include <lmdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACCOUNTS = 100, MONEY = 1000, WRITERS = 3 };

static void check(int status, const char *what)
{
    if (status == MDB_SUCCESS)
        return;
    fprintf(stderr, "lmdb: %s: %s\n", what, mdb_strerror(status));
    exit(1);
}

static MDB_env *open_environment(const char *folder)
{
    MDB_env *env;
    check(mdb_env_create(&env), "create");
    check(mdb_env_set_mapsize(env, 16u << 20), "map size");
    check(mdb_env_open(env, folder, MDB_NOSYNC, 0644), "open");
    return env;
}

static int64_t get(MDB_txn *txn, MDB_dbi db, uint32_t account)
{
    MDB_val k = {sizeof account, &account}, v;
    check(mdb_get(txn, db, &k, &v), "get");
    int64_t money;
    memcpy(&money, v.mv_data, sizeof money);
    return money;
}

static void put(MDB_txn *txn, MDB_dbi db, uint32_t account, int64_t money)
{
    MDB_val k = {sizeof account, &account}, v = {sizeof money, &money};
    check(mdb_put(txn, db, &k, &v, 0), "put");
}

static void fill(const char *folder)
{
    MDB_env *env = open_environment(folder);
    MDB_txn *txn;
    MDB_dbi db;
    check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &db), "database");
    for (uint32_t a = 0; a < ACCOUNTS; a++)
        put(txn, db, a, MONEY);
    check(mdb_txn_commit(txn), "commit");
    mdb_env_close(env);
}

/* Returns when `transfers` are done, or does not: it dies in the last. */
static void transfer(const char *folder, unsigned seed, int transfers, bool dies)
{
    MDB_env *env = open_environment(folder);
    MDB_dbi db = 0;
    for (int i = 0; i < transfers; i++) {
        MDB_txn *txn;
        check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
        check(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &db), "database");
        uint32_t from = (uint32_t)rand_r(&seed) % ACCOUNTS, to = (uint32_t)rand_r(&seed) % ACCOUNTS;
        put(txn, db, from, get(txn, db, from) - 1);
        if (dies && i == transfers - 1)
            raise(SIGKILL);
        put(txn, db, to, get(txn, db, to) + 1);
        check(mdb_txn_commit(txn), "commit");
    }
    mdb_env_close(env);
}

static int64_t audit(const char *folder)
{
    MDB_env *env = open_environment(folder);
    MDB_txn *txn;
    MDB_dbi db;
    check(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &db), "database");
    int64_t sum = 0;
    for (uint32_t a = 0; a < ACCOUNTS; a++)
        sum += get(txn, db, a);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return sum;
}

static pid_t start_writer(const char *folder, unsigned seed, int transfers, bool dies)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    transfer(folder, seed, transfers, dies);
    _exit(0);
}

/* How they ended is added up. */
static int one_round(const char *folder, unsigned round)
{
    pid_t writers[WRITERS];
    int ended_well = 0;
    for (unsigned w = 0; w < WRITERS; w++)
        writers[w] = start_writer(folder, round * WRITERS + w + 1,
                                  w == 0 ? (int)(round * 7919 % 90) + 1 : 100, w == 0);
    for (int w = 0; w < WRITERS; w++) {
        int status;
        waitpid(writers[w], &status, 0);
        ended_well += w > 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                            : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    transfer(folder, round, 10, false); /* the mutex of whoever was killed is in order again */
    return ended_well;
}

int main(int argc, char **argv)
{
    int rounds = argc == 3 ? atoi(argv[2]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: lmdb FOLDER ROUNDS\n");
        return 2;
    }
    fill(argv[1]);
    int ended_well = 0;
    for (int r = 0; r < rounds; r++)
        ended_well += one_round(argv[1], (unsigned)r);
    printf("%d rounds, %d of %d writers ended as they should, %jd of %d in all accounts\n", rounds,
           ended_well, rounds * WRITERS, (intmax_t)audit(argv[1]), ACCOUNTS * MONEY);
    return 0;
}
