/* register.c - what locks.def declares about a lock's form is true */
#include "../src/slices.h"
#include "team.h"

#include <stdlib.h>

enum { HELD = 100 };

static void names_are_unique(const lock_info *none)
{
    (void)none;
    for (int i = 0; i < SUBJECTS; i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(subjects()[i].name, subjects()[j].name) != 0, "%s twice", subjects()[i].name);
}

/* Debug mode takes it from the header, everybody else from the register. */
static void debug_mode_knows_who_may_unlock(const lock_info *none)
{
    (void)none;
#define PAWL_LOCK(name, form, ...)                                                                           \
    PAWL_IF(form, CONTEXT, CHECK((pawl_##name##_how != 0) == lock_find(#name)->oblivious, "%s", #name), );
#include <pawl/locks.def>
#undef PAWL_LOCK
}

static void use_once(const lock_info *lock, void *l)
{
    lock_ctx c;
    lock->lock(l, &c);
    lock->unlock(l, &c);
    CHECK(lock->trylock == NULL || lock->trylock(l, &c), "trylock failed on a free lock");
    if (lock->trylock != NULL)
        lock->unlock(l, &c);
}

/* All-zero at the start, and again whenever nobody uses it, unless a node stays with the lock. At any address that
 * suits a word. */
static void all_zero_is_unlocked(const lock_info *lock)
{
    char *memory = calloc(2, lock->size + PAWL_SECTOR);
    for (size_t at = 0; at < PAWL_SECTOR; at += sizeof(uint64_t)) {
        use_once(lock, memory + at);
        if (lock->destroy != NULL)
            lock->destroy(memory + at);
        memset(memory, 0, lock->size + PAWL_SECTOR);
    }
    free(memory);
}

/* A young thread's slices are zero. */
static void *own(void *arg)
{
    const lock_info *lock = arg;
    char *l = calloc(1, lock->size);
    for (int i = 0; i < 100; i++)
        use_once(lock, l);
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        for (size_t at = 0; at < s->size; at++)
            CHECK(((char *)s->address())[at] == 0, "declares nothing per thread, but uses `%s`", s->name);
    free(l);
    return NULL;
}

static void nothing_per_thread(const lock_info *lock)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, own, (void *)(uintptr_t)lock) == 0, "cannot create a thread");
    pthread_join(thread, NULL);
}

static bool declares_nothing_per_thread(const lock_info *lock)
{
    return lock->thread_bytes == 0 && lock->held_bytes == 0 && lock->idle_bytes == 0;
}

/* Nodes in use while locks are held, and after. */
static void nodes_are_as_declared(const lock_info *lock)
{
    lock_ctx c[HELD];
    char *l = calloc(HELD, lock->size);
    size_t node = sizeof(pawl_node);
    for (size_t i = 0; i < HELD; i++)
        lock->lock(l + i * lock->size, &c[i]);
    pawl_nodes_trim(0);
    CHECK(pawl_nodes_out() * node == HELD * (lock->held_bytes + lock->idle_bytes),
          "%zu nodes for %d locks held", pawl_nodes_out(), HELD);
    for (size_t i = 0; i < HELD; i++)
        lock->unlock(l + i * lock->size, &c[i]);
    pawl_nodes_trim(0);
    CHECK(pawl_nodes_out() * node == HELD * lock->idle_bytes, "%zu nodes for %d idle locks", pawl_nodes_out(),
          HELD);
    for (size_t i = 0; lock->destroy != NULL && i < HELD; i++)
        lock->destroy(l + i * lock->size);
    free(l);
}

/* A context is a value: it may be moved. If the register says that it is not needed, nobody looks at it. */
typedef struct contexts {
    const lock_info *lock;
    void *l;
    size_t rounds, count;
} contexts;

static void move_contexts(int me, void *arg)
{
    contexts *x = arg;
    (void)me;
    for (size_t i = 0; i < x->rounds; i++) {
        lock_ctx c, moved;
        memset(&c, 0xA5, sizeof c);
        x->lock->lock(x->l, &c);
        if (x->lock->context)
            moved = c;
        else
            memset(&moved, 0xDB, sizeof moved);
        memset(&c, 0x5A, sizeof c);
        x->count++;
        x->lock->unlock(x->l, &moved);
    }
}

static void context_is_a_value(const lock_info *lock)
{
    contexts x = {.lock = lock, .l = calloc(1, lock->size), .rounds = scaled(3000)};
    team_run(3, move_contexts, &x);
    CHECK(x.count == 3 * x.rounds, "%zu of %zu critical sections counted", x.count, 3 * x.rounds);
    if (lock->destroy != NULL)
        lock->destroy(x.l);
    free(x.l);
}

/* Bounds and orders that contradict each other would make other tests vacuous. */
static void columns_agree(const lock_info *lock)
{
    bool fifo = lock->order == PAWL_FIFO, none = lock->order == PAWL_NONE;
    CHECK(fifo == (lock->total == 0), "FIFO and a bypass bound of 0 are the same");
    CHECK(lock->total == PAWL_UNBOUNDED || lock->each != PAWL_UNBOUNDED, "a total bounds each");
    CHECK(!none || lock->each == PAWL_UNBOUNDED, "a bound without an order");
    CHECK((lock->idle_bytes != 0) == (lock->release_idle != NULL),
          "what stays with the lock needs a destroy");
    CHECK(lock->held_bytes + lock->idle_bytes == 0 ||
              lock->held_bytes + lock->idle_bytes == sizeof(pawl_node),
          "one node per lock");
    CHECK(!lock->bounded_in_time || lock->total == PAWL_UNBOUNDED,
          "a bound in time is one where no number holds");
    CHECK(lock->prompt == (lock->room != PAWL_UNSAFE),
          "what must not be freed does not go into a pthread_mutex_t");
    CHECK(!lock->oblivious || lock->acquire_oblivious == NULL, "two functions for the same");
    CHECK(lock->size % sizeof(uint64_t) == 0, "a lock is made of words");
}

static const promise promises[] = {
    {.name = "names_are_unique", .check = names_are_unique, .subject = "register"},
    {.name = "debug_mode_knows_who_may_unlock",
     .check = debug_mode_knows_who_may_unlock,
     .subject = "register"},
    {.name = "columns_agree", .check = columns_agree},
    {.name = "all_zero_is_unlocked", .check = all_zero_is_unlocked},
    {.name = "nothing_per_thread", .check = nothing_per_thread, .concerns = declares_nothing_per_thread},
    {.name = "nodes_are_as_declared", .check = nodes_are_as_declared},
    {.name = "context_is_a_value", .check = context_is_a_value},
};

HARNESS_MAIN(promises)
