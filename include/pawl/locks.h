/* locks.h - all locks of the register, and what its columns mean
 */
#pragma once

#include "detail/base.h"

#include <time.h>

/* The first expansion of the register includes the headers of all locks. */
#define PAWL_LOCK(...)
#include "locks.def"
#undef PAWL_LOCK

/* ---- forms: which functions a lock has, and whether they take a context
 *
 *   LOCK                   pawl_X_lock(l, c), pawl_X_trylock(l, c), pawl_X_unlock(l, c), with a pawl_X_ctx
 *   LOCK_WITHOUT_TRYLOCK   the same without trylock
 *   LOCK_WITH_DESTROY      also pawl_X_destroy(l), which frees what a used lock keeps, and
 *                          pawl_X_release_idle(l, c), an unlock that keeps nothing if nobody waits
 *   LOCK_WITH_OBLIVIOUS    also pawl_X_acquire_oblivious(l, c), after which any thread may unlock
 *   MUTEX                  pawl_X_lock(l), pawl_X_trylock(l), pawl_X_unlock(l), pawl_X_destroy(l), pawl_X_word(l),
 *                          and with a deadline pawl_X_clocklock(l, clock, deadline). It sleeps in its own way,
 *                          whatever the waiting policy; tools show it as pawl_X
 *   REQUEUING_MUTEX        a mutex to which pawl_cond requeues its waiters
 *
 *                                                 context   trylock   destroy   idle      oblivious deadline  requeue
 */
/* clang-format off */
#define PAWL_FORM_LOCK(pick)                 pick(PAWL_YES, PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_NO,  PAWL_NO,  PAWL_NO)
#define PAWL_FORM_LOCK_WITHOUT_TRYLOCK(pick) pick(PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_NO,  PAWL_NO,  PAWL_NO,  PAWL_NO)
#define PAWL_FORM_LOCK_WITH_DESTROY(pick)    pick(PAWL_YES, PAWL_YES, PAWL_YES, PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_NO)
#define PAWL_FORM_LOCK_WITH_OBLIVIOUS(pick)  pick(PAWL_YES, PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_YES, PAWL_NO,  PAWL_NO)
#define PAWL_FORM_MUTEX(pick)                pick(PAWL_NO,  PAWL_YES, PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_YES, PAWL_NO)
#define PAWL_FORM_REQUEUING_MUTEX(pick)      pick(PAWL_NO,  PAWL_YES, PAWL_YES, PAWL_NO,  PAWL_NO,  PAWL_YES, PAWL_YES)
/* clang-format on */

#define PAWL_PICK_CONTEXT(context, trylock, destroy, idle, oblivious, deadline, requeue)   context
#define PAWL_PICK_TRYLOCK(context, trylock, destroy, idle, oblivious, deadline, requeue)   trylock
#define PAWL_PICK_DESTROY(context, trylock, destroy, idle, oblivious, deadline, requeue)   destroy
#define PAWL_PICK_IDLE(context, trylock, destroy, idle, oblivious, deadline, requeue)      idle
#define PAWL_PICK_OBLIVIOUS(context, trylock, destroy, idle, oblivious, deadline, requeue) oblivious
#define PAWL_PICK_DEADLINE(context, trylock, destroy, idle, oblivious, deadline, requeue)  deadline
#define PAWL_PICK_REQUEUE(context, trylock, destroy, idle, oblivious, deadline, requeue)   requeue

/* Whether a form has a function, as a value, PAWL_HAS(form, TRYLOCK), and as a choice between two pieces of code,
 * PAWL_IF(form, TRYLOCK, this, that). */
#define PAWL_YES(a, b)            a
#define PAWL_NO(a, b)             b
#define PAWL_CHOOSE(answer, a, b) answer(a, b)
#define PAWL_IF(form, what, a, b) PAWL_CHOOSE(form(PAWL_PICK_##what), a, b)
#define PAWL_HAS(form, what)      PAWL_IF(form, what, true, false)

