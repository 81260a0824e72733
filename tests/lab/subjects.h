/* subjects.h - locks and other programs, some of them wrong on purpose, for the tests of the engine */
#pragma once
#include "lab.h"

struct subject {
    const char *name;
    void (*lock)(void);
    void (*unlock)(void);
};

/* Correct. */
extern const struct subject ticket, mcs, clh, tas, tts, futex_mutex, stack_mcs, hapax_fixed;

/* Wrong: what is wrong, and what must be found. */
extern const struct subject test_then_set;  /* two-owners: test and set are two operations */
extern const struct subject tts_relaxed;    /* data-race: unlock does not release */
extern const struct subject futex_lost;     /* deadlock: sleeps without having announced it */
extern const struct subject hapax_listing;  /* deadlock: findings of the listing's orders, slots colliding */
extern const struct subject mcs_no_wait;    /* two-owners, or worse: does not wait for its link */
extern const struct subject stack_mcs_late; /* dead-thread-memory: touches the predecessor's frame late */

/* Program: `rounds` times lock and unlock, thread 0 once more if `extra`. Plain data in the critical section would
 * show two owners as a race. */
struct contest {
    const struct subject *subject;
    int rounds, extra;
    bool touches_data;
};
void contest_setup(void *contest);
void contest_thread(void *contest, int id);
void contest_finish(void *contest);

/* Single programs; the verdict each must give is in engine_test.c. */
void destroy_setup(void *unused);
void destroy_early(void *unused, int id);
void destroy_ordered(void *unused, int id);
void tls_reuse_unordered(void *unused, int id);
void tls_reuse_ordered(void *unused, int id);
void tls_is_reset(void *unused, int id);
void leaks(void *unused, int id);
void leaks_not(void *unused, int id);
void gives_back(void *destructor, int id);
void frees_twice(void *unused, int id);
void uses_after_free(void *unused, int id);
void clears_by_memset(void *unused, int id);
void clears_unordered(void *unused, int id);
void spins_for_a_while(void *unused, int id);
void spins_for_ever(void *unused, int id);
void waits_for_two_words(void *unused, int id);
void polls_by_exchange(void *unused, int id);
void livelock(void *unused, int id);
void times_out(void *unused, int id);
void naps_until_told(void *most, int id);
void naps_often_before(void *unused, int id);
void sleeps_without_timeout(void *unused, int id);
void wakes_spuriously(void *unused, int id);
void requeues(void *unused, int id);
void membarrier_dekker(void *unused, int id);
void unfenced_dekker(void *unused, int id);
void clock_deadline(void *unused, int id);
void on_stack_published(void *unused, int id);
void clear_subjects(void *unused);
