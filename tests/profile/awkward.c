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
 *   kinds    a recursive mutex is locked and relocked 200 times, a mutex is tried and a spin lock locked as often. Exit status 3: an
 *            unlock did not do what it should
 */
#include "asleep.h"

#include "preload/stats/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pid_t waiter;

static struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void await_waiter(void)
{
    pid_t thread;
    while ((thread = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) == 0 || !is_asleep(thread))
        nap(1);
}

static void join_one(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

/* ---- late */

static void *want_in_vain(void *argument)
{
    for (int i = 0; i < 4; i++) {
        struct timespec soon = in_ms(10);
        if (pthread_mutex_timedlock(&mutex, &soon) == 0) /* IN_VAIN */
            exit(3);
    }
    return argument;
}

static void *signal_once(void *argument)
{
    await_waiter();
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed); /* SIGNAL */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void be_late(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex); /* HOLDER */
    join_one(want_in_vain);
    pthread_mutex_unlock(&mutex);
    pthread_create(&other, NULL, signal_once, NULL);
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&changed, &mutex); /* WOKEN */
    for (int i = 0; i < 2; i++) {
        struct timespec soon = in_ms(10);
        pthread_cond_timedwait(&changed, &mutex, &soon); /* LATE */
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

/* ---- reused */

static union {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_spinlock_t spin;
} place;

static void *sleep_there(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&place.cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void reuse(void)
{
    pthread_t other;
    pthread_mutex_init(&place.mutex, NULL);
    pthread_mutex_lock(&place.mutex);
    pthread_mutex_unlock(&place.mutex);
    pthread_mutex_destroy(&place.mutex);
    pthread_cond_init(&place.cond, NULL);
    pthread_create(&other, NULL, sleep_there, NULL);
    await_waiter();
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&place.cond);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
    pthread_cond_destroy(&place.cond);
    pthread_spin_init(&place.spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 3; i++) {
        pthread_spin_lock(&place.spin);
        pthread_spin_unlock(&place.spin);
    }
}

/* ---- many */

static void use(pthread_mutex_t *m, int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

/* One in 16 is timed after the first 32: of 400 long ones, some are. */
static void hold(void)
{
    use(&mutex, 100);
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&mutex);
        usleep(100);
        pthread_mutex_unlock(&mutex);
    }
}

static void *want_it(void *argument)
{
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&mutex); /* FIRST_WAIT */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void hold_suddenly(void)
{
    pthread_t other;
    use(&mutex, 100);
    pthread_mutex_lock(&mutex); /* SUDDEN */
    pthread_create(&other, NULL, want_it, NULL);
    await_waiter();
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
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

static const stats_row *row_of(const void *lock)
{
    const stats_table *t = tables();
    for (uint32_t i = 1; i <= t->locks_used; i++)
        if (t->locks[i].lock == (uintptr_t)lock)
            return &t->locks[i];
    exit(2);
}

static uint32_t waiting_for(const void *lock)
{
    return tables()->details[row_of(lock)->detail].waiting;
}

/* ---- order */

#ifdef __x86_64__

static const stats_row *row;
static struct {
    uintptr_t site;
    uint32_t stack;
} before;
static volatile sig_atomic_t wrong;

static void look(int signal)
{
    (void)signal;
    if (row->owner != 0 && (row->site == before.site || (before.stack != 0 && row->stack == before.stack)))
        wrong = 1;
}

__attribute__((noinline)) static void old_call(void)
{
    pthread_mutex_lock(&mutex);
    __asm__ volatile("# old"); /* not the same code */
}

__attribute__((noinline)) static void new_call(void)
{
    pthread_mutex_lock(&mutex);
    __asm__ volatile("# new");
}

static void acquire_step_by_step(int times)
{
    enum { TRAP_FLAG = 0x100 };
    for (int i = 0; i < times; i++) {
        old_call();
        row = i == times - 1 ? row_of(&mutex) : NULL;
        before.site = row != NULL ? row->site : 0;
        before.stack = row != NULL ? row->stack : 0;
        pthread_mutex_unlock(&mutex);
    }
    signal(SIGTRAP, look);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    new_call();
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP_FLAG);
    if (wrong || row->owner == 0 || row->site == before.site)
        exit(3);
}

#else

static void acquire_step_by_step(int times)
{
    exit(times > 0 ? 4 : 2);
}

#endif

/* ---- try, orphan */

enum { TRIES = 5 };

static void try_in_vain(void)
{
    for (int i = 0; i < TRIES; i++)
        if (pthread_mutex_trylock(&mutex) == 0)
            exit(3);
}

static void *try_mutex(void *argument)
{
    try_in_vain();
    return argument;
}

static pthread_spinlock_t spin;

static void *try_both(void *argument)
{
    try_in_vain();
    for (int i = 0; i < TRIES; i++)
        if (pthread_spin_trylock(&spin) == 0)
            exit(3);
    return argument;
}

