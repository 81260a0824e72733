/* graph.c - debug mode's records, compared with a plain table of the same; and the stacks in them */
#include "harness.h"

#include "../../src/debug_graph.h"

#include <execinfo.h>

static int backtraces;

static int counted_backtrace(void **frames, int size)
{
    backtraces++;
    return backtrace(frames, size);
}

#define backtrace counted_backtrace
#include "../../src/debug_stack.c"
#undef backtrace

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { LOCKS = 300, CROWD = 40000, STEPS = 60000 };

static char crowd[CROWD], addresses[LOCKS];
static bool known[LOCKS], comes_before[LOCKS][LOCKS];
static debug_thread *me;

static int at_random(int below)
{
    static uint64_t x = 88172645463325252;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (int)(x % (uint64_t)below);
}

static int number_of(const debug_lock *l)
{
    return (int)((const char *)l->address - addresses);
}

/* ---- finding locks again: many share a bucket */

static void many_locks_are_told_apart(const lock_info *unused)
{
    (void)unused;
    static debug_lock *its[CROWD];
    static const debug_stack stack;
    me = pawl_debug_thread_new(1);
    for (int i = 0; i < CROWD; i++) {
        CHECK(pawl_debug_lock_find(&crowd[i]) == NULL, "known before its time");
        its[i] = pawl_debug_lock_get(&crowd[i], "kind");
        CHECK(its[i]->address == &crowd[i] && strcmp(its[i]->kind, "kind") == 0, "another one");
        pawl_debug_lock_own(its[i], me, &stack);
        CHECK(its[i]->owner == me && its[i]->taken == &stack && me->held == its[i], "not owned");
    }
    for (int i = 0; i < CROWD; i++)
        CHECK(pawl_debug_lock_get(&crowd[i], "kind") == its[i], "not found again");
    for (int i = 0; i < CROWD; i += 2) {
        pawl_debug_lock_forget_unused(its[i]);
        CHECK(pawl_debug_lock_find(&crowd[i]) == its[i], "one that is held was forgotten");
        pawl_debug_lock_disown(its[i]);
        pawl_debug_lock_forget_unused(its[i]);
    }
    for (int i = 0; i < CROWD; i++)
        CHECK(pawl_debug_lock_find(&crowd[i]) == (i % 2 == 0 ? NULL : its[i]), "forgotten, or not");
    int held = 0;
    for (const debug_lock *l = me->held; l != NULL; l = l->next_held)
        held++;
    CHECK(held == CROWD / 2, "%d are held", held);
    for (int i = 1; i < CROWD; i += 2)
        pawl_debug_lock_forget(its[i]);
    CHECK(me->held == NULL, "forgotten, and held");
}

/* ---- orders */

static int degree(int i, bool out)
{
    int n = 0;
    for (int k = 0; k < LOCKS; k++)
        n += out ? comes_before[i][k] : comes_before[k][i];
    return n;
}

static void check_orders_of(int i)
{
    const debug_lock *l = pawl_debug_lock_find(&addresses[i]);
    int out = 0, in = 0;
    for (const debug_edge *e = l->out; e != NULL; e = e->next_out, out++)
        CHECK(e->from == l && comes_before[i][number_of(e->to)], "an order that is none");
    for (const debug_edge *e = l->in; e != NULL; e = e->next_in, in++)
        CHECK(e->to == l && comes_before[number_of(e->from)][i], "an order that is none");
    CHECK(out == degree(i, true) && in == degree(i, false), "%d and %d orders", out, in);
}

static void step(void)
{
    int from = at_random(LOCKS), to = at_random(LOCKS);
    if (from == to)
        return;
    if (known[from] && at_random(30) == 0) {
        check_orders_of(from);
        pawl_debug_lock_forget(pawl_debug_lock_find(&addresses[from]));
        CHECK(pawl_debug_lock_find(&addresses[from]) == NULL, "forgotten, and found");
        known[from] = false;
        for (int k = 0; k < LOCKS; k++)
            comes_before[from][k] = comes_before[k][from] = false;
        return;
    }
    debug_lock *a = pawl_debug_lock_get(&addresses[from], "a"), *b = pawl_debug_lock_get(&addresses[to], "b");
    bool news = pawl_debug_order(a, b, 7, NULL);
    CHECK(news == !comes_before[from][to], "%s", news ? "known before" : "not known before");
    known[from] = known[to] = comes_before[from][to] = true;
    pawl_debug_lock_forget_unused(a);
    CHECK(pawl_debug_lock_find(&addresses[from]) == a, "one that has an order was forgotten");
    pawl_debug_lock_forget_unused(b);
    CHECK(pawl_debug_lock_find(&addresses[to]) == b, "one that has an order was forgotten");
}

