/* cases.c - programs for debug mode to judge, with any lock */
#include "steps.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

NAMED void takes_again(void)
{
    take(A);
    END;
}

NAMED void unlocks_again(void)
{
    drop(A);
    END;
}

NAMED void *unlocks_elsewhere(void *unused)
{
    drop(A);
    END;
    return unused;
}

NAMED void destroys(void)
{
    end(A);
    END;
}

/* ---- errors */

static void self(void)
{
    takes_first();
    takes_again();
}

static void unlock(void)
{
    takes_first();
    unlocks_first();
    unlocks_again();
}

static void foreign(void)
{
    takes_first();
    in_thread(unlocks_elsewhere);
    take(A);
    drop(A);
}

static void inversion(void)
{
    takes_a_then_b();
    takes_b_then_a();
}

static void inversions(void)
{
    for (int i = 0; i < 3; i++)
        inversion();
}

static void three(void)
{
    takes_a_then_b();
    takes_b_then_c();
    takes_c_then_a();
}

static void destruction(void)
{
    takes_first();
    destroys();
}

/* ---- no errors */

static void correct(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, some_pairs, NULL) != 0)
            abort();
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    takes_a_then_b();
    takes_b_then_c();
    end(A);
}

/* An attempt that gives up does not wait for anybody. */
static void trylock(void)
{
    takes_a_then_b();
    take(B);
    if (kind->trylock(&memory[A], &context[A]))
        drop(A);
    drop(B);
    take(A);
    if (kind->trylock(&memory[A], &context[B]))
        abort();
    drop(A);
}

/* The memory is reused for another lock, with an order of its own. */
static void reuse(void)
{
    takes_a_then_b();
    end(A);
    end(B);
    memset(memory, 0, sizeof memory);
    takes_b_then_a();
}

static void *leaves_it_locked(void *unused)
{
    take(A);
    return unused;
}

static void thread_exit(void)
{
    if (kind->oblivious) {
        in_thread(leaves_it_locked);
        drop(A);
    }
    for (int i = 0; i < 10; i++)
        in_thread(some_pairs);
}

static int next_file(void)
{
    int file = dup(STDIN_FILENO);
    close(file);
    return file;
}

/* With standard error closed, the report cannot be written. */
static void keeps_errno(void)
{
    takes_a_then_b();
    close(STDERR_FILENO);
    int file = next_file();
    errno = 77;
    takes_b_then_a();
    end(A);
    if (errno != 77 || next_file() != file)
        _exit(1);
}

static void destroys_then_inverts(void)
{
    take(C);
    drop(C);
    end(C);
    inversion();
}

const debug_case any_cases[] = {
    {"self", self},
    {"unlock", unlock},
    {"foreign", foreign},
    {"inversion", inversion},
    {"inversions", inversions},
    {"three", three},
    {"destruction", destruction},
    {"correct", correct},
    {"trylock", trylock},
    {"reuse", reuse},
    {"exit", thread_exit},
    {"keeps_errno", keeps_errno},
    {"destroys_then_inverts", destroys_then_inverts},
    {0},
};

static const debug_case *find(const debug_case *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0)
        table++;
    return table->name != NULL ? table : NULL;
}

int run_case(const char *name, const char *lock)
{
    kind = lock_find(lock);
    static const debug_case *const tables[] = {any_cases, mutex_cases, process_cases};
    for (int i = 0; kind != NULL && i < 3; i++) {
        const debug_case *found = find(tables[i], name);
        if (found != NULL) {
            found->run();
            return 0;
        }
    }
    return 2;
}
