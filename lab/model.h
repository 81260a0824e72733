/* model.h - the state of the execution under way, shared by the parts of the weak-memory back end
 *
 * The model is the operational reading of RC11 (Lahav et al., "Repairing sequential consistency in C/C++11") without
 * load buffering: events execute in an order that respects program order and reads-from, so no load returns a store
 * that has yet to execute. C11 allows that in a few relaxed programs; compilers and hardware that exploit it exist
 * (AArch64, POWER), so a verdict of "no violation" does not cover code that would break only through it.
 */
#pragma once
#include "fiber.h"
#include "lab.h"
#include "view.h"

/* ---- locations and their stores ------------------------------------------------------------------------------- */

struct lab_message {
    lab_stamp stamp;
    uint8_t thread;
    bool rmw;           /* written by a read-modify-write: nothing may come between it and its predecessor */
    bool releases;      /* clock and view are valid */
    uint16_t locations; /* length of view */
    unsigned step;      /* when it executed */
    uint64_t value;
    uint64_t id; /* names the event, the same in every execution that contains it */
    const void *pc;
    struct lab_clock clock;
    lab_stamp view[];
};

struct lab_location {
    uintptr_t address;
    unsigned size, index;       /* index: in views */
    unsigned count, capacity;   /* stores, in modification order; only those that may still be read */
    struct lab_message **stores;
    lab_stamp next_stamp;
    bool plain;                 /* last written by a plain store: the value is in memory, not in `stores` yet */
    bool retired;               /* the object is gone; another of another size may take its place */
    uint64_t plain_id;
    uint8_t plain_thread;
    struct lab_location *next; /* in the same eight bytes */
};

struct lab_location *lab_location(uintptr_t address, unsigned size);
struct lab_message *lab_insert(struct lab_location *l, unsigned at, uint64_t value, bool releases);
void lab_plain_write(struct lab_location *l, const struct lab_fiber *by);
unsigned lab_locations(void);
uintptr_t lab_location_address(unsigned index);
void lab_locations_reset(void);

static inline struct lab_message *lab_newest(const struct lab_location *l)
{
    return l->stores[l->count - 1];
}

/* ---- threads -------------------------------------------------------------------------------------------------- */

enum lab_state { LAB_READY, LAB_SPINNING, LAB_PARKED, LAB_ENDED };

enum { LAB_HISTORY = 32, LAB_PERIOD = 8, LAB_FRAMES = 128, LAB_EXIT_FUNCTIONS = 16 };

/* One access that changed nothing, as the spin detector remembers it. */
struct lab_look {
    const void *pc;
    struct lab_location *location;
    uint64_t value;
    lab_stamp stamp;
};

struct lab_thread {
    struct lab_fiber *fiber;
    int id;
    enum lab_state state;
    unsigned po; /* events so far */

    struct lab_clock clock, acquirable, released;
    lab_stamp view[LAB_MAX_LOCATIONS], acquirable_view[LAB_MAX_LOCATIONS], released_view[LAB_MAX_LOCATIONS];
    bool has_released; /* a release fence has executed: `released` and `released_view` are valid */

    /* spin.c */
    struct lab_look looks[LAB_HISTORY];
    unsigned look_count;
    struct lab_look watched[LAB_PERIOD];
    unsigned watched_count;
    bool fresh;       /* must read the newest stores until it sees a change */
    bool hopeless;    /* probed, and found to be a loop without end */
    unsigned probing; /* accesses left to show that the loop ends */
    unsigned probe_period;

    /* futex.c */
    uintptr_t futex;
    uint32_t futex_bits;
    bool timed, woken;
    unsigned timeouts;        /* so far                              */
    unsigned seen[LAB_SLOTS]; /* the others', when it last lay down */
    const void *asleep_at;
    uint64_t deadline, now; /* this thread's idea of the time, in ns */

    /* thread.c */
    uintptr_t frames[LAB_FRAMES]; /* where the frames of the functions it is in end */
    unsigned depth;
    uint32_t restarted; /* clock at the last restart, 0 = none */
    void (*exit_functions[LAB_EXIT_FUNCTIONS])(void);
    unsigned exit_count;
};

extern struct lab_thread lab_threads[LAB_SLOTS];

static inline struct lab_thread *lab_running(void)
{
    return &lab_threads[lab_current->id];
}

/* ---- the execution -------------------------------------------------------------------------------------------- */

