/* debug.c - the debug mode: who holds what, and the five things that must not happen
 *
 * PAWL_DEBUG in the environment:
 *
 *   0          off, also for code compiled with -DPAWL_DEBUG
 *   1, abort   on: a report, then abort(); code compiled with -DPAWL_DEBUG does so by default
 *   continue   on: a report, and the program goes on
 *
 * One lock guards it all: with debug mode on, no two threads lock anything at the same time. Valgrind is told of
 * locks even when it is off.
 */
#include "debug.h"
#include "debug_report.h"
#include "debug_shared.h"
#include "park/futex.h"
#include "valgrind.h"

#include <pawl/detail/thread.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

typedef enum debug_mode { UNKNOWN, OFF, DEFAULT, ABORT, CONTINUE } debug_mode;

bool pawl_debug_on;
static _Atomic(int) mode; /* a debug_mode */
static _Atomic(uint32_t) guard;
static __thread debug_thread *self __attribute__((tls_model("initial-exec")));
/* This thread is in here. If an allocator or a signal handler locks meanwhile, it does so unseen. */
static __thread bool busy __attribute__((tls_model("initial-exec")));
static __thread int saved_errno __attribute__((tls_model("initial-exec")));

/* ---- on and off */

static debug_mode mode_from_environment(void)
{
    static const struct {
        const char *name;
        debug_mode mode;
    } names[] = {{"0", OFF}, {"1", ABORT}, {"abort", ABORT}, {"continue", CONTINUE}};
    const char *wanted = getenv("PAWL_DEBUG");
    for (size_t i = 0; wanted != NULL && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(wanted, names[i].name) == 0)
            return names[i].mode;
    return DEFAULT;
}

static debug_mode get_mode(void)
{
    int known = atomic_load_explicit(&mode, memory_order_relaxed);
    if (PAWL_UNLIKELY(known == UNKNOWN)) {
        known = (int)mode_from_environment();
        atomic_store_explicit(&mode, known, memory_order_relaxed);
    }
    return (debug_mode)known;
}

enum { FREE, HELD, SLEPT_ON };

static void lock_guard(void)
{
    uint32_t free = FREE;
    if (atomic_compare_exchange_strong_explicit(&guard, &free, HELD, memory_order_acquire,
                                                memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&guard, SLEPT_ON, memory_order_acquire) != FREE)
        pawl_futex_wait(&guard, SLEPT_ON, 0, NULL);
}

static void unlock_guard(void)
{
    if (atomic_exchange_explicit(&guard, FREE, memory_order_release) == SLEPT_ON)
        pawl_futex_wake(&guard);
}

static pid_t thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Fork handlers that were registered earlier run while we hold the guard, before and after the fork, and may lock:
 * they do so unseen. A thread that forks in here (a handler of SIGABRT, after a report) has the guard already. */
static __thread bool forks_inside __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
    forks_inside = busy;
    if (forks_inside)
        return;
    busy = true;
    lock_guard();
}

static void after_fork(void)
{
    if (forks_inside)
        return;
    unlock_guard();
    busy = false;
}

static void after_fork_in_child(void)
{
    if (self != NULL)
        self->id = thread_id();
    after_fork();
}

/* Writing reports and reading /proc are cancellation points, and a lock must not be one. */
static __thread int saved_cancel_state __attribute__((tls_model("initial-exec")));

static void leave(void)
{
    unlock_guard();
    valgrind_loud();
    errno = saved_errno;
    busy = false;
    pthread_setcancelstate(saved_cancel_state, NULL);
}

/* Before the first lock is taken, because these may load code and allocate memory. */
static void prepare(void)
{
    static _Atomic(bool) prepared;
    if (atomic_exchange_explicit(&prepared, true, memory_order_relaxed))
        return;
    pawl_debug_stack_prepare();
    pawl_debug_shared_prepare();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Null if there is nothing to be done; else leave() must follow. */
static debug_thread *enter(void)
{
    if (get_mode() == OFF || busy)
        return NULL;
    busy = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_cancel_state);
    saved_errno = errno;
    valgrind_quiet();
    if (self == NULL) {
        prepare();
        pawl_thread_enter();
    }
    lock_guard();
    if (self == NULL)
        self = pawl_debug_thread_new(thread_id());
    if (self == NULL)
        leave();
    return self;
}

void pawl_debug_reported(void)
{
    if (get_mode() != CONTINUE)
        abort();
}

/* ---- what threads do */

/* Whether the lock says that nobody holds it: then code without hooks has released it. */
static bool denies(unsigned how)
{
    return (how & PAWL_HOW_TELLS) && !(how & PAWL_HOW_HELD);
}

static void check_order(debug_thread *me, debug_lock *wanted)
{
    for (debug_lock *held = me->held; held != NULL; held = held->next_held)
        if (held != wanted && pawl_debug_order(held, wanted, me->id, me->stack) &&
            pawl_debug_comes_before(wanted, held))
            pawl_debug_report_inversion(me, held, wanted);
}

static void want(debug_thread *me, const void *address, const char *kind, unsigned how)
{
    debug_lock *l = pawl_debug_lock_find(address);
    if (l != NULL && l->owner == me && denies(how))
        pawl_debug_lock_disown(l);
    if (l != NULL && l->owner == me)
        pawl_debug_report_self_deadlock(me, l);
    else if (me->held != NULL && (l = pawl_debug_lock_get(address, kind)) != NULL)
        check_order(me, l);
}

