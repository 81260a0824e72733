/* pthread.c - the thread services that lock libraries use around their locks
 *
 * libc keeps its state where the lab neither sees nor undoes it: a pthread_once that ran in one execution would not
 * run in the next, and destructors of thread-specific data would wait for the end of a thread that never ends. So
 * both are done here for fibers; on the host libc does them.
 */
#define _GNU_SOURCE
#include "backend.h"
#include "shadow.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

enum { MAX_KEYS = 1024, FIRST_OWN = MAX_KEYS - 32, MAX_VALUES = 32, ROUNDS = 4 };
enum { ONCE_NEW = 0, ONCE_RUNNING = 1, ONCE_DONE = 2 }; /* as in glibc: the host may have been there before */

static void (*destructors[MAX_KEYS])(void *);
static unsigned own_keys; /* created in this execution: FIRST_OWN and up */

static struct values {
    unsigned count;
    struct { pthread_key_t key; void *value; } list[MAX_VALUES];
} specific[LAB_SLOTS];

#define PC __builtin_return_address(0)

/* The function that this file hides. */
#define REAL(name) ((__typeof__(&name))real(#name))

static uintptr_t real(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f)
        lab_die("a pthread function is missing");
    return (uintptr_t)f;
}

void lab_pthread_reset(void)
{
    own_keys = 0;
    for (int i = 0; i < LAB_SLOTS; i++)
        specific[i].count = 0;
}

int pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (!lab_checking())
        return REAL(pthread_once)(once, run);
    uintptr_t word = (uintptr_t)once;
    uint64_t seen;
    while ((seen = lab_backend->load(word, sizeof *once, __ATOMIC_ACQUIRE, PC)) != ONCE_DONE) {
        if (seen != ONCE_NEW || !lab_backend->cas(word, sizeof *once, &seen, ONCE_RUNNING, false, __ATOMIC_ACQUIRE,
                                                  __ATOMIC_RELAXED, PC))
            continue;
        run();
        lab_backend->store(word, sizeof *once, ONCE_DONE, __ATOMIC_RELEASE, PC);
        return 0;
    }
    return 0;
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    if (lab_checking()) {
        if (FIRST_OWN + own_keys == MAX_KEYS)
            return EAGAIN;
        *key = FIRST_OWN + own_keys++;
    } else {
        int error = REAL(pthread_key_create)(key, destructor);
        if (error)
            return error;
    }
    if (*key < MAX_KEYS)
        destructors[*key] = destructor;
    return 0;
}

static void **value_of(pthread_key_t key)
{
    struct values *v = &specific[lab_current->id];
    for (unsigned i = 0; i < v->count; i++)
        if (v->list[i].key == key)
            return &v->list[i].value;
    if (v->count == MAX_VALUES)
        return NULL;
    v->list[v->count].key = key;
    v->list[v->count].value = NULL;
    return &v->list[v->count++].value;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (!lab_checking())
        return REAL(pthread_setspecific)(key, value);
    void **slot = key < MAX_KEYS ? value_of(key) : NULL;
    if (!slot)
        return EINVAL;
    *slot = (void *)(uintptr_t)value;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    if (!lab_checking())
        return REAL(pthread_getspecific)(key);
    void **slot = key < MAX_KEYS ? value_of(key) : NULL;
    return slot ? *slot : NULL;
}

void lab_pthread_end(void)
{
    struct values *v = &specific[lab_current->id];
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < v->count; i++) {
            void *value = v->list[i].value;
            v->list[i].value = NULL;
            if (value && destructors[v->list[i].key])
                destructors[v->list[i].key](value);
        }
}
