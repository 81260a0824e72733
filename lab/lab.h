/* lab.h - run unmodified lock code under a model of C11's memory, and search its executions
 *
 * Compile the code under test with -fsanitize=thread and link it with this library in place of libtsan: every plain
 * and atomic access, with its order, becomes a call into the lab. Threads are fibers, so the lab decides who runs
 * and what each load returns.
 *
 *   struct lab_program p = {.threads = 3, .thread = worker, .arg = &lock};
 *   struct lab_limits  l = LAB_LIMITS;
 *   struct lab_result  r;
 *   if (lab_explore(&p, &l, &r) != LAB_OK) lab_print_trace(stdout, &r);
 *
 * One exploration at a time, from one host thread. The functions below "For scenario code" are called by the code
 * that runs on the fibers; outside a fiber they do nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LAB_MAX_THREADS = 7 };
enum { LAB_START = 1 }; /* seconds: what clocks show at first */

enum lab_verdict {
    LAB_OK,
    LAB_TWO_OWNERS,  /* two threads inside one lock */
    LAB_DATA_RACE,   /* conflicting accesses, one of them plain, not ordered by happens-before */
    LAB_DEADLOCK,    /* every thread asleep, in a spin loop or a futex: a lost wake-up */
    LAB_NO_PROGRESS, /* the step limit was reached: a livelock, or a limit set too low */
    LAB_OVERTAKEN,   /* a waiter was overtaken more often than the bound allows */
    LAB_DESTROYED,   /* access to destroyed or freed memory */
    LAB_DEAD_THREAD, /* access to thread-local or stack memory of which the owner is gone */
    LAB_ASSERTION,
    LAB_CRASH,       /* a wild pointer was followed */
    LAB_LEAK,        /* memory allocated by a thread and never freed */
    LAB_UNSUPPORTED, /* the program does what the lab cannot model; nothing is known about it */
    LAB_VERDICTS
};

const char *lab_verdict_name(enum lab_verdict v);

/* What to run. `setup` runs once, before the threads; what it writes are the initial values of every execution.
 * `finish` runs after all threads have ended, once per execution that gets so far, ordered after all of them. */
struct lab_program {
    int threads;
    void (*setup)(void *arg);
    void (*thread)(void *arg, int id);
    void (*finish)(void *arg);
    void *arg;
    bool threads_die; /* a thread that returns has exited: its thread-local memory may not be touched any more */
    bool check_leaks; /* what threads allocate must be freed by the end of `finish` */
};

enum lab_search {
    LAB_EXHAUSTIVE, /* all executions within the bounds, equivalent ones once */
    LAB_RANDOM,     /* `executions` samples; the bounds apply to each */
    LAB_REPLAY,     /* one execution, the one that `replay` describes */
};

struct lab_limits {
    enum lab_search search;

    /* Bounds per execution, 0 to 120 each. */
    int preemptions; /* switches away from a thread that could have gone on */
    int stale;       /* loads (and failed CASes) that return an older store than the newest */
    int inserts;     /* stores and RMWs that enter the modification order before a store that already executed */
    int spurious;    /* weak CASes that fail for no reason, futex waits that return for no reason */
    int timeouts;    /* futex waits that time out while another thread could still run */

    int steps;            /* visible operations per execution; more is LAB_NO_PROGRESS */
    uint64_t executions;  /* stop after so many, 0 = no limit (LAB_RANDOM: 0 = 10000) */
    double seconds;       /* stop after so long, 0 = no limit */
    size_t cache_bytes;   /* memory for states seen; when full the search stays sound but repeats work */
    bool no_cache;        /* enumerate every interleaving: to check the cache against, or to measure it */
    bool keep_going;      /* count violations instead of stopping at the first; the result describes the first */

    uint64_t seed;        /* LAB_RANDOM */
    int change_points;    /* LAB_RANDOM: priority changes per execution (PCT's d - 1) */
    const char *replay;   /* LAB_REPLAY: from lab_result; brings its own bounds */

    int bypass_each;      /* how often one thread may overtake one waiter, -1 = any number */
    int bypass_total;     /* how often all others together may, -1 = any number */
    int membarrier_errno; /* fail membarrier() with this error, so that fall-backs are checked too */
};

#define LAB_LIMITS                                                                                                   \
    {                                                                                                                \
        .search = LAB_EXHAUSTIVE, .preemptions = 3, .stale = 2, .steps = 20000, .cache_bytes = (size_t)1 << 30,      \
        .seed = 1, .change_points = 3, .bypass_each = -1, .bypass_total = -1,                                        \
    }