static void orders_are_kept_and_forgotten(const lock_info *unused)
{
    (void)unused;
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < LOCKS; i++)
        if (known[i])
            check_orders_of(i);
}

/* ---- ways */

enum { FEW = 40 };
static int distance[FEW][FEW]; /* 0: no way */

static void measure(void)
{
    for (int i = 0; i < FEW; i++)
        for (int k = 0; k < FEW; k++)
            distance[i][k] = comes_before[i][k];
    for (int via = 0; via < FEW; via++)
        for (int i = 0; i < FEW; i++)
            for (int k = 0; k < FEW; k++) {
                int d = distance[i][via] + distance[via][k];
                if (distance[i][via] > 0 && distance[via][k] > 0 &&
                    (distance[i][k] == 0 || d < distance[i][k]))
                    distance[i][k] = d;
            }
}

static void check_way(int from, int to)
{
    debug_lock *a = pawl_debug_lock_get(&addresses[from], ""), *b = pawl_debug_lock_get(&addresses[to], "");
    CHECK(pawl_debug_comes_before(a, b) == (distance[from][to] > 0), "no way, or one too many");
    int length = 0;
    for (const debug_lock *at = b; distance[from][to] > 0 && at != a; at = at->way->from, length++)
        CHECK(at->way->to == at && comes_before[number_of(at->way->from)][number_of(at)], "not on the way");
    CHECK(length == distance[from][to], "%d steps instead of %d", length, distance[from][to]);
}

static void the_shortest_way_is_found(const lock_info *unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < FEW + FEW / 4; i++) {
            int from = at_random(FEW), to = at_random(FEW);
            if (from == to)
                continue;
            pawl_debug_order(pawl_debug_lock_get(&addresses[from], ""),
                             pawl_debug_lock_get(&addresses[to], ""), 7, NULL);
            comes_before[from][to] = true;
        }
        measure();
        for (int from = 0; from < FEW; from++)
            for (int to = 0; to < FEW; to++)
                if (from != to)
                    check_way(from, to);
        for (int i = 0; i < FEW; i++)
            pawl_debug_lock_forget(pawl_debug_lock_get(&addresses[i], ""));
        memset(comes_before, 0, sizeof comes_before);
    }
}

/* ---- memory */

/* What is in use at a time is little. What is taken from the system in all is what lies between two requests. */
static void what_is_forgotten_is_used_again(const lock_info *unused)
{
    (void)unused;
    char *before = pawl_debug_memory(16);
    for (int i = 0; i < 10000; i++) {
        debug_thread *t = pawl_debug_thread_new(i + 1), *u = pawl_debug_thread_new(i + 2);
        CHECK(t->id == i + 1 && t->held == NULL && t->wanted == NULL && u != t, "not a new thread");
        t->wanted = "something";
        debug_lock *a = pawl_debug_lock_get(&addresses[0], "a"), *b = pawl_debug_lock_get(&addresses[1], "b");
        debug_lock *c = pawl_debug_lock_get(&addresses[2], "c");
        CHECK(pawl_debug_order(a, b, 7, NULL) && pawl_debug_order(b, c, 7, NULL), "not news");
        pawl_debug_lock_forget(b);
        pawl_debug_lock_forget_unused(a);
        pawl_debug_lock_forget_unused(c);
        pawl_debug_thread_free(t);
        pawl_debug_thread_free(u);
    }
    ptrdiff_t taken = (char *)pawl_debug_memory(16) - before;
    CHECK(taken > 0 && taken < 4096, "%td bytes for a few objects", taken);
}

