/* locks.h - all locks of the register, and what its columns mean
 */
#pragma once

#include "detail/base.h"

#include <time.h>

/* The first reading of the register brings in the headers; later ones find them there. */
#define PAWL_LOCK(...)
#include "locks.def"
#undef PAWL_LOCK

/* ---- forms: which functions a lock has, and whether they take a context
 *
 *   LOCK                   pawl_X_lock(l, c), pawl_X_trylock(l, c), pawl_X_unlock(l, c), with a pawl_X_ctx
 *   LOCK_WITHOUT_TRYLOCK   the same but for trylock
 *   LOCK_WITH_DESTROY      also pawl_X_destroy(l), which takes back what stays with a lock once it was used, and
 *                          pawl_X_release_idle(l, c), which leaves nothing in a lock that nobody waits for
 *   LOCK_WITH_OBLIVIOUS    also pawl_X_acquire_oblivious(l, c), after which any thread may unlock
 *   MUTEX                  pawl_X_lock(l), pawl_X_trylock(l), pawl_X_unlock(l), pawl_X_destroy(l), and with deadlines
 *                          pawl_X_clocklock(l, clock, deadline); pawl_X_word(l). It sleeps in its own way, whatever the
 *                          waiting policy, and is shown as pawl_X
 *   REQUEUING_MUTEX        a mutex whose queue pawl_cond moves its waiters to
 *
 *                                                 context   trylock   destroy   idle      oblivious deadline  requeue */
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

/* What a form has, as a value and as a choice between two pieces of code: PAWL_HAS(form, TRYLOCK),
 * PAWL_IF(form, TRYLOCK, this, that). */
#define PAWL_YES(a, b)            a
#define PAWL_NO(a, b)             b
#define PAWL_CHOOSE(answer, a, b) answer(a, b)
#define PAWL_IF(form, what, a, b) PAWL_CHOOSE(form(PAWL_PICK_##what), a, b)
#define PAWL_HAS(form, what)      PAWL_IF(form, what, true, false)

/* The context of a lock, and a call of pawl_<name>_<function>, whatever the form. */
#define PAWL_CTX_OF(name, form) PAWL_IF(form, CONTEXT, pawl_##name##_ctx, pawl_no_ctx)
#define PAWL_CALL(name, form, function, l, c)                                                                \
    PAWL_IF(form, CONTEXT, pawl_##name##_##function(l, c), ((void)(c), pawl_##name##_##function(l)))

/* What a lock is called where locks of other libraries are, too, and where `mutex` alone would say nothing. */
#define PAWL_SHOWN(name, form) PAWL_IF(form, CONTEXT, #name, "pawl_" #name)

/* ---- fields */

#define PAWL_UNBOUNDED (-1)

typedef enum pawl_order {
    PAWL_FIFO,     /* first come, first served                                                          */
    PAWL_LIFO,     /* of those that wait, the latest                                                    */
    PAWL_SEGMENTS, /* those that arrive while a segment is served form the next; within it the latest   */
    PAWL_SHUFFLED, /* segments, and within one mostly but not always the latest                         */
    PAWL_PLATOONS, /* B at a time, in any order; platoon after platoon                                  */
    PAWL_NONE,     /* whoever comes at the right moment                                                 */
} pawl_order;

typedef enum pawl_waiting {
    PAWL_GLOBAL,       /* all waiters watch one word                         */
    PAWL_SEMI_PRIVATE, /* a word each, unless hashes collide                 */
    PAWL_LOCAL,        /* a word each                                        */
} pawl_waiting;

/* How the interposer puts a lock into a pthread_mutex_t, where glibc's owner and kind keep their place. */
typedef enum pawl_room {
    PAWL_PLAIN,         /* beside them, if there is room                                     */
    PAWL_HOLED,         /* over them: the lock's struct has holes there (PAWL_HOLE)          */
    PAWL_HOLED_CONTEXT, /* the lock beside them, and a context with a hole over them         */
    PAWL_UNSAFE,        /* not at all: the next owner must not free the lock                 */
} pawl_room;

/* What the checker varies. */
enum {
    PAWL_TUNES_PLATOON = 1, /* PAWL_PLATOON                          */
    PAWL_TUNES_RECHECK = 2, /* PAWL_HAPAX_RECHECK                    */
    PAWL_TUNES_COIN = 4,    /* the seed of the thread's coin         */
};

union pawl_any_ctx;

typedef struct pawl_lock_info {
    /* Said in the row. */
    const char *title, *source; /* what it is; paper and listing */
    pawl_order order;
    int each, total; /* overtakes of a waiting thread by one later arrival, and by all; or PAWL_UNBOUNDED */
    bool bounded_in_time; /* no number bounds them, but a time does                        */
    bool constant_unlock; /* unlock takes constant time                                    */
    bool prompt;          /* the next owner may free the lock at once                      */
    bool oblivious;       /* another thread may unlock                                     */
    bool any_unlock;      /* for the interposer: unlocking a free lock does no harm        */
    bool minds_exit;      /* for the interposer: something is to be done when a thread ends */
    size_t thread_bytes;  /* beyond sizeof(pawl_<name>): per thread,                       */
    size_t held_bytes;    /* per lock held,                                                */
    size_t idle_bytes;    /* and per lock once used                                        */
    pawl_waiting waiting;
    unsigned tunables; /* PAWL_TUNES_... */

    /* Added where the register becomes a table: src/register.h. */
    const char *name;
    pawl_room room;
    bool context;     /* unlock needs what lock returned   */
    bool own_waiting; /* it does not ask the waiting policy */
    size_t size;
    void (*lock)(void *l, union pawl_any_ctx *c);
    void (*unlock)(void *l, union pawl_any_ctx *c);
    bool (*trylock)(void *l, union pawl_any_ctx *c); /* NULL if there is none: this and what follows */
    void (*acquire_oblivious)(void *l, union pawl_any_ctx *c);
    void (*release_idle)(void *l, union pawl_any_ctx *c);
    void (*destroy)(void *l);
    int (*clocklock)(void *l, int clock, const struct timespec *deadline);
} pawl_lock_info;
