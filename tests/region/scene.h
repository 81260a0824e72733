/* scene.h - a region with one lock, of either kind, and what the tests of it share */
#pragma once

#include "common.h"

typedef struct memory {
    char before[4096 + 64]; /* a lock may lie anywhere */
    pawl_robust lock;
    long counter;
    _Atomic(int) flag, order, log[16];
} memory;

static const shared_kind *kind;
static int file;
static pawl_region *region;
static memory *shared;

static void set_up(const shared_kind *k)
{
    kind = k;
    file = new_file();
    region = new_region(file, sizeof(memory));
    shared = pawl_region_memory(region);
}

#define BOTH(promise)                                                                                        \
    static void mutex_##promise(const lock_info *none)                                                       \
    {                                                                                                        \
        (void)none;                                                                                          \
        set_up(&mutex_kind);                                                                                 \
        promise();                                                                                           \
    }                                                                                                        \
    static void hapax_##promise(const lock_info *none)                                                       \
    {                                                                                                        \
        (void)none;                                                                                          \
        set_up(&hapax_kind);                                                                                 \
        promise();                                                                                           \
    }

static void must(int error, const char *what)
{
    CHECK(error == 0, "%s: %s", what, strerror(error));
}

static void lock(void)
{
    must(kind->lock(region, &shared->lock), "lock");
}

static void unlock(void)
{
    must(kind->unlock(region, &shared->lock), "unlock");
}

static inline void lock_and_unlock(void *unused)
{
    (void)unused;
    lock();
    unlock();
}

static inline pthread_t a_thread(void *(*body)(void *arg), void *arg)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, arg) == 0, "pthread_create");
    return thread;
}

static inline void *expect_busy(void *unused)
{
    int error = kind->trylock(region, &shared->lock);
    CHECK(error == EBUSY, "trylock, while its owner lives: %s", strerror(error));
    return unused;
}
