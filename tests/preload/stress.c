/* stress.c - many threads: exclusion, and no access to freed memory, however waiters wait */
#include "case.h"

#include <sys/mman.h>

/* ---- exclusion */

typedef struct scene {
    pthread_mutex_t mutex;
    int turns;
    long count;
    _Atomic(int) inside;
} scene;

static void *count_up(void *argument)
{
    scene *s = argument;
    for (int i = 0; i < s->turns; i++) {
        OK(pthread_mutex_lock(&s->mutex));
        CHECK_IS(s->inside++, 0);
        s->count++;
        CHECK_IS(--s->inside, 0);
        OK(pthread_mutex_unlock(&s->mutex));
    }
    return NULL;
}

static void count_together(int threads, int turns)
{
    static scene s;
    pthread_t t[8];
    s.turns = turns;
    for (int i = 0; i < threads; i++)
        t[i] = spawn(count_up, &s);
    for (int i = 0; i < threads; i++)
        join(t[i]);
    CHECK_IS(s.count, (long)threads * turns);
    OK(pthread_mutex_destroy(&s.mutex));
}

static void eight_threads_exclude_each_other(void)
{
    count_together(8, 1500);
}

static void two_threads_exclude_each_other(void)
{
    count_together(2, 20000);
}

/* ---- the next owner frees it */

enum { PAGES = 1500, USERS = 3, PAGE = 4096 };

typedef struct page {
    pthread_mutex_t mutex;
    int users;
} page;

static char *pages;

/* The last one out makes the page inaccessible, while the others may still be on their way out. */
static void *pass_through_all(void *unused)
{
    for (int i = 0; i < PAGES; i++) {
        page *p = (page *)(pages + (size_t)i * PAGE + i % 8 * 8);
        OK(pthread_mutex_lock(&p->mutex));
        bool last = --p->users == 0;
        if (i % 64 == 0)
            pause_ms(1); /* for those that sleep */
        OK(pthread_mutex_unlock(&p->mutex));
        if (last)
            OK(mprotect(pages + (size_t)i * PAGE, PAGE, PROT_NONE));
    }
    return unused;
}

static void an_unlocked_mutex_is_not_touched_again(void)
{
    pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    for (int i = 0; i < PAGES; i++)
        ((page *)(pages + (size_t)i * PAGE + i % 8 * 8))->users = USERS;
    pthread_t t[USERS];
    for (int i = 0; i < USERS; i++)
        t[i] = spawn(pass_through_all, NULL);
    for (int i = 0; i < USERS; i++)
        join(t[i]);
}

/* As pigz does: a job is waited for with its own mutex and condition variable, and freed by whoever saw it done. */
typedef struct job {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
} job;

static job *_Atomic next_job;

static void *work(void *unused)
{
    for (int i = 0; i < 400; i++) {
        job *j;
        while ((j = next_job) == NULL)
            sched_yield();
        next_job = NULL;
        OK(pthread_mutex_lock(&j->mutex));
        j->done = true;
        OK(pthread_cond_signal(&j->cond));
        OK(pthread_mutex_unlock(&j->mutex));
    }
    return unused;
}

static void a_job_is_freed_by_the_one_that_waited(void)
{
    pthread_t worker = spawn(work, NULL);
    for (int i = 0; i < 400; i++) {
        job *j = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(j != MAP_FAILED);
        OK(pthread_mutex_init(&j->mutex, NULL));
        OK(pthread_cond_init(&j->cond, NULL));
        next_job = j;
        OK(pthread_mutex_lock(&j->mutex));
        while (!j->done)
            OK(pthread_cond_wait(&j->cond, &j->mutex));
        OK(pthread_mutex_unlock(&j->mutex));
        OK(pthread_cond_destroy(&j->cond));
        OK(pthread_mutex_destroy(&j->mutex));
        OK(munmap(j, PAGE));
    }
    join(worker);
}

/* ---- several at a time */

enum { FORKS = 5 };
static pthread_mutex_t chopstick[FORKS];
static int meals[FORKS];

static void *dine(void *argument)
{
    int me = (int)(intptr_t)argument, low = me, high = (me + 1) % FORKS;
    if (low > high) {
        low = high;
        high = me;
    }
    for (int i = 0; i < 400; i++) {
        OK(pthread_mutex_lock(&chopstick[low]));
        OK(pthread_mutex_lock(&chopstick[high]));
        meals[me]++;
        OK(pthread_mutex_unlock(i % 2 ? &chopstick[low] : &chopstick[high]));
        OK(pthread_mutex_unlock(i % 2 ? &chopstick[high] : &chopstick[low]));
    }
    return NULL;
}

static void philosophers_dine(void)
{
    pthread_t t[FORKS];
    for (intptr_t i = 0; i < FORKS; i++)
        t[i] = spawn(dine, (void *)i);
    for (int i = 0; i < FORKS; i++)
        join(t[i]);
    for (int i = 0; i < FORKS; i++)
        CHECK_IS(meals[i], 400);
}

const test_case stress_cases[] = {CASE(eight_threads_exclude_each_other),
                                  CASE(two_threads_exclude_each_other),
                                  {.name = "threads_that_spin_exclude_each_other",
                                   .run = two_threads_exclude_each_other,
                                   .environment = "PAWL_WAIT=spin"},
                                  {.name = "threads_that_yield_exclude_each_other",
                                   .run = eight_threads_exclude_each_other,
                                   .environment = "PAWL_WAIT=yield"},
                                  {.name = "threads_that_park_exclude_each_other",
                                   .run = eight_threads_exclude_each_other,
                                   .environment = "PAWL_WAIT=park"},
                                  {.name = "threads_exclude_each_other_without_membarrier",
                                   .run = eight_threads_exclude_each_other,
                                   .environment = "PAWL_NO_MEMBARRIER=1"},
                                  CASE(an_unlocked_mutex_is_not_touched_again),
                                  CASE(a_job_is_freed_by_the_one_that_waited),
                                  CASE(philosophers_dine),
                                  {0}};