static void try_for_nothing(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_lock(&mutex);
    pthread_spin_lock(&spin);
    join_one(try_both);
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&mutex);
}

static void be_refused_once(void)
{
    use(&mutex, 100);
    pthread_mutex_lock(&mutex);
    join_one(try_mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex); /* AFTERWARDS */
        pthread_mutex_unlock(&mutex);
    }
}

static pthread_mutex_t *crowd;
static int crowd_size;

static void *try_each(void *argument)
{
    for (int i = 0; i < crowd_size; i++)
        if (pthread_mutex_trylock(&crowd[i]) == 0) /* EACH */
            exit(3);
    return argument;
}

static void try_many(int size)
{
    crowd_size = size;
    crowd = calloc((size_t)size, sizeof *crowd);
    for (int i = 0; i < size; i++)
        pthread_mutex_lock(&crowd[i]);
    join_one(try_each);
}

static bool held;

static void *hold_for_ever(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&held, true, __ATOMIC_RELEASE);
    for (;;)
        pause();
    return argument;
}

static void leave_an_orphan(bool stays, bool only)
{
    pthread_t other;
    pthread_create(&other, NULL, hold_for_ever, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        nap(1);
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        exit(4);
    pid_t child = fork();
    if (child == 0) {
        if (!only)
            try_in_vain();
        for (int i = 0; i < 3 && !only; i++) {
            struct timespec soon = in_ms(10);
            if (pthread_mutex_timedlock(&mutex, &soon) != ETIMEDOUT) /* ORPHAN */
                exit(3);
        }
        if (write(ends[1], &byte, 1) != 1)
            exit(4);
        pthread_mutex_lock(&mutex); /* FOR_EVER */
        exit(3);
    }
    if (read(ends[0], &byte, 1) != 1)
        exit(4);
    while (!is_asleep(child))
        nap(1);
    if (!stays)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- heir, sliced, checked */

static void do_nothing(int signal)
{
    (void)signal;
}

static void inherit(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex);
    pid_t child = fork();
    if (child > 0) {
        int status = 1;
        waitpid(child, &status, 0);
        exit(status != 0 ? 3 : 0);
    }
    signal(SIGUSR1, do_nothing);
    pthread_create(&other, NULL, want_it, NULL);
    for (int i = 0; i < 2; i++) {
        await_waiter();
        nap(30);
        pthread_kill(other, SIGUSR1);
    }
    await_waiter();
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void *want_it_cancelable(void *argument)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return want_it(argument);
}

static void wait_in_slices(void)
{
    pthread_t other;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        waiter = 0;
        pthread_mutex_lock(&mutex);
        pthread_create(&other, NULL, want_it_cancelable, NULL);
        await_waiter();
        nap(cancelled ? 1 : 200);
        if (cancelled)
            pthread_cancel(other);
        else
            pthread_mutex_unlock(&mutex);
        pthread_join(other, NULL);
    }
    pthread_mutex_unlock(&mutex);
}

static void *want_it_briefly(void *argument)
{
    struct timespec soon;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += (soon.tv_nsec += 30000000) / 1000000000;
    soon.tv_nsec %= 1000000000;
    pthread_mutex_timedlock(&mutex, &soon);
    return argument;
}

static void wait_in_slices_in_vain(void)
{
    pthread_t other;
    pthread_mutex_lock(&mutex);
    pthread_create(&other, NULL, want_it_briefly, NULL);
    pthread_join(other, NULL);
    pthread_mutex_unlock(&mutex);
}

static void try_checked(void)
{
    pthread_mutexattr_t checks;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &checks);
    pthread_mutex_lock(&mutex);
    try_in_vain();
    pthread_mutex_unlock(&mutex);
}

/* ---- load, later */

static void load(const char *path, bool stays)
{
    void *library = dlopen(path, RTLD_NOW);
    void (*function)(void);
    *(void **)&function = library != NULL ? dlsym(library, "plugged_in") : NULL;
    if (function == NULL)
        exit(3);
    function();
    if (!stays)
        dlclose(library);
}

/* ---- woken, c11 */

static void await_wait_for(const void *lock)
{
    enum { MOST = 120000 }; /* two minutes: a hang */
    for (int i = 0; waiting_for(lock) == 0; i++) {
        if (i == MOST)
            exit(3);
        nap(1);
    }
}

