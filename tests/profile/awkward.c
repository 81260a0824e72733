/* awkward.c - locks that are easily counted wrong: awkward HOW
 *
 *   late     a thread wants a mutex for 10 ms, four times, and never gets it; then one waits for a condition variable, is woken once,
 *            and comes back at its deadline twice
 *   reused   where a mutex was, there is a condition variable, and then a spin lock
 *   held     a mutex that nobody waits for is held for 30 ms, after many short holds
 *   sudden   after many uses by one call, a mutex is held by another call when somebody waits for it for the first time
 *   order    after so many uses by one call, a mutex is acquired by another, instruction by instruction: awkward order TIMES. Exit status 3: at
 *            one of them, the tables had the new owner with the old call; 4: not on this machine
 *   quiet    30 mutexes that nobody waits for, the last of them used most
 *   load     mutexes of libraries that are loaded later, one after the other: awkward load LIBRARY...
 *   later    uses a mutex; with SIGUSR1, one of a library that it loads, if it has one; with another, those of `quiet`, as another program: awkward
 *            later [LIBRARY]
 *   try      a thread asks five times for a mutex and a spin lock that are held, and does not wait
 *   refused  a mutex of many uses is asked for in vain, without waiting, and then used again
 *   crowd    a thread asks once for each of so many mutexes that are held, and does not wait: awkward crowd NUMBER
 *   orphan   a child wants a mutex that was held by a thread it does not have: for 10 ms, three times; five times without waiting; and
 *            for ever, until it is killed; with another argument, by somebody else. With `only`: nothing but for ever
 *   heir     a child's thread wants a mutex that the thread which forked had, for at least 60 ms; two signal handlers interrupt it
 *   sliced   a thread that may be cancelled at any instruction wants a mutex for at least 200 ms; then another, that is cancelled
 *   overdue  such a thread wants a mutex for 30 ms, in vain
 *   checked  the owner of an error-checking mutex asks for it, without waiting
 *   woken    a waiter for a condition variable is signalled by a thread that then keeps the mutex, until it has waited for that, too. Exit
 *            status 3: it does not
 *   c11      the same with C11's functions, and a wait for a mutex before
 *   buried   so many mutexes are used, and then one is held until somebody waits for it: awkward buried NUMBER
 *   stray    a child of _Fork() unlocks its copy of a spin lock, and exits; its parent holds the lock for 30 ms more, and is killed
 *   kinds    a recursive mutex is locked and relocked 200 times; a mutex is tried, and a spin lock and an adaptive mutex are locked, as often; an
 *            error-checking mutex is locked and tried as often, and refuses what it should. Exit status 3: one of them did not do what it should
 */
#include "awkward.h"

#include <stdlib.h>
#include <string.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pid_t waiter;

struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

void await_waiter(void)
{
    pid_t thread;
    while ((thread = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(thread))
        nap(1);
}

void join_one(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

void use(pthread_mutex_t *m, int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

void try_in_vain(void)
{
    for (int i = 0; i < TRIES; i++)
        if (pthread_mutex_trylock(&mutex) == 0)
            exit(3);
}

/* ---- what the tables have */

static const stats_table *tables(void)
{
    char line[1000];
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    const stats_table *t = NULL;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, STATS_MAPPING) != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
            to - from >= sizeof *t)
            t = (const stats_table *)from;
    if (maps != NULL)
        fclose(maps);
    if (t == NULL)
        exit(2);
    return t;
}

const stats_row *row_of(const void *lock)
{
    const stats_table *t = tables();
    for (uint32_t i = 1; i <= t->locks_used; i++)
        if (t->locks[i].lock == (uintptr_t)lock)
            return &t->locks[i];
    exit(2);
}

uint32_t waiting_for(const void *lock)
{
    return tables()->details[row_of(lock)->detail].waiting;
}

void await_wait_for(const void *lock)
{
    enum { MOST = 120000 }; /* two minutes: a hang */
    for (int i = 0; waiting_for(lock) == 0; i++) {
        if (i == MOST)
            exit(3);
        nap(1);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "";
    int number = argc > 2 ? atoi(more) : 1;
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"late", be_late},         {"reused", reuse},          {"held", hold},
        {"sudden", hold_suddenly}, {"try", try_for_nothing},   {"refused", be_refused_once},
        {"heir", inherit},         {"sliced", wait_in_slices}, {"overdue", wait_in_slices_in_vain},
        {"checked", try_checked},  {"woken", wake_and_keep},   {"c11", wake_c11},
        {"stray", leave_a_stray},  {"kinds", use_kinds},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(how, cases[i].name) == 0)
            cases[i].run();
    if (strcmp(how, "order") == 0)
        acquire_step_by_step(number);
    if (strcmp(how, "quiet") == 0)
        use_quiet(argc > 2);
    if (strcmp(how, "load") == 0)
        load_all(&argv[2]);
    if (strcmp(how, "later") == 0)
        load_later(argv);
    if (strcmp(how, "crowd") == 0)
        try_many(number);
    if (strcmp(how, "orphan") == 0)
        leave_an_orphan(argc > 2 && strcmp(more, "only") != 0, strcmp(more, "only") == 0);
    if (strcmp(how, "buried") == 0)
        bury(number);
    return 0;
}