void pawl_debug_locking(const void *l, const char *kind, unsigned how)
{
    valgrind_quiet();
    debug_thread *me = enter();
    if (me == NULL)
        return;
    me->wanted = l;
    me->stack = pawl_debug_stack_here(CALLER);
    if (!(how & PAWL_HOW_TRY))
        want(me, l, kind, how);
    leave();
}

static void take(debug_thread *me, const void *address, const char *kind, const void *caller)
{
    debug_lock *l = pawl_debug_lock_get(address, kind);
    if (l == NULL)
        return;
    if (l->owner != NULL)
        pawl_debug_lock_disown(l);
    l->kind = kind;
    pawl_debug_lock_own(l, me, me->wanted == address ? me->stack : pawl_debug_stack_here(caller));
}

void pawl_debug_locked(const void *l, const char *kind, unsigned how)
{
    (void)how;
    debug_thread *me = enter();
    if (me != NULL) {
        take(me, l, kind, CALLER);
        int other = pawl_debug_other_process(l);
        if (other != 0)
            pawl_debug_report_shared(me, l, kind, other);
        leave();
    }
    valgrind_clean_stack();
    valgrind_loud();
    valgrind_tell(VALGRIND_LOCK_TAKEN, l, 1);
}

void pawl_debug_not_locked(const void *l)
{
    (void)l;
    valgrind_clean_stack();
    valgrind_loud();
}

/* The last releases by address, for the report of one too many. */
typedef struct debug_release {
    const void *address;
    const debug_stack *stack;
} debug_release;

static debug_release *last_release(const void *address)
{
    static debug_release releases[1024];
    return &releases[((uintptr_t)address >> 3) % (sizeof releases / sizeof *releases)];
}

static void release(debug_lock *l, const debug_stack *here)
{
    *last_release(l->address) = (debug_release){l->address, here};
    pawl_debug_lock_disown(l);
    pawl_debug_lock_forget_unused(l);
}

void pawl_debug_unlocking(const void *address, const char *kind, unsigned how)
{
    valgrind_tell(VALGRIND_LOCK_RELEASED, address, 1);
    valgrind_quiet();
    debug_thread *me = enter();
    if (me == NULL)
        return;
    debug_lock *l = pawl_debug_lock_find(address);
    const debug_stack *here = pawl_debug_stack_here(CALLER);
    if (l != NULL && l->owner != NULL && l->owner != me && !(how & PAWL_HOW_OBLIVIOUS))
        pawl_debug_report_wrong_thread(me, l, here);
    if (l != NULL && l->owner != NULL)
        release(l, here);
    else if (!(how & PAWL_HOW_HELD))
        pawl_debug_report_not_held(me, address, kind, here,
                                   last_release(address)->address == address ? last_release(address)->stack
                                                                             : NULL);
    leave();
}

void pawl_debug_unlocked(const void *l)
{
    (void)l;
    valgrind_loud();
}

void pawl_debug_destroyed(const void *address, const char *kind, unsigned how)
{
    valgrind_tell(VALGRIND_LOCK_DESTROYED, address, 0);
    debug_thread *me = enter();
    if (me == NULL)
        return;
    debug_lock *l = pawl_debug_lock_find(address);
    if ((how & PAWL_HOW_HELD) || (l != NULL && l->owner != NULL && !denies(how)))
        pawl_debug_report_destruction(me, address, kind, l, pawl_debug_stack_here(CALLER));
    if (l != NULL)
        pawl_debug_lock_forget(l);
    leave();
}

/* ---- condition variables, where the library unlocks and locks */

bool pawl_debug_wait_begin(const void *address)
{
    debug_thread *me = pawl_debug_on ? enter() : NULL;
    if (me == NULL)
        return false;
    debug_lock *l = pawl_debug_lock_find(address);
    bool held = l != NULL && l->owner == me;
    if (held)
        release(l, pawl_debug_stack_here(CALLER));
    leave();
    return held;
}

void pawl_debug_wait_end(const void *l, const char *kind)
{
    debug_thread *me = enter();
    if (me == NULL)
        return;
    me->wanted = NULL;
    take(me, l, kind, CALLER);
    leave();
}

/* ---- what is not a lock */

void pawl_debug_sent(const void *object)
{
    valgrind_tell(VALGRIND_SENT, object, 0);
}

void pawl_debug_received(const void *object)
{
    valgrind_tell(VALGRIND_RECEIVED, object, 0);
}

void pawl_debug_clean(const void *start, size_t size)
{
    valgrind_tell(VALGRIND_CLEAN, start, size);
}

void pawl_debug_quiet(void)
{
    valgrind_quiet();
}

void pawl_debug_loud(void)
{
    valgrind_loud();
}

/* ---- the end of a thread */

/* A thread may end with a lock that another will unlock. Then its record stays. */
void pawl_debug_thread_end(void)
{
    debug_thread *me = self != NULL ? enter() : NULL;
    if (me == NULL)
        return;
    if (me->held == NULL)
        pawl_debug_thread_free(me);
    self = NULL;
    leave();
}

__attribute__((constructor(101))) static void debug_from_environment(void)
{
    debug_mode now = get_mode();
    pawl_debug_on = now == ABORT || now == CONTINUE;
    if (pawl_debug_on)
        prepare();
}
