/* calibrate_kernel.c - what the scheduler and the hypervisor of this machine take
 *
 * Medians: how long an idle CPU takes to wake up differs from time to time, and the usual is what a simulation wants.
 */
#include "calibrate.h"

#include "../lab/machine.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pass(double ns)
{
    double end = now_ns() + ns;
    while (now_ns() < end)
        ;
}

static void go_to(int from, int to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(from, &set);
    CPU_SET(to, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void yield(void)
{
    lab_raw_syscall(SYS_sched_yield, (const long[6]){0});
}

static void futex_wait(_Atomic(uint32_t) *word, uint32_t while_it_holds, const struct timespec *timeout)
{
    lab_raw_syscall(SYS_futex,
                    (const long[6]){(long)word, FUTEX_WAIT_PRIVATE, while_it_holds, (long)timeout});
}

static void futex_wake(_Atomic(uint32_t) *word)
{
    lab_raw_syscall(SYS_futex, (const long[6]){(long)word, FUTEX_WAKE_PRIVATE, 1});
}

/* ---- two threads of one CPU */

enum { TURNS = 2000, TRIES = 41 };

static _Alignas(256) _Atomic(uint32_t) word, ready, over;
static int cpus[2];

static void *yield_until_over(void *unused)
{
    (void)unused;
    go_to(cpus[0], cpus[0]);
    for (atomic_store(&ready, 1); atomic_load_explicit(&over, memory_order_relaxed) == 0;)
        yield();
    return NULL;
}

static bool start(pthread_t *thread, void *main(void *), int first, int second)
{
    cpus[0] = first;
    cpus[1] = second;
    atomic_store(&word, 0);
    atomic_store(&ready, 0);
    atomic_store(&over, 0);
    return pthread_create(thread, NULL, main, NULL) == 0;
}

double sim_yield_in_turn(int cpu)
{
    pthread_t other;
    double all[TRIES];
    go_to(cpu, cpu);
    if (!start(&other, yield_until_over, cpu, cpu))
        return -1;
    while (atomic_load(&ready) == 0)
        yield();
    for (int i = 0; i < TRIES; i++) {
        double from = now_ns();
        for (int k = 0; k < TURNS / TRIES; k++)
            yield();
        all[i] = (now_ns() - from) / (TURNS / TRIES) / 2; /* the other's yield, too */
    }
    atomic_store(&over, 1);
    pthread_join(other, NULL);
    return sim_median(all, TRIES);
}

static void take_turns(uint32_t player, double *took)
{
    double from = now_ns();
    for (uint32_t i = 0; i < TURNS; i++) {
        uint32_t turn = 2 * i + player, seen;
        while ((seen = atomic_load(&word)) != turn)
            futex_wait(&word, seen, NULL);
        atomic_store(&word, turn + 1);
        futex_wake(&word);
        if (took != NULL && i % (TURNS / TRIES) == 0 && i / (TURNS / TRIES) < TRIES) {
            double now = now_ns();
            took[i / (TURNS / TRIES)] = (now - from) / (2 * (TURNS / TRIES));
            from = now;
        }
    }
}

static void *take_other_turns(void *unused)
{
    (void)unused;
    go_to(cpus[0], cpus[0]);
    take_turns(1, NULL);
    return NULL;
}

double sim_sleep_in_turn(int cpu)
{
    pthread_t other;
    double all[TRIES];
    go_to(cpu, cpu);
    if (!start(&other, take_other_turns, cpu, cpu))
        return -1;
    take_turns(0, all);
    pthread_join(other, NULL);
    return sim_median(all + 1, TRIES - 1);
}

/* ---- between two CPUs */

enum { WAKES = 201 };
static const double asleep_for =
    20000; /* about as long as waiters of a lock that is handed from sleeper to sleeper */

static void *be_woken(void *unused)
{
    (void)unused;
    go_to(cpus[1], cpus[1]);
    for (uint32_t i = 0; i < WAKES; i++) {
        atomic_store(&ready, i + 1);
        while (atomic_load(&word) == i)
            futex_wait(&word, i, NULL);
        atomic_store(&over, i + 1);
    }
    return NULL;
}

double sim_wake_other(int first, int second)
{
    pthread_t other;
    double calls[WAKES];
    go_to(first, first);
    if (!start(&other, be_woken, first, second))
        return -1;
    for (uint32_t i = 0; i < WAKES; i++) {
        while (atomic_load(&ready) != i + 1)
            ;
        pass(asleep_for);
        double from = now_ns();
        atomic_store(&word, i + 1);
        futex_wake(&word);
        calls[i] = now_ns() - from;
        while (atomic_load(&over) != i + 1)
            ;
    }
    pthread_join(other, NULL);
    return sim_median(calls, WAKES);
}

/* Two that sleep in turn, as the waiters of a lock that is handed from sleeper to sleeper. That takes longer than to be
 * woken by a thread that never sleeps: on a virtual machine, its CPU is idle in between, too. */
static volatile double waking_since;
static double waits[2 * WAKES];

static void wake_in_turn(uint32_t player)
{
    for (uint32_t i = 0; i < WAKES; i++) {
        uint32_t turn = 2 * i + player, seen;
        while ((seen = atomic_load(&word)) != turn)
            futex_wait(&word, seen, NULL);
        waits[turn] = now_ns() - waking_since;
        pass(asleep_for / 2);
        waking_since = now_ns();
        atomic_store(&word, turn + 1);
        futex_wake(&word);
    }
}

static void *wake_in_other_turns(void *unused)
{
    (void)unused;
    go_to(cpus[1], cpus[1]);
    wake_in_turn(1);
    return NULL;
}

double sim_wake_in_turn(int first, int second)
{
    pthread_t other;
    go_to(first, first);
    waking_since = now_ns();
    if (!start(&other, wake_in_other_turns, first, second))
        return -1;
    wake_in_turn(0);
    pthread_join(other, NULL);
    return sim_median(waits, 2 * WAKES);
}

/* ---- a thread that slept where its waker runs, while another CPU is idle */

static _Atomic int woken_on;

static void *wake_up_somewhere(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < WAKES; i++) {
        go_to(cpus[0], cpus[0]);
        go_to(cpus[0], cpus[1]);
        atomic_store(&ready, i + 1);
        while (atomic_load(&word) == i)
            futex_wait(&word, i, NULL);
        atomic_store(&woken_on, sched_getcpu());
        atomic_store(&over, i + 1);
    }
    return NULL;
}

static void await(_Atomic(uint32_t) *of, uint32_t value)
{
    struct timespec rest = {0, (long)asleep_for};
    while (atomic_load(of) != value)
        nanosleep(&rest, NULL); /* it may need this CPU */
}

double sim_stay(int first, int second)
{
    pthread_t other;
    int stayed = 0;
    go_to(first, first);
    if (!start(&other, wake_up_somewhere, first, second))
        return -1;
    for (uint32_t i = 0; i < WAKES; i++) {
        await(&ready, i + 1);
        pass(asleep_for);
        atomic_store(&word, i + 1);
        futex_wake(&word);
        pass(5 * asleep_for); /* long enough for an idle CPU to wake up */
        await(&over, i + 1);
        stayed += atomic_load(&woken_on) == first;
    }
    pthread_join(other, NULL);
    return (double)stayed / WAKES;
}

double sim_timer_lateness(int cpu)
{
    enum { TIMER = 100000 };
    static _Atomic(uint32_t) nobody;
    double all[TRIES];
    go_to(cpu, cpu);
    for (int i = 0; i < TRIES; i++) {
        struct timespec timeout = {0, TIMER};
        double from = now_ns();
        futex_wait(&nobody, 0, &timeout);
        all[i] = now_ns() - from - TIMER;
    }
    return sim_median(all, TRIES);
}

/* ---- an idle CPU and a thread that waits for another one */

enum { PULLS = 20, REST_NS = 12000000, BEFORE_NS = 6000000 };

static volatile double pulled_at;

static void *be_busy(void *unused)
{
    (void)unused;
    go_to(cpus[0], cpus[0]);
    while (atomic_load_explicit(&over, memory_order_relaxed) == 0)
        ;
    return NULL;
}

/* Starts beside the busy one; notes when it first runs on the other CPU. */
static void *be_pulled(void *unused)
{
    (void)unused;
    go_to(cpus[0], cpus[0]);
    go_to(cpus[0], cpus[1]);
    while (atomic_load_explicit(&over, memory_order_relaxed) == 0) {
        if (sched_getcpu() != cpus[1])
            continue;
        if (atomic_load(&ready) == 0) { /* too early: the other CPU is not idle yet */
            go_to(cpus[0], cpus[0]);
            go_to(cpus[0], cpus[1]);
        } else if (pulled_at == 0) {
            pulled_at = now_ns();
        }
    }
    return NULL;
}

double sim_pull(int first, int second)
{
    double waited = 0;
    int pulls = 0;
    for (int i = 0; i < PULLS; i++) {
        pthread_t busy, waiting;
        struct timespec rest = {0, REST_NS};
        go_to(second, second);
        pulled_at = 0;
        if (!start(&busy, be_busy, first, second))
            return -1;
        if (pthread_create(&waiting, NULL, be_pulled, NULL) != 0) {
            atomic_store(&over, 1);
            pthread_join(busy, NULL);
            return -1;
        }
        pass(BEFORE_NS + i * 97000.0); /* at different distances from a tick */
        double from = now_ns();
        atomic_store(&ready, 1);
        nanosleep(&rest, NULL);
        waited += pulled_at > from ? pulled_at - from : REST_NS;
        pulls += pulled_at > from;
        atomic_store(&over, 1);
        pthread_join(busy, NULL);
        pthread_join(waiting, NULL);
    }
    return waited / (pulls > 0 ? pulls : 1);
}

/* ---- the hypervisor */

void sim_gaps(int cpu, double *length, double *apart)
{
    const double watched = 300e6, least = 5e3,
                 most = 2e6; /* shorter: an interrupt; longer: another program */
    double sum = 0, count = 0, start = now_ns(), last = start, now;
    go_to(cpu, cpu);
    while ((now = now_ns()) < start + watched) {
        if (now - last > least && now - last < most) {
            sum += now - last;
            count++;
        }
        last = now;
    }
    *length = count > 0 ? sum / count : 0;
    *apart = count > 0 ? watched / count : 0;
}
