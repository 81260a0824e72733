/* cond_lost.c - no signal is lost among many waiters */
#include "case.h"

enum { ROOM = 3, ITEMS = 1500 };

typedef struct buffer {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    int count, made, taken;
} buffer;

static void *make(void *argument)
{
    buffer *b = argument;
    for (;;) {
        OK(pthread_mutex_lock(&b->mutex));
        while (b->count == ROOM)
            OK(pthread_cond_wait(&b->not_full, &b->mutex));
        bool end = b->made == ITEMS;
        if (!end) {
            b->made++;
            b->count++;
        }
        OK(pthread_cond_signal(end ? &b->not_full : &b->not_empty));
        OK(pthread_mutex_unlock(&b->mutex));
        if (end)
            return NULL;
    }
}

static void *take(void *argument)
{
    buffer *b = argument;
    for (;;) {
        OK(pthread_mutex_lock(&b->mutex));
        while (b->count == 0 && b->taken < ITEMS) {
            struct timespec later = in_ms(CLOCK_REALTIME, 200000);
            OK(b->taken % 2 ? pthread_cond_wait(&b->not_empty, &b->mutex)
                            : pthread_cond_timedwait(&b->not_empty, &b->mutex, &later));
        }
        bool end = b->taken == ITEMS;
        if (!end) {
            b->count--;
            b->taken++;
        }
        OK(pthread_cond_signal(end || b->taken == ITEMS ? &b->not_empty : &b->not_full));
        if (b->taken == ITEMS)
            OK(pthread_cond_signal(&b->not_full));
        OK(pthread_mutex_unlock(&b->mutex));
        if (end)
            return NULL;
    }
}

/* A lost signal would leave somebody asleep with work to do. */
static void no_signal_is_lost(void)
{
    static buffer b;
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        t[i] = spawn(i % 2 ? make : take, &b);
    for (int i = 0; i < 8; i++)
        join(t[i]);
    CHECK_IS(b.taken, ITEMS);
}

/* After the pattern of glibc's bug 25847, where a signal could go to a waiter that came later, and be lost: groups of
 * waiters that come and go, of which exactly as many are signalled as wait. */
typedef struct groups {
    pthread_mutex_t mutex;
    pthread_cond_t cond, done;
    int tickets, woken, rounds;
} groups;

enum { ROUNDS = 400, GROUP = 4 };

static void *come_and_go(void *argument)
{
    groups *g = argument;
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&g->mutex));
        int mine = g->rounds;
        g->tickets++;
        OK(pthread_cond_signal(&g->done));
        while (g->rounds == mine)
            OK(pthread_cond_wait(&g->cond, &g->mutex));
        OK(pthread_mutex_unlock(&g->mutex));
    }
    return NULL;
}

static void a_signal_reaches_those_that_wait(void)
{
    static groups g;
    pthread_t t[GROUP];
    for (int i = 0; i < GROUP; i++)
        t[i] = spawn(come_and_go, &g);
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&g.mutex));
        while (g.tickets < GROUP)
            OK(pthread_cond_wait(&g.done, &g.mutex));
        g.tickets = 0;
        g.rounds++;
        OK(pthread_mutex_unlock(&g.mutex));
        for (int k = 0; k < GROUP; k++) /* one each, and not under the mutex */
            OK(pthread_cond_signal(&g.cond));
    }
    for (int i = 0; i < GROUP; i++)
        join(t[i]);
}

const test_case cond_lost_cases[] = {CASE(no_signal_is_lost), BEYOND(a_signal_reaches_those_that_wait), {0}};
