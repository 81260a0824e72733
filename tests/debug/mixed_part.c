/* mixed_part.c - see mixed.h; KIND begins the names of the functions */
#include "mixed.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define NAME(what)  JOIN(KIND, what)

void NAME(lock)(mixed_shared *s)
{
    pawl_mutex_lock(&s->mutex);
}

void NAME(unlock)(mixed_shared *s)
{
    pawl_mutex_unlock(&s->mutex);
}

void NAME(take_turns)(mixed_shared *s, int me)
{
    for (int i = 0; i < 100; i++) {
        pawl_mutex_lock(&s->mutex);
        while (s->turn != me)
            pawl_cond_wait(&s->cond, &s->mutex);
        s->turn = 1 - me;
        pawl_cond_broadcast(&s->cond);
        pawl_mutex_unlock(&s->mutex);
        pawl_fairmutex_lock(&s->fair);
        pawl_fairmutex_unlock(&s->fair);
    }
}

void NAME(give_and_take)(mixed_shared *s)
{
    pawl_semaphore_post_n(&s->given, 2);
    pawl_semaphore_take(&s->given);
    while (!pawl_semaphore_trytake(&s->given))
        ;
}

/* The locks of the register are of one kind's code each. */
void NAME(use_every_lock)(void)
{
#define PAWL_LOCK(name, form, ...)                                                                           \
    {                                                                                                        \
        static pawl_##name l;                                                                                \
        PAWL_CTX_OF(name, form) c;                                                                           \
        PAWL_CALL(name, form, lock, &l, &c);                                                                 \
        PAWL_CALL(name, form, unlock, &l, &c);                                                               \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK
}

void NAME(invert)(void)
{
    static pawl_ticket a, b;
    pawl_ticket_ctx c, d;
    pawl_ticket_lock(&a, &c);
    pawl_ticket_lock(&b, &d);
    pawl_ticket_unlock(&b, &d);
    pawl_ticket_unlock(&a, &c);
    pawl_ticket_lock(&b, &d);
    pawl_ticket_lock(&a, &c);
    pawl_ticket_unlock(&a, &c);
    pawl_ticket_unlock(&b, &d);
}
