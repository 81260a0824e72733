/* calibrate_lines.c - what it takes to get a cache line from another CPU, and whether several take longer than one
 *
 * One thread changes lines, and the other touches them once it is done. A fence before and after keeps what is timed apart
 * from the rest. The clock may have steps of 10 ns: means tell less than that apart.
 */
#include "calibrate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

typedef enum touch { NOTHING, READ, WRITE, READ_AND_WRITE, WRITE_SHARED, WRITE_THREE, TOUCHES } touch;

typedef struct line {
    _Alignas(256) _Atomic(uint64_t) word;
} line;

static line ball, lines[3];
static touch what;
static int players[2];

enum { ROUNDS = 400, BATCHES = 15 }; /* short ones: in a long one, other programs take a CPU away */

static uint64_t read_word(line *l)
{
    return atomic_load_explicit(&l->word, memory_order_acquire);
}

static void change(line *l)
{
    atomic_fetch_add_explicit(&l->word, 1, memory_order_relaxed);
}

static void await(uint64_t turn)
{
    while (read_word(&ball) != turn)
        __builtin_ia32_pause();
    for (int i = 0; i < 16; i++) /* until all that the other has stored is there */
        __builtin_ia32_pause();
}

static uint64_t ticks(void)
{
    __builtin_ia32_mfence();
    __builtin_ia32_lfence();
    uint64_t now = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return now;
}

static void touch_lines(void)
{
    if (what == READ || what == READ_AND_WRITE)
        read_word(&lines[0]);
    if (what != NOTHING && what != READ)
        change(&lines[0]);
    if (what == WRITE_THREE) {
        change(&lines[1]);
        change(&lines[2]);
    }
}

/* Without the tenths at both ends: interrupts are there. */
static double usual(double *all, size_t count)
{
    double sum = 0;
    size_t cut = count / 10;
    sim_median(all, count); /* which sorts them */
    for (size_t i = cut; i < count - cut; i++)
        sum += all[i];
    return sum / (double)(count - 2 * cut);
}

/* The ball has an even number in the hand of who changes the lines. */
static void *change_lines(void *unused)
{
    (void)unused;
    sim_run_on(players[1]);
    for (uint64_t i = 0; i < 2 * ROUNDS * BATCHES; i += 2) {
        await(2 * i);
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
            change(&lines[k]);
        atomic_store_explicit(&ball.word, 2 * i + 1, memory_order_release);
        await(2 * i + 2);
        if (what == WRITE_SHARED)
            read_word(&lines[0]);
        atomic_store_explicit(&ball.word, 2 * i + 3, memory_order_release);
    }
    return NULL;
}

/* Ticks that it takes; negative if there is no second thread. */
static double took(touch t)
{
    pthread_t other;
    double batches[BATCHES], rounds[ROUNDS];
    what = t;
    atomic_store(&ball.word, 0);
    sim_run_on(players[0]);
    if (pthread_create(&other, NULL, change_lines, NULL) != 0)
        return -1;
    for (uint64_t i = 0; i < 2 * ROUNDS * BATCHES; i += 2) {
        await(2 * i + 1);
        if (what == WRITE_SHARED)
            read_word(&lines[0]);
        atomic_store_explicit(&ball.word, 2 * i + 2, memory_order_release);
        await(2 * i + 3);
        uint64_t from = ticks();
        touch_lines();
        uint64_t round = i / 2;
        rounds[round % ROUNDS] = (double)(ticks() - from);
        if (round % ROUNDS == ROUNDS - 1)
            batches[round / ROUNDS] = usual(rounds, ROUNDS);
        atomic_store_explicit(&ball.word, 2 * i + 4, memory_order_release);
    }
    pthread_join(other, NULL);
    return sim_median(batches, BATCHES);
}

static double ticks_each_ns(void)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    uint64_t start = ticks();
    double ns;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        ns = (double)(now.tv_sec - from.tv_sec) * 1e9 + (double)(now.tv_nsec - from.tv_nsec);
    } while (ns < 2e7);
    return (double)(ticks() - start) / ns;
}

bool sim_lines(int first, int second, double atomic_ns, sim_line_times *times)
{
    double ns[TOUCHES], each = ticks_each_ns();
    players[0] = first;
    players[1] = second;
    for (touch t = NOTHING; t < TOUCHES; t++) {
        ns[t] = took(t) / each;
        if (ns[t] < 0)
            return false;
        ns[t] -= t > NOTHING ? ns[NOTHING] : 0;
    }
    times->read = ns[READ];
    times->write = ns[WRITE] - atomic_ns;
    times->upgrade = ns[WRITE_SHARED] - atomic_ns;
    times->read_moves = ns[READ_AND_WRITE] - ns[READ] - atomic_ns < times->upgrade / 2;
    times->more = (ns[WRITE_THREE] - ns[WRITE]) / 2 - atomic_ns;
    return true;
}
