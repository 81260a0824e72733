/* state.h - the memory that scenarios work on */
#pragma once

#include "scenarios.h"

#include <pawl/detail/nodes.h>

#define CHECK_LOCKS 2
#define CHECK_NODES 3

typedef struct check_state {
    _Alignas(256) lock_memory lock[CHECK_LOCKS];
    _Alignas(128) int data[CHECK_LOCKS];
    int entered[LAB_MAX_THREADS];
    int references;
    lock_ctx handed;
    _Atomic(int) flag;
    pawl_semaphore semaphore;
    pawl_seqlock seqlock;
    pawl_word record[2];
    pawl_node node[LAB_MAX_THREADS][CHECK_NODES];

    /* Constant while an exploration runs. */
    const scenario *scenario;
    scenario_setting with;
    int threads, iterations, locks;
    bool everyone;
} check_state;

extern check_state state;

/* interposed.c */
void interposed_hand_off(int id);
void interposed_hand_off_between(int id);
void interposed_orphan(int id);
void interposed_idle(int id);
bool interposed_is_oblivious(const lock_info *lock);
bool interposed_is_made_oblivious(const lock_info *lock);
bool interposed_can_be_idle(const lock_info *lock);

/* A deadline that has not passed yet, or nobody would wait: a thread's clock stands at a second when it begins. The lab
 * lets it pass while the thread sleeps, whenever that makes a difference. */
static inline struct timespec in_a_second(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec++;
    return t;
}
