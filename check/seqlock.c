/* seqlock.c - scenarios of the seqlock */
#include "state.h"

/* A word, and a part of one. */
typedef struct pair {
    uint32_t first, same, second;
} pair;

static bool write_pair(uint32_t value)
{
    pair from = {value, value, value};
    return pawl_seqlock_write(&state.seqlock, state.record, &from, sizeof from);
}

/* 0 if refused. */
static uint32_t read_pair(void)
{
    pair to;
    if (!pawl_seqlock_read(&state.seqlock, state.record, &to, sizeof to))
        return 0;
    lab_assert(to.first == to.second, "a copy belongs to one write");
    lab_assert(to.first != 0, "a copy belongs to a write");
    return to.first;
}

/* Two write, as often as they may; the others read. */
static void overlap(int id)
{
    int rounds = id == 0 || state.everyone ? state.iterations : 1;
    if (id >= 2) {
        read_pair();
        return;
    }
    for (int i = 0; i < rounds; i++)
        write_pair((uint32_t)(id * 8 + i + 1));
}

/* Whoever writes alone is read, whatever happened before. */
static void writes_again(void)
{
    read_pair();
    lab_assert(write_pair(99), "nobody else wrote");
    lab_assert(read_pair() == 99, "a write alone makes the record whole");
}

/* One writes, and never in vain; the others read twice, and never back in time. */
static void one_writer(int id)
{
    if (id == 0) {
        for (int i = 0; i < state.iterations; i++)
            lab_assert(write_pair((uint32_t)i + 1), "nobody else writes");
        return;
    }
    uint32_t first = read_pair(), second = read_pair();
    lab_assert(first == 0 || second == 0 || first <= second, "the second copy is not older");
}

/* A writer that is told so has written alone: if no other began later, that is what remains. */
static void take_turns(int id)
{
    if (write_pair((uint32_t)id + 1))
        state.entered[id] = 1;
}

static void last_one_remains(void)
{
    uint32_t value = read_pair();
    int alone = 0;
    for (int i = 0; i < state.threads; i++)
        alone += state.entered[i];
    lab_assert(value == 0 || state.entered[value - 1] != 0, "what can be read was written alone");
    lab_assert(alone < state.threads || value != 0, "if all wrote alone, the last can be read");
}

const scenario check_seqlock_scenarios[] = {
    {"overlap", "two writers, a reader", 3, 1, overlap, writes_again, NULL, false, false, 0},
    {"one-writer", "a writer, two readers", 3, 2, one_writer, writes_again, NULL, false, false, 0},
    {"turns", "three writers, then a reader", 3, 1, take_turns, last_one_remains, NULL, false, false, 0},
};
const int check_seqlock_scenario_count = sizeof check_seqlock_scenarios / sizeof check_seqlock_scenarios[0];

const lock_info check_seqlock = {
    .name = "seqlock", .each = PAWL_UNBOUNDED, .total = PAWL_UNBOUNDED, .waiting = PAWL_LOCAL};