/* The context type of a lock, and a call of pawl_<name>_<function>, for any form. */
#define PAWL_CTX_OF(name, form) PAWL_IF(form, CONTEXT, pawl_##name##_ctx, pawl_no_ctx)
#define PAWL_CALL(name, form, function, l, c)                                                                \
    PAWL_IF(form, CONTEXT, pawl_##name##_##function(l, c), ((void)(c), pawl_##name##_##function(l)))

/* The name to print. Next to locks of other libraries, `mutex` alone would say nothing. */
#define PAWL_SHOWN(name, form) PAWL_IF(form, CONTEXT, #name, "pawl_" #name)

/* ---- fields */

#define PAWL_UNBOUNDED (-1)

typedef enum pawl_order {
    PAWL_FIFO,     /* first come, first served                                                 */
    PAWL_LIFO,     /* the latest waiter first                                                  */
    PAWL_SEGMENTS, /* arrivals during one segment form the next; the latest of a segment first */
    PAWL_SHUFFLED, /* segments, mostly but not always the latest first                         */
    PAWL_PLATOONS, /* B at a time, in any order; platoons are FIFO                             */
    PAWL_NONE,     /* whoever tries at the right moment                                        */
} pawl_order;

typedef enum pawl_waiting {
    PAWL_GLOBAL,       /* all waiters watch one word         */
    PAWL_SEMI_PRIVATE, /* a word each, unless hashes collide */
    PAWL_LOCAL,        /* a word each                        */
} pawl_waiting;

/* How the interposer fits a lock into a pthread_mutex_t, where glibc's owner and kind fields stay in place. */
typedef enum pawl_room {
    PAWL_PLAIN,         /* next to them, if there is room                               */
    PAWL_HOLED,         /* around them: the lock's struct has holes there (PAWL_HOLE)   */
    PAWL_HOLED_CONTEXT, /* the lock next to them, and a context with a hole around them */
    PAWL_UNSAFE,        /* not at all: the next owner must not free the lock            */
} pawl_room;

/* What the checker varies. */
enum {
    PAWL_TUNES_PLATOON = 1, /* PAWL_PLATOON                  */
    PAWL_TUNES_RECHECK = 2, /* PAWL_HAPAX_RECHECK            */
    PAWL_TUNES_COIN = 4,    /* the seed of the thread's coin */
};

union pawl_any_ctx;

typedef struct pawl_lock_info {
    /* Given in the row. */
    const char *title, *source; /* what it is; paper and listing */
    pawl_order order;
    int each, total; /* overtakes of a waiter: by one later arrival, by all together; or PAWL_UNBOUNDED */
    bool bounded_in_time; /* bounded by time, not by a number                                           */
    bool constant_unlock; /* unlock takes constant time                                                 */
    bool prompt;          /* the next owner may free the lock at once                                   */
    bool oblivious;       /* another thread may unlock                                                  */
    bool any_unlock;      /* for the interposer: unlocking a free lock does no harm                     */
    bool minds_exit;      /* for the interposer: it has work to do when a thread ends                   */
    size_t thread_bytes;  /* beyond sizeof(pawl_<name>): per thread,                                    */
    size_t held_bytes;    /* per lock held,                                                             */
    size_t idle_bytes;    /* and per lock once used                                                     */
    pawl_waiting waiting;
    unsigned tunables; /* PAWL_TUNES_... */

    /* Filled in by src/register.h. */
    const char *name;
    pawl_room room;
    bool context;     /* lock passes something to unlock */
    bool own_waiting; /* ignores the waiting policy */
    size_t size;
    void (*lock)(void *l, union pawl_any_ctx *c);
    void (*unlock)(void *l, union pawl_any_ctx *c);
    bool (*trylock)(void *l, union pawl_any_ctx *c); /* NULL if it has none; likewise below */
    void (*acquire_oblivious)(void *l, union pawl_any_ctx *c);
    void (*release_idle)(void *l, union pawl_any_ctx *c);
    void (*destroy)(void *l);
    int (*clocklock)(void *l, int clock, const struct timespec *deadline);
} pawl_lock_info;
