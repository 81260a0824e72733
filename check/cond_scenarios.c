/* cond_scenarios.c - scenarios of pawl_cond; listed in mutex_scenarios.c */
#include "mutex_state.h"

/* ---- pawl_cond over pawl_mutex */

static void await_ready(int want)
{
    while (it.ready < want)
        pawl_cond_wait(&it.cond, &it.mutex);
}

/* The first thread makes the condition true, the others wait for that. It signals with the lock held, or without. */
void cond_signal(int id)
{
    pawl_mutex_lock(&it.mutex);
    if (id == 0) {
        it.ready = 1;
        pawl_mutex_unlock(&it.mutex);
        pawl_cond_signal(&it.cond);
        pawl_cond_signal(&it.cond);
        return;
    }
    await_ready(1);
    it.data++;
    it.entered[id]++;
    pawl_mutex_unlock(&it.mutex);
}

void cond_broadcast(int id)
{
    pawl_mutex_lock(&it.mutex);
    if (id == 0) {
        it.ready = 1;
        pawl_cond_broadcast(&it.cond);
    } else {
        await_ready(1);
        it.data++;
        it.entered[id]++;
    }
    pawl_mutex_unlock(&it.mutex);
}

/* Requeued waiters sleep in the mutex's queue while another thread passes them. */
void mutex_pass(int id)
{
    cond_broadcast(id);
    for (int i = 0; id == 0 && i < 3; i++) {
        pawl_mutex_lock(&it.mutex);
        it.data++;
        it.entered[id]++;
        pawl_mutex_unlock(&it.mutex);
    }
}

/* One token and two takers, one of them with a deadline: a wait that times out has taken no signal. */
void cond_timed(int id)
{
    pawl_mutex_lock(&it.mutex);
    if (id == 0) {
        it.ready = 1;
        pawl_cond_signal(&it.cond);
    } else if (id == 1) {
        if (it.ready == 0 && pawl_cond_clockwait(&it.cond, &it.mutex, CLOCK_MONOTONIC, &soon) == 0 &&
            it.ready == 1)
            pawl_cond_signal(&it.cond); /* it did not want it: the other one may */
    } else {
        await_ready(1);
    }
    it.data++;
    it.entered[id]++;
    pawl_mutex_unlock(&it.mutex);
}

/* The condition variable is destroyed as soon as all were woken, wherever the waiters are by then. */
static void destroy_after(void (*wake)(pawl_cond *), int id, int waiters)
{
    pawl_mutex_lock(&it.mutex);
    it.data++;
    it.entered[id]++;
    if (id > 0) {
        it.references++;
        while (it.ready == 0)
            pawl_cond_clockwait(&it.cond, &it.mutex, CLOCK_MONOTONIC, &soon);
        pawl_mutex_unlock(&it.mutex);
        return;
    }
    bool all = it.references == waiters;
    it.ready = 1;
    wake(&it.cond);
    pawl_mutex_unlock(&it.mutex);
    if (all)
        lab_destroy(&it.cond, sizeof it.cond);
}

void cond_destroy(int id)
{
    destroy_after(pawl_cond_broadcast, id, 2);
}

void cond_destroy_late(int id)
{
    destroy_after(pawl_cond_broadcast, id, 1);
}

void cond_destroy_late_signal(int id)
{
    destroy_after(pawl_cond_signal, id, 1);
}

/* The one that was signalled destroys everything as soon as it can. */
void cond_destroy_signalled(int id)
{
    pawl_mutex_lock(&it.mutex);
    if (id == 0) {
        it.ready = 1;
        pawl_cond_signal(&it.cond);
        pawl_mutex_unlock(&it.mutex);
        return;
    }
    await_ready(1);
    pawl_mutex_unlock(&it.mutex);
    lab_destroy(&it.cond, sizeof it.cond);
    lab_destroy(&it.mutex, sizeof it.mutex);
}

/* ---- pawl_cond over another lock */

/* Broadcasts without the lock, so that only the condition variable orders what its waiters see of it. */
void cond_fair_broadcast(int id)
{
    pawl_fairmutex_lock(&it.fair);
    it.data++;
    it.entered[id]++;
    if (id == 0)
        it.ready = 1;
    while (it.ready == 0) {
        if (id == 1)
            pawl_cond_wait_fair(&it.cond, &it.fair);
        else
            pawl_cond_clockwait_fair(&it.cond, &it.fair, CLOCK_MONOTONIC, &soon);
    }
    it.data++;
    it.entered[id]++;
    pawl_fairmutex_unlock(&it.fair);
    if (id == 0)
        pawl_cond_broadcast(&it.cond);
}

void cond_fair_destroy(int id)
{
    pawl_fairmutex_lock(&it.fair);
    it.data++;
    it.entered[id]++;
    if (id > 0) {
        it.references++;
        while (it.ready == 0)
            pawl_cond_clockwait_fair(&it.cond, &it.fair, CLOCK_MONOTONIC, &soon);
        pawl_fairmutex_unlock(&it.fair);
        return;
    }
    bool all = it.references == 2;
    it.ready = 1;
    pawl_cond_broadcast(&it.cond);
    pawl_fairmutex_unlock(&it.fair);
    if (all)
        lab_destroy(&it.cond, sizeof it.cond);
}