struct lab_event; /* one line of a trace */

struct lab_result {
    enum lab_verdict verdict;
    char message[256];    /* one sentence about the first violation */
    const char *replay;   /* reproduces it (LAB_REPLAY); valid until the next exploration */
    uint64_t violations;  /* more than one only with keep_going */
    uint64_t executions;  /* runs, of which */
    uint64_t pruned;      /* were cut short because the rest had been explored */
    uint64_t steps;       /* visible operations in all */
    uint64_t states;      /* entries in the cache */
    unsigned max_depth;   /* most visible operations in one execution */
    bool complete;        /* LAB_EXHAUSTIVE: nothing within the bounds is left */
    bool cache_full;
    double seconds;
    const struct lab_event *trace; /* the violating execution; valid until the next exploration */
    size_t trace_length;
};

enum lab_verdict lab_explore(const struct lab_program *p, const struct lab_limits *l, struct lab_result *r);

/* The violating execution, one line per event: thread, operation, location, order, value, whose store was read, and
 * the source line. `lab_event_text` gives one line without the newline and returns its length. */
void lab_print_trace(FILE *out, const struct lab_result *r);
int lab_event_text(const struct lab_result *r, size_t index, char *buffer, size_t size);

/* ---- For scenario code --------------------------------------------------------------------------------------- */

/* The running thread: 0 to threads - 1, `threads` inside finish, -1 outside. */
int lab_self(void);

/* A number below `count`, which may be any: all of them are explored. For what the kernel might answer. */
unsigned lab_pick(unsigned count);

/* Lock life cycle as the monitors see it. Between arrive and enter, a thread becomes a waiter when it is first seen
 * to spin or sleep after its doorway, its first write to the lock's `size` bytes (0: no doorway), or to spin on the
 * lock itself. Whoever arrives after that and enters first has overtaken it. A thread that only tries arrives, but
 * never waits. */
void lab_arrive(const void *lock, size_t size);
void lab_try(const void *lock);
void lab_enter(const void *lock);
void lab_leave(const void *lock);

void lab_assert(bool condition, const char *text);
void lab_fail(enum lab_verdict verdict, const char *text);

/* The bytes are gone for the rest of the execution; checked for races like a write. */
void lab_destroy(void *p, size_t size);

/* The running thread exits and a new one starts with the same id in the same memory: exit functions run, then
 * thread-local variables are back at their initial values. Nobody else may touch them unless ordered before. */
void lab_thread_restart(void);
void lab_at_thread_exit(void (*fn)(void));

/* Names an object for traces. Call it from setup. */
void lab_name(const void *p, size_t size, const char *name);

/* ---- Sites: the places in the source that hold an atomic operation -------------------------------------------- */

enum lab_op { LAB_LOAD, LAB_STORE, LAB_RMW, LAB_CAS, LAB_FENCE };

/* Which order of an operation: a CAS has two. */
enum lab_role { LAB_ORDER, LAB_FAILURE_ORDER };

struct lab_site {
    const void *pc;
    enum lab_op op;
    int order;   /* as compiled: __ATOMIC_RELAXED ... __ATOMIC_SEQ_CST */
    int failure; /* LAB_CAS only */
};

/* All sites that executed since the last lab_forget_sites, sorted by pc. Returns how many there are. */
size_t lab_sites(const struct lab_site **sites);
void lab_forget_sites(void);

/* Inlined code has one pc per copy. A group is all sites of one operation in the source: same key, same op. Only
 * frames count whose file path contains `within` ("include/pawl/"; NULL: all). */
struct lab_site_group {
    char key[256];
    enum lab_op op;
    int order, failure;
    const void **pcs;
    size_t count;
};
size_t lab_group_sites(const char *within, struct lab_site_group **groups);
void lab_free_groups(struct lab_site_group *groups, size_t count);

/* What executes from now on is visited by `visitor`, 0 to LAB_VISITORS - 1. lab_was_visited tells whether any site of
 * the group was; it is forgotten with the sites. */
enum { LAB_VISITORS = 128 };
void lab_visit_as(int visitor);
bool lab_was_visited(const struct lab_site_group *g, int visitor);

/* From now on the operations at these places use another order. */
void lab_mutate(const void *const *pcs, size_t count, enum lab_role role, int order);
void lab_unmutate(void);

/* Source position of a return address, innermost inlined frame first: "wait.h:31<ticket.h:40<main.c:12". */
const char *lab_source(const void *pc, char *buffer, size_t size);
