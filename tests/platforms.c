/* platforms.c - sleeping in the kernels of FreeBSD and macOS, whose calls are played by this one's futex()
 *
 * The files are compiled as they are. Whether the kernels do what their manuals say is not seen here.
 */
#include "team.h"

#include "../src/park/events.h"
#include "../src/park/futex.h"
#include "../src/park/kernel.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define pawl_futex_wait_bits freebsd_wait
#define pawl_futex_wake_bits freebsd_wake_all
#define pawl_futex_wake      freebsd_wake
#define wake                 freebsd_wake_some
#define __FreeBSD__          14
#include "../src/park/futex_freebsd.c"
#undef __FreeBSD__
#undef wake
#undef pawl_futex_wait_bits
#undef pawl_futex_wake_bits
#undef pawl_futex_wake

#define pawl_futex_wait_bits darwin_wait
#define pawl_futex_wake_bits darwin_wake_all
#define pawl_futex_wake      darwin_wake
#define __APPLE__            1
#include "../src/park/futex_darwin.c"
#undef __APPLE__
#undef pawl_futex_wait_bits
#undef pawl_futex_wake_bits
#undef pawl_futex_wake

/* ---- their kernels */

static long futex(void *word, int op, uint32_t value, const struct timespec *time)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, time, NULL, UINT32_MAX);
}

/* Waits with an absolute time if `size` says that there is one. A changed value is success. */
int _umtx_op(void *object, int op, unsigned long value, void *size, void *time)
{
    if (op == UMTX_OP_WAKE_PRIVATE)
        return futex(object, FUTEX_WAKE_BITSET, (uint32_t)value, NULL) < 0 ? -1 : 0;
    CHECK(op == UMTX_OP_WAIT_UINT_PRIVATE, "operation %d", op);
    const struct _umtx_time *t = time;
    CHECK((size_t)size == (t != NULL ? sizeof *t : 0), "a time of %zu bytes", (size_t)size);
    CHECK(t == NULL || t->_flags == UMTX_ABSTIME, "a time from now");
    CHECK(t == NULL || t->_timeout.tv_sec > 0 || t->_timeout.tv_nsec > 0, "a wait without end");
    int how = FUTEX_WAIT_BITSET | (t != NULL && t->_clockid == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
    if (futex(object, how, (uint32_t)value, t != NULL ? &t->_timeout : NULL) == 0 || errno == EAGAIN)
        return 0;
    return -1;
}

/* Without NO_ERRNO it would set errno. */
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t microseconds)
{
    CHECK(operation == (COMPARE_AND_WAIT | NO_ERRNO), "operation %x", operation);
    CHECK(microseconds <= MOST_US, "waits for %u us", microseconds);
    int before = errno, error = 0;
    struct timespec until = pawl_from_now(CLOCK_MONOTONIC, (long)microseconds % MOST_US * 1000);
    until.tv_sec += microseconds / MOST_US;
    if (futex(address, FUTEX_WAIT_BITSET, (uint32_t)value, microseconds != 0 ? &until : NULL) != 0)
        error = -errno;
    errno = before;
    return error;
}

int __ulock_wake(uint32_t operation, void *address, uint64_t value)
{
    CHECK((operation & ~(uint32_t)WAKE_ALL) == (COMPARE_AND_WAIT | NO_ERRNO) && value == 0, "operation %x",
          operation);
    int before = errno;
    futex(address, FUTEX_WAKE_BITSET, (operation & WAKE_ALL) != 0 ? INT_MAX : 1, NULL);
    errno = before;
    return 0;
}

/* ---- what the library relies on, of both */

typedef struct os {
    int (*wait)(_Atomic(uint32_t) *, uint32_t, int, const struct timespec *, uint32_t);
    void (*wake_all)(_Atomic(uint32_t) *, uint32_t);
    void (*wake)(_Atomic(uint32_t) *);
} os;

static const os systems[] = {
    {freebsd_wait, freebsd_wake_all, freebsd_wake},
    {darwin_wait, darwin_wake_all, darwin_wake},
};

#define EACH(s)                                                                                              \
    const os *s = systems;                                                                                   \
    s < systems + sizeof systems / sizeof *systems;                                                          \
    s++

static void changed_word_is_not_waited_for(const lock_info *unused)
{
    (void)unused;
    _Atomic(uint32_t) word = 1;
    struct timespec then = pawl_from_now(CLOCK_MONOTONIC, 0);
    then.tv_sec += 1000;
    for (EACH(s)) {
        errno = 77;
        CHECK(s->wait(&word, 2, 0, NULL, 1) == 0 && s->wait(&word, 2, CLOCK_MONOTONIC, &then, 1) == 0,
              "an error");
        CHECK(errno == 77, "errno is %d", errno);
    }
}

static void deadlines_are_kept(const lock_info *unused)
{
    (void)unused;
    static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    _Atomic(uint32_t) word = 1;
    for (EACH(s))
        for (int i = 0; i < 2; i++) {
            struct timespec past = {.tv_sec = -1}, zero = {0}, soon = pawl_from_now(clocks[i], 20000000);
            errno = 77;
            CHECK(s->wait(&word, 1, clocks[i], &past, 1) == ETIMEDOUT, "waits for the past");
            CHECK(s->wait(&word, 1, clocks[i], &zero, 1) == ETIMEDOUT, "waits for the beginning of time");
            while (s->wait(&word, 1, clocks[i], &soon, 1) != ETIMEDOUT)
                ;
            CHECK(pawl_left(clocks[i], &soon) == 0, "comes back early");
            CHECK(errno == 77, "errno is %d", errno);
        }
}

typedef struct sleepers {
    const os *system;
    _Atomic(uint32_t) word;
    atomic_int awake;
} sleepers;

static void sleep_once(int me, void *arg)
{
    sleepers *q = arg;
    struct timespec then = pawl_from_now(CLOCK_MONOTONIC, 0);
    then.tv_sec += 1000;
    while (atomic_load(&q->word) == 0)
        q->system->wait(&q->word, 0, CLOCK_MONOTONIC, me % 2 == 0 ? NULL : &then, 1u << me);
    atomic_fetch_add(&q->awake, 1);
}

/* Sleepers that are not woken would sleep for ever, and the test with them. */
static void sleepers_are_woken(const lock_info *unused)
{
    (void)unused;
    enum { SLEEPERS = 4 };
    for (EACH(s))
        for (int all = 0; all < 2; all++) {
            sleepers q = {.system = s};
            team_member team[SLEEPERS];
            team_start(team, SLEEPERS, sleep_once, &q);
            team_await_asleep(team, SLEEPERS);
            atomic_store(&q.word, 1);
            if (all)
                s->wake_all(&q.word, 1);
            for (int i = 0; i < SLEEPERS && !all; i++)
                s->wake(&q.word);
            team_join(team, SLEEPERS);
            CHECK(atomic_load(&q.awake) == SLEEPERS, "%d awake", atomic_load(&q.awake));
        }
}

#define PLATFORMS(check_)                                                                                    \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "platforms"                                             \
    }

static const promise promises[] = {
    PLATFORMS(changed_word_is_not_waited_for),
    PLATFORMS(deadlines_are_kept),
    PLATFORMS(sleepers_are_woken),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