static void *wait_for_signal(void *argument)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_cond_wait(&changed, &mutex); /* WAITER */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void wake_and_keep(void)
{
    pthread_t other;
    pthread_create(&other, NULL, wait_for_signal, NULL);
    await_waiter();
    pthread_mutex_lock(&mutex);    /* KEEPER */
    pthread_cond_signal(&changed); /* WAKER */
    await_wait_for(&mutex);
    if (waiting_for(&changed) != 0)
        exit(3);
    nap(10);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static mtx_t c11_mutex;
static cnd_t c11_changed;

static void *use_c11(void *argument)
{
    mtx_lock(&c11_mutex); /* C11_LOCK */
    __atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    cnd_wait(&c11_changed, &c11_mutex); /* C11_WAIT */
    mtx_unlock(&c11_mutex);
    return argument;
}

static void wake_c11(void)
{
    pthread_t other;
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_changed);
    mtx_lock(&c11_mutex); /* C11_FIRST */
    pthread_create(&other, NULL, use_c11, NULL);
    await_wait_for(&c11_mutex);
    mtx_unlock(&c11_mutex);
    await_waiter();
    while (mtx_trylock(&c11_mutex) != thrd_success) /* C11_TRY */
        nap(1);
    cnd_broadcast(&c11_changed); /* C11_SIGNAL */
    await_wait_for(&c11_mutex);
    mtx_unlock(&c11_mutex);
    pthread_join(other, NULL);
}

/* ---- buried */

static void *want_buried(void *argument)
{
    pthread_mutex_lock(&mutex); /* BURIED_WAITER */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void bury(int number)
{
    pthread_t other;
    pthread_mutex_t *others = calloc((size_t)number, sizeof *others);
    for (int i = 0; i < number; i++)
        use(&others[i], 1);
    pthread_mutex_lock(&mutex); /* BURIED_HOLDER */
    pthread_create(&other, NULL, want_buried, NULL);
    await_wait_for(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

/* ---- stray, kinds */

extern pid_t _Fork(void) __attribute__((weak));

static void leave_a_stray(void)
{
    if (_Fork == NULL)
        exit(4);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    use(&mutex, 1);
    pthread_spin_lock(&spin);
    pid_t child = _Fork();
    if (child == 0) {
        pthread_spin_unlock(&spin);
        exit(0);
    }
    waitpid(child, NULL, 0);
    nap(30);
    pthread_spin_unlock(&spin);
    kill(getpid(), SIGKILL);
}

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void relock(void)
{
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    if (pthread_mutex_unlock(&recursive) != 0 || pthread_mutex_unlock(&recursive) != 0 ||
        pthread_mutex_unlock(&recursive) != EPERM)
        exit(3);
}

static void try(void)
{
    if (pthread_mutex_trylock(&mutex) != 0)
        exit(3);
    pthread_mutex_unlock(&mutex);
}

static void spin_once(void)
{
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
}

static void use_kinds(void)
{
    static void (*const uses[])(void) = {relock, try, spin_once};
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 300; i++) /* in turn */
        uses[i % 3]();
    for (int i = 0; i < 300; i++) /* each is the one that was used last */
        uses[i / 100]();
}

static void load_later(char **argv)
{
    int signal;
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    use(&mutex, 1);
    sigwait(&usr1, &signal);
    if (argv[2] != NULL) {
        load(argv[2], true);
        sigwait(&usr1, &signal);
    }
    execl("/proc/self/exe", argv[0], "quiet", "stay", NULL);
    exit(4);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "late") == 0)
        be_late();
    if (strcmp(how, "reused") == 0)
        reuse();
    if (strcmp(how, "held") == 0)
        hold();
    if (strcmp(how, "sudden") == 0)
        hold_suddenly();
    if (strcmp(how, "order") == 0)
        acquire_step_by_step(argc > 2 ? atoi(argv[2]) : 1);
    for (int i = 1; i <= 30 && strcmp(how, "quiet") == 0; i++) {
        static pthread_mutex_t quiet[31];
        use(&quiet[i], i);
    }
    while (strcmp(how, "quiet") == 0 && argc > 2)
        pause();
    if (strcmp(how, "later") == 0)
        load_later(argv);
    if (strcmp(how, "try") == 0)
        try_for_nothing();
    if (strcmp(how, "refused") == 0)
        be_refused_once();
    if (strcmp(how, "crowd") == 0)
        try_many(argc > 2 ? atoi(argv[2]) : 1);
    if (strcmp(how, "orphan") == 0)
        leave_an_orphan(argc > 2 && strcmp(argv[2], "only") != 0, argc > 2 && strcmp(argv[2], "only") == 0);
    if (strcmp(how, "heir") == 0)
        inherit();
    if (strcmp(how, "sliced") == 0)
        wait_in_slices();
    if (strcmp(how, "overdue") == 0)
        wait_in_slices_in_vain();
    if (strcmp(how, "checked") == 0)
        try_checked();
    if (strcmp(how, "woken") == 0)
        wake_and_keep();
    if (strcmp(how, "c11") == 0)
        wake_c11();
    if (strcmp(how, "buried") == 0)
        bury(argc > 2 ? atoi(argv[2]) : 1);
    if (strcmp(how, "stray") == 0)
        leave_a_stray();
    if (strcmp(how, "kinds") == 0)
        use_kinds();
    if (strcmp(how, "load") == 0)
        use(&mutex, 1);
    for (int i = 2; i < argc && strcmp(how, "load") == 0; i++)
        load(argv[i], false);
    return 0;
}