static void memory_is_zero_aligned_and_apart(const lock_info *unused)
{
    (void)unused;
    static char *piece[100];
    for (int i = 0; i < 100; i++) {
        size_t size = 10001;
        piece[i] = pawl_debug_memory(size);
        CHECK((uintptr_t)piece[i] % 16 == 0, "not aligned");
        for (size_t k = 0; k < size; k++)
            CHECK(piece[i][k] == 0, "not zero, or another's");
        memset(piece[i], i + 1, size);
    }
    for (int i = 0; i < 100; i++)
        CHECK(piece[i][0] == i + 1 && piece[i][10000] == i + 1, "written by another");
}

static void without_memory_nothing_is_known(const lock_info *unused)
{
    (void)unused;
    debug_lock *a = pawl_debug_lock_get(&addresses[0], "a"), *b = pawl_debug_lock_get(&addresses[1], "b");
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0, "setrlimit");
    while (pawl_debug_memory(16) != NULL)
        ;
    CHECK(!pawl_debug_order(a, b, 7, NULL) && a->out == NULL && b->in == NULL, "an order without memory");
    CHECK(pawl_debug_lock_get(&addresses[2], "c") == NULL, "a lock without memory");
    CHECK(pawl_debug_thread_new(1) == NULL, "a thread without memory");
    CHECK(keep((void *[]){a, b}, 2) == NULL, "a stack without memory");
}

/* ---- stacks */

static const debug_stack *latest;

__attribute__((noinline)) static void *note(void)
{
    void *caller = __builtin_return_address(0);
    latest = pawl_debug_stack_here(caller);
    return caller;
}

/* A different stack for every number: each bit selects from which of two places a call comes. The code before and
 * after the two differs, or the compiler would merge them. */
__attribute__((noinline)) static void note_from(unsigned number, int bits)
{
    if (bits == 0) {
        note();
        __asm__ volatile("# the last");
    } else if (number & 1) {
        __asm__ volatile("# to odd");
        note_from(number >> 1, bits - 1);
        __asm__ volatile("# odd");
    } else {
        __asm__ volatile("# to even");
        note_from(number >> 1, bits - 1);
        __asm__ volatile("# even");
    }
}

static void a_stack_is_kept_once(const lock_info *unused)
{
    (void)unused;
    enum { BITS = 12 };
    static const debug_stack *first[1 << BITS];
    pawl_debug_stack_prepare();
    CHECK(backtraces == 1, "not prepared: the first backtrace loads code");
    volatile unsigned next =
        0; /* a compiler that knows it makes two places of one, by unrolling or splitting */
    for (unsigned i; (i = next) < 2 << BITS; next = i + 1) {
        unsigned number = i % (1 << BITS);
        note_from(number, BITS);
        CHECK(i == number || latest == first[number], "kept twice");
        first[number] = latest;
    }
    for (unsigned i = 1; i < 1 << BITS; i++)
        CHECK(first[i] != first[i - 1], "two stacks are one");
    int used = 0;
    for (int i = 0; i < BUCKETS; i++)
        used += stacks[i] != NULL;
    CHECK(used > BUCKETS / 4, "%d buckets for %d stacks", used, 1 << BITS);
}

static void a_stack_begins_with_the_caller(const lock_info *unused)
{
    (void)unused;
    void *caller = note(), *frames[DEBUG_FRAMES];
    int depth = backtrace(frames, DEBUG_FRAMES);
    CHECK(latest->frame[0] == caller && depth > 1 && latest->depth == depth && depth < DEBUG_FRAMES,
          "%d frames instead of %d", latest->depth, depth);
    note_from(0, 30);
    CHECK(latest->depth == DEBUG_FRAMES, "%d frames of many", latest->depth);
}

#define GRAPH(promise)                                                                                       \
    {                                                                                                        \
        .name = #promise, .check = promise, .subject = "graph"                                               \
    }

static const promise promises[] = {
    GRAPH(many_locks_are_told_apart),        GRAPH(orders_are_kept_and_forgotten),
    GRAPH(the_shortest_way_is_found),        GRAPH(what_is_forgotten_is_used_again),
    GRAPH(memory_is_zero_aligned_and_apart), GRAPH(a_stack_is_kept_once),
    GRAPH(a_stack_begins_with_the_caller),   GRAPH(without_memory_nothing_is_known),
};

HARNESS_MAIN(promises)
