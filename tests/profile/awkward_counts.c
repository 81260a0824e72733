/* awkward_counts.c - cases of awkward.c: acquisitions and holds that are easily counted wrong */
#include "awkward.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_spinlock_t spin;

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

void reuse(void)
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

/* ---- held */

/* One in 16 is timed after the first 32: of 400 long ones, some are. */
void hold(void)
{
    use(&mutex, 100);
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&mutex);
        usleep(100);
        pthread_mutex_unlock(&mutex);
    }
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

void acquire_step_by_step(int times)
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

void acquire_step_by_step(int times)
{
    exit(times > 0 ? 4 : 2);
}

#endif

/* ---- try, refused, crowd */

static void *try_mutex(void *argument)
{
    try_in_vain();
    return argument;
}

static void *try_both(void *argument)
{
    try_in_vain();
    for (int i = 0; i < TRIES; i++)
        if (pthread_spin_trylock(&spin) == 0)
            exit(3);
    return argument;
}

void try_for_nothing(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_lock(&mutex);
    pthread_spin_lock(&spin);
    join_one(try_both);
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&mutex);
}

void be_refused_once(void)
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

void try_many(int size)
{
    crowd_size = size;
    crowd = calloc((size_t)size, sizeof *crowd);
    for (int i = 0; i < size; i++)
        pthread_mutex_lock(&crowd[i]);
    join_one(try_each);
}

/* ---- checked */

void try_checked(void)
{
    pthread_mutexattr_t checks;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &checks);
    pthread_mutex_lock(&mutex);
    try_in_vain();
    pthread_mutex_unlock(&mutex);
}

/* ---- quiet, load, later */

void use_quiet(bool stays)
{
    static pthread_mutex_t quiet[31];
    for (int i = 1; i <= 30; i++)
        use(&quiet[i], i);
    while (stays)
        pause();
}

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

void load_all(char **paths)
{
    use(&mutex, 1);
    for (; *paths != NULL; paths++)
        load(*paths, false);
}

void load_later(char **argv)
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

/* ---- stray, kinds */

extern pid_t _Fork(void) __attribute__((weak));

void leave_a_stray(void)
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

static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

static void *meddle(void *argument)
{
    if (pthread_mutex_unlock(&checked) != EPERM)
        exit(3);
    return argument;
}

static void check_each(void)
{
    if (pthread_mutex_unlock(&checked) != EPERM || pthread_mutex_lock(&checked) != 0 ||
        pthread_mutex_lock(&checked) != EDEADLK)
        exit(3);
    join_one(meddle);
    if (pthread_mutex_unlock(&checked) != 0 || pthread_mutex_trylock(&checked) != 0 ||
        pthread_mutex_trylock(&checked) != EBUSY || pthread_mutex_unlock(&checked) != 0)
        exit(3);
}

static void adapt(void)
{
    use(&adaptive, 1);
}

static void try(void)
{
    if (pthread_mutex_trylock(&mutex) != 0)
        exit(3);
    pthread_mutex_unlock(&mutex);
}

static void spin_once(void)
{
    if (pthread_spin_lock(&spin) != 0 || pthread_spin_unlock(&spin) != 0)
        exit(3);
}

void use_kinds(void)
{
    enum { KINDS = 5, ROUNDS = 100 };
    static void (*const uses[KINDS])(void) = {relock, try, spin_once, check_each, adapt};
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < KINDS * ROUNDS; i++) /* in turn */
        uses[i % KINDS]();
    for (int i = 0; i < KINDS * ROUNDS; i++) /* each is the one that was used last */
        uses[i / ROUNDS]();
}