struct lab_budget {
    int preemptions, stale, inserts, spurious, timeouts;
};

struct lab_run {
    const struct lab_program *program;
    const struct lab_limits *limits;
    struct lab_budget left;
    int threads, ended;
    unsigned restarts;      /* threads that took over another's memory */
    unsigned steps, streak; /* streak: scheduling points since the last switch */
    unsigned plain_streak;  /* plain accesses since the last visible operation */
    uint64_t graph;         /* hash of the execution graph so far, the same for every order of its events */
    uint64_t decided;       /* the graph when the running thread was chosen */
    lab_stamp sc_view[LAB_MAX_LOCATIONS]; /* what seq_cst operations so far impose on later ones */
    enum lab_verdict verdict;
    char message[128];
    struct lab_fault {
        uintptr_t address;
        struct lab_party {
            int thread; /* -1 = none */
            const void *pc;
        } by[2];
    } fault;
    bool pruned, tracing, in_setup;
    bool truncated; /* in some execution a choice had more options than are explored */
    uintptr_t host_frame; /* of lab_explore: setup's locals are below */
};

extern struct lab_run lab_run;

/* On a fiber of an exploration, not of another instrument. */
static inline bool lab_checking(void)
{
    return lab_current && lab_run.program;
}

/* Ends the execution with a verdict. The source lines are looked up later, on the host's larger stack. Does not
 * return on a fiber. */
void lab_violation(enum lab_verdict verdict, const char *text, uintptr_t address, const void *pc,
                   const struct lab_party *other);

static inline uint64_t lab_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 0x9e3779b97f4a7c15) ^ (b << 31 | b >> 33);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Names the next event of a thread. */
static inline uint64_t lab_event_id(const struct lab_thread *t, uintptr_t address)
{
    return lab_mix((uint64_t)t->id << 32 | t->po, address);
}

/* Adds the thread's next event to the graph. `link` says how it is connected: the store it read, its neighbours in
 * modification order. A sum, so that independent events give the same graph in either order. */
static inline void lab_graph_add(struct lab_thread *t, unsigned op, uintptr_t address, uint64_t link)
{
    lab_run.graph += lab_mix(lab_event_id(t, address) + op, link);
    t->po++;
}

/* ---- scheduling (sched.c), spin loops (spin.c) ---------------------------------------------------------------- */

void lab_threads_reset(void);
struct lab_thread *lab_sched_first(void);
void lab_sched_point(void); /* before a visible operation: another thread may go first */
void lab_sched_away(void);  /* the running thread cannot go on */

void lab_spin_note(struct lab_thread *t, const void *pc, struct lab_location *l, uint64_t value, lab_stamp stamp);
void lab_spin_clear(struct lab_thread *t);
void lab_spin_wake(const struct lab_location *l, uint64_t value);
bool lab_spin_redundant(const struct lab_thread *t, const void *pc, const struct lab_location *l, lab_stamp stamp);
struct lab_thread *lab_spin_probe(void); /* nobody can run: a spinner that may yet leave its loop, NULL if none */

/* ---- choices (choice.c) --------------------------------------------------------------------------------------- */

enum lab_choice { LAB_CHOOSE_THREAD, LAB_CHOOSE_STORE, LAB_CHOOSE_WAITER, LAB_CHOOSE_RETURN };

/* An index below count; 0 is the ordinary course of events. */
unsigned lab_choose(enum lab_choice kind, unsigned count);

/* One of `count` threads to run next; each but the first costs `cost` preemptions. NULL: all was explored before. */
struct lab_thread *lab_choose_thread(struct lab_thread *const *options, unsigned count, int cost);

/* ---- the rest ------------------------------------------------------------------------------------------------- */

void lab_sc_fence(struct lab_thread *t);                                     /* fence.c */
uint64_t lab_load_newest(uintptr_t address, unsigned size, const void *pc);  /* fence.c: as the kernel reads */
void lab_thread_end(struct lab_thread *t);                                   /* thread.c */
void lab_pthread_reset(void);                                                /* pthread.c */
void lab_pthread_end(void);
void lab_catch_crashes(void);                                                /* crash.c */
void lab_monitor_reset(void);                                                /* monitor.c */
void lab_monitor_waits(struct lab_thread *t);
void lab_monitor_writes(const struct lab_thread *t, uintptr_t address);
bool lab_heap_leaks(void);                                                   /* heap.c */
void lab_heap_reset(bool everything);
