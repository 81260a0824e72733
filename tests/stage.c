/* stage.c - see stage.h */
#include "stage.h"

#include <stdlib.h>

static __thread actor *self;

void test_wait_turn(pawl_waiter *me, pawl_word *w, uint64_t seen, uint32_t which)
{
    (void)me, (void)w, (void)seen, (void)which;
    if (self != NULL && self->locking)
        atomic_store_explicit(&self->arrived, 1, memory_order_release);
    sched_yield();
}

int stage_idle(play *p, const actor *except)
{
    int idle[ACTORS_MOST], n = 0;
    for (int i = 0; i < p->actors; i++)
        if (!p->actor[i].waiting && !p->actor[i].owner && &p->actor[i] != except)
            idle[n++] = i;
    return n == 0 ? -1 : idle[draw_below(&p->random, (size_t)n)];
}

static void await_semaphore(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

static void cue(actor *a, verb verb)
{
    a->verb = verb;
    sem_post(&a->cue);
}

static void make_arrive(play *p, actor *a)
{
    a->waiting = true;
    a->arrived_at = p->arrivals++;
    a->segment = p->segment + 1;
    a->overtaken = 0;
    memset(a->overtaken_by, 0, sizeof a->overtaken_by);
    atomic_store_explicit(&a->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&a->tid, 0, memory_order_relaxed);
    p->waiting++;
    cue(a, ARRIVE);
    if (!p->lock->own_waiting)
        await(&a->arrived, 1);
    else
        await_asleep(&a->tid);
}

static void make_try(play *p, actor *a)
{
    cue(a, TRY);
    await_semaphore(&p->answered);
    CHECK(!p->answer, "trylock took a lock that is held");
}

/* Whether the register allows `a` to be the next among those that wait. */
static void check_order(const play *p, const actor *a)
{
    bool segments = p->lock->order == PAWL_SEGMENTS || p->lock->order == PAWL_SHUFFLED;
    CHECK(!segments || a->segment == p->segment,
          "admission %d: arrival %d is not of the segment being served", p->admissions, a->arrived_at);
    for (int i = 0; i < p->actors; i++) {
        const actor *w = &p->actor[i];
        if (!w->waiting || w == a)
            continue;
        CHECK(p->lock->order != PAWL_FIFO || w->arrived_at > a->arrived_at,
              "admission %d: arrival %d entered before %d", p->admissions, a->arrived_at, w->arrived_at);
        bool latest =
            p->lock->order == PAWL_LIFO || (p->lock->order == PAWL_SEGMENTS && w->segment == p->segment);
        CHECK(!latest || w->arrived_at < a->arrived_at,
              "admission %d: arrival %d entered before the later %d", p->admissions, a->arrived_at,
              w->arrived_at);
    }
}

static void count_overtakes(play *p, const actor *a)
{
    for (int i = 0; i < p->actors; i++) {
        actor *w = &p->actor[i];
        if (!w->waiting || w->arrived_at >= a->arrived_at)
            continue;
        int total = ++w->overtaken;
        int each = ++w->overtaken_by[a - p->actor];
        CHECK(p->lock->total == PAWL_UNBOUNDED || total <= p->lock->total,
              "overtaken %d times, declared bound %d", total, p->lock->total);
        CHECK(p->lock->each == PAWL_UNBOUNDED || each <= p->lock->each,
              "overtaken %d times by one thread, declared bound %d", each, p->lock->each);
    }
}

static void admit(play *p, actor *a)
{
    CHECK(p->owners++ == 0, "two owners");
    if (a->waiting) {
        check_order(p, a);
        count_overtakes(p, a);
        a->waiting = false;
        p->waiting--;
    }
    a->owner = true;
    p->log[p->admissions++] = (int)(a - p->actor);
}

/* Whether the segment being served is at its end: then those that wait are the next one. */
static void turn_segment(play *p)
{
    for (int i = 0; i < p->actors; i++)
        if (p->actor[i].waiting && p->actor[i].segment == p->segment)
            return;
    p->segment++;
}

static void release(play *p, actor *a, lock_ctx *c)
{
    bool idle = p->waiting == 0;
    int opener = idle && p->admissions < p->last ? stage_idle(p, a) : -1;
    turn_segment(p);
    a->owner = false;
    p->owners--;
    p->lock->unlock(p->l, c);
    if (!idle)
        return; /* the next owner directs */
    if (opener >= 0)
        cue(&p->actor[opener], p->lock->trylock != NULL && draw(&p->random) % 2 == 0 ? OPEN : ARRIVE);
    else
        sem_post(&p->over);
}

static void direct(play *p, actor *me, lock_ctx *c)
{
    admit(p, me);
    for (;;) {
        move m = p->script(p);
        if (m.verb == RELEASE)
            break;
        (m.verb == ARRIVE ? make_arrive : make_try)(p, &p->actor[m.who]);
    }
    release(p, me, c);
}

static void *act(void *arg)
{
    actor *me = self = arg;
    play *p = me->play;
    for (;;) {
        lock_ctx c;
        await_semaphore(&me->cue);
        switch (me->verb) {
        case ARRIVE:
            hook_settle(p->l);
            me->locking = true;
            atomic_store(&me->tid, (int)syscall(SYS_gettid));
            p->lock->lock(p->l, &c);
            me->locking = false;
            direct(p, me, &c);
            break;
        case OPEN:
            CHECK(p->lock->trylock(p->l, &c), "trylock failed on a free lock");
            direct(p, me, &c);
            break;
        case TRY:
            p->answer = p->lock->trylock(p->l, &c);
            sem_post(&p->answered);
            break;
        default:
            return NULL;
        }
    }
}

void stage_play(play *p)
{
    p->l = calloc(1, p->lock->size);
    sem_init(&p->answered, 0, 0);
    sem_init(&p->over, 0, 0);
    for (int i = 0; i < p->actors; i++) {
        actor *a = &p->actor[i];
        a->play = p;
        sem_init(&a->cue, 0, 0);
        CHECK(pthread_create(&a->thread, NULL, act, a) == 0, "cannot create a thread");
    }
    cue(&p->actor[0], ARRIVE);
    await_semaphore(&p->over);
    for (int i = 0; i < p->actors; i++)
        cue(&p->actor[i], LEAVE);
    for (int i = 0; i < p->actors; i++)
        pthread_join(p->actor[i].thread, NULL);
    if (p->lock->destroy != NULL)
        p->lock->destroy(p->l);
    free(p->l);
}
