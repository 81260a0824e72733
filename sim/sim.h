/* sim.h - a machine in virtual time: what its parts know of each other
 *
 * Simulated threads are the lab's fibers. Each runs ahead on its own clock until it touches memory that others can
 * see; there it waits until its clock is the earliest. Everything else is an event: a line that a directory serves, a
 * store that leaves its buffer, a timer, a wake-up. Time is in picoseconds. Events of one time happen in the order in
 * which they were asked for, so the same program with the same seed does the same, to the picosecond.
 */
#pragma once

#include "machine.h"

#include "../bench/simulated.h"
#include "../lab/fiber.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX
#define SIM_NS    1000u
#define SIM_MS    (1000000u * (sim_time)SIM_NS)

enum { SIM_MOST_THREADS = 1024, SIM_MOST_BESIDE = 1024 };

/* The clock that benchmarks read. */
enum { SIM_TICK = SIM_NS / 10 };

typedef struct sim_thread sim_thread;
typedef struct sim_cpu sim_cpu;
typedef struct sim_line sim_line;
typedef struct sim_request sim_request;

/* ---- events.c: what happens next */

typedef void sim_action(void *of, unsigned generation);

void sim_at(sim_time when, sim_action *action, void *of, unsigned generation);
sim_time sim_next_event(void); /* SIM_NEVER if there is none */
bool sim_do_next_event(void);  /* false if there is none     */

/* The time of the event that happens; threads have clocks of their own. */
sim_time sim_now(void);

/* A generator of its own, seeded per run: jitter of pollers, and where threads start. */
void sim_seed(uint64_t seed);
uint64_t sim_random(uint64_t below);

/* ---- line.c: cache lines and their directories */

/* A core, or its store buffer, that wants a line. */
struct sim_request {
    sim_line *line;
    sim_request *next; /* in the line's queue */
    unsigned cpu;
    bool write;
    sim_time asked;               /* when */
    sim_time hidden;              /* of its latency, by misses before it; what is left  */
    sim_time response;            /* from its turn until the data is there             */
    void (*turn)(sim_request *r); /* its turn: nobody else has the line in between */
};

sim_line *sim_line_of(uintptr_t address);
bool sim_line_has(const sim_line *l, unsigned cpu, bool write); /* a hit                    */
void sim_line_modify(sim_line *l);                              /* by who has it for writing */
void sim_line_ask(sim_request *r, sim_time when);
sim_object sim_line_object(const sim_line *l);

/* A thread that polls lines sleeps until one of them is taken from its core. */
void sim_line_watch(sim_line *l, sim_thread *t);
void sim_line_unwatch(sim_thread *t);

/* ---- store.c: store buffers */

enum { SIM_STORES_MOST = 128 };

typedef struct sim_store {
    sim_line *line;
    uintptr_t address;
    unsigned size; /* 0: a plain store, which is in memory already */
    uint64_t value;
    bool asked;     /* for its line, which is under way */
    sim_time there; /* when the line came, if it has */
    sim_request request;
} sim_store;

typedef struct sim_stores {
    sim_store entries[SIM_STORES_MOST];
    unsigned first, count;
    uint64_t entered, left; /* ever */
    bool busy;              /* the first is under way */
    sim_time next;          /* when the next may finish, at the earliest */
    sim_time traced;        /* until then its track of the timeline is filled */
    sim_thread *drained;    /* waits for the buffer to be empty, or to have room */
} sim_stores;

/* access.c: how much of a miss that begins now is hidden by those just before it. */
sim_time sim_hidden(const sim_thread *t);

void sim_store_put(sim_thread *t, sim_line *l, uintptr_t address, unsigned size, uint64_t value);
bool sim_store_forward(const sim_thread *t, uintptr_t address, unsigned size, uint64_t *value);
bool sim_store_overlaps(const sim_thread *t, uintptr_t address, unsigned size);
void sim_store_drain(sim_thread *t);

/* Where misses overlap: whether a line that the CPU lacks has to be asked for ahead, since no store has done so. */
bool sim_store_may_ask(const sim_cpu *c, const sim_line *l);

static inline void sim_write(uintptr_t address, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        *(volatile uint8_t *)address = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)address = (uint16_t)value;
        break;
    case 4:
        *(volatile uint32_t *)address = (uint32_t)value;
        break;
    case 8:
        *(volatile uint64_t *)address = value;
        break;
    }
}

static inline uint64_t sim_read(uintptr_t address, unsigned size)
{
    switch (size) {
    case 1:
        return *(volatile uint8_t *)address;
    case 2:
        return *(volatile uint16_t *)address;
    case 4:
        return *(volatile uint32_t *)address;
    default:
        return *(volatile uint64_t *)address;
    }
}

/* ---- sched.c: threads, CPUs and the scheduler */

typedef enum sim_state {
    SIM_RUNNING,   /* executes, or waits for a line        */
    SIM_COMPUTING, /* until `computed`; can be preempted   */
    SIM_POLLING,   /* watches lines; can be preempted      */
    SIM_READY,     /* in a run queue                       */
    SIM_BLOCKED,   /* in a futex, or asleep                */
    SIM_ENDED,
} sim_state;

enum { SIM_LOOKS = 16, SIM_WATCHED = 6, SIM_RECENT = 8 };

typedef struct sim_glance {
    const void *pc;
    uintptr_t address;
} sim_glance;

typedef struct sim_look {
    const void *pc;
    uintptr_t address;
    uint64_t value;
    sim_time when;
} sim_look;

typedef struct sim_watch {
    sim_thread *thread;
    sim_line *line;
    struct sim_watch *next, **back;
} sim_watch;

struct sim_thread {
    struct lab_fiber *fiber; /* NULL: a busy thread of another program */
    unsigned id;
    sim_state state;
    sim_time clock;
    sim_cpu *cpu;        /* where it runs, is queued, or ran last */
    unsigned first, end; /* the CPUs that it may use              */
    unsigned resumption; /* events that resume it carry this      */
    sim_time computed;
    sim_time left; /* of its computation, when it was preempted */
    sim_time debt; /* interrupts that it has not paid for yet   */
    sim_time paid; /* what others took from it while it waited  */
    sim_request request;
    /* Misses one soon after the other: since when, and how long it stood still in all. */
    sim_time misses_since, stood;
    sim_time ahead; /* when the line comes that was asked for ahead; SIM_NEVER: it is under way */
    bool awaits;    /* it                                                                        */
    sim_glance recent[SIM_RECENT]; /* its last atomic accesses, since it changed something */
    unsigned recent_next;
    sim_thread *queued; /* the next one in a run queue */
    int64_t virtual;    /* CPU time as the scheduler of its CPU counts it */
    int64_t deadline;   /* in virtual time: when its slice is used up     */
    int64_t protected;  /* and until when it keeps its CPU, if eligible   */
    int64_t lag;        /* virtual time that it was behind when it left   */
    sim_time since;     /* until when its CPU time is accounted for       */
    sim_time ran;       /* when it ran last                               */
    sim_time away;      /* when it lost its CPU                           */
    sim_time cpu_time;
    uintptr_t futex; /* 0: none */
    uint32_t futex_bits;
    sim_thread *futex_next;
    bool timed_out;
    sim_look looks[SIM_LOOKS];
    unsigned look_count;
    sim_time round;    /* of its polling */
    unsigned patience; /* rounds of polling before it may sleep again */
    sim_time nap;      /* how long it polls asleep at most            */
    sim_watch watches[SIM_WATCHED];
    unsigned watch_count;
    sim_time stepped; /* when its steps began */
    void (*duty)(void *of);
    void *of;
    /* watch.c: since it asked for the lock. */
    bool waiting;
    sim_time arrived, entered, cpu_at_arrival;
    uint64_t overtaken;
};

struct sim_cpu {
    unsigned id, core, cluster, socket;
    sim_thread *current; /* NULL: idle */
    sim_thread *queue;   /* in order of arrival */
    unsigned queue_length;
    int64_t average; /* virtual time, when it was last asked for */
    sim_time idled;  /* when it last had nothing to run          */
    sim_time slice_end;
    unsigned slice; /* events that end it carry this */
    bool coveted;   /* the hypervisor will take it away */
    sim_time back;  /* until when it has               */
    sim_stores stores;
};

extern sim_cpu *sim_cpus;

/* The thread of the running fiber. */
sim_thread *sim_self(void);

void sim_boot(const sim_machine *m);
sim_thread *sim_thread_new(unsigned first, unsigned end, unsigned start, sim_time when, void duty(void *of),
                           void *of);
void sim_beside_new(unsigned start); /* a busy thread of another program */
void sim_cpu_times(sim_time *own, sim_time *beside);
bool sim_is_booted(void);

/* On a fiber or in an event: it is the host's turn. */
void sim_stop(void);

/* On the host: lets time pass, until then or until `done` says so. False if nothing can happen before. */
bool sim_run(sim_time until, bool done(const void *of), const void *of);

/* On a fiber: time passes on its CPU; `sync` also lets all earlier events happen, and takes its turn to be preempted. */
void sim_charge(sim_thread *t, sim_time amount);
void sim_sync(sim_thread *t);
void sim_compute(sim_thread *t, sim_time amount);
sim_time sim_cpu_time(const sim_thread *t, sim_time now);

/* On a fiber: gives the processor to whatever happens next, until somebody resumes the thread. */
void sim_wait(void);
void sim_resume_at(sim_thread *t, sim_time when);
void sim_resume_here(sim_thread *t); /* in an event: before anything else happens */

/* sched.c for kernel.c: a thread leaves its CPU, and comes back. */
void sim_block(sim_thread *t);
bool sim_wake(sim_thread *t, sim_time when,
              const sim_cpu *waker); /* true: the waker interrupted another CPU */
void sim_yield(sim_thread *t);
void sim_bind(sim_thread *t, unsigned first, unsigned end);

/* sched.c for threads.c: a thread comes to its CPU, and leaves it. */
void sim_start(sim_thread *t, sim_time when);
void sim_leave_cpu(sim_thread *t, sim_time when);

/* sched.c for line.c: its line was taken from it. */
void sim_stop_polling(sim_thread *t, sim_time when);

/* host.c for sched.c: a thread runs on the CPU, which the hypervisor may take away. */
void sim_covet(sim_cpu *c);

/* cpus.c: run queues, and where threads go. */
void sim_queue_add(sim_cpu *c, sim_thread *t);
sim_thread *sim_queue_first(sim_cpu *c); /* whose turn it is, or NULL */
sim_thread *sim_queue_take(sim_cpu *c);
sim_thread *sim_queue_steal(sim_cpu *c, sim_time now); /* from another CPU's queue  */
int64_t sim_average(sim_cpu *c);
sim_cpu *sim_place(const sim_thread *t);              /* for a thread that wakes up */
bool sim_is_busy(unsigned core, unsigned except_cpu); /* does the other half of the core work? */

/* ---- access.c: what threads do with memory */

extern bool sim_polls_sleep; /* threads that poll do so without an end */
extern uint64_t sim_accesses;

struct lab_backend;
extern const struct lab_backend sim_backend;

/* An atomic operation on a line, as the kernel's on its tables. */
void sim_touch(sim_thread *t, uintptr_t address);
