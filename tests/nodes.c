/* nodes.c - the pool of queue nodes: nothing is lost, nothing is given out twice
 *
 * Its source is part of this program, so that the pool can be found in use.
 */
#include "sanitized.h"
#include "team.h"

#include "../src/nodes.c"
#include "../src/park/word.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 500, THREADS = 3 };

static size_t cached(void)
{
    size_t n = 0;
    for (const pawl_node *at = pawl_nodes_self.free; at != NULL; at = at->link)
        n++;
    return n;
}

/* Gets and puts `n` at once. */
static void use(size_t n)
{
    static __thread pawl_node *node[20 * MANY];
    for (size_t i = 0; i < n; i++)
        node[i] = pawl_node_get();
    for (size_t i = 0; i < n; i++)
        pawl_node_put(node[i]);
}

static void a_thread_keeps_as_many_as_it_should(const lock_info *unused)
{
    (void)unused;
    pawl_node *node[PAWL_NODES_KEPT + 10];
    for (int i = 0; i < PAWL_NODES_KEPT + 10; i++)
        node[i] = pawl_node_get();
    pawl_nodes_trim(0);
    CHECK(pawl_nodes_out() == PAWL_NODES_KEPT + 10, "%zu in use", pawl_nodes_out());
    for (int i = 0; i < PAWL_NODES_KEPT + 10; i++)
        pawl_node_put(node[i]);
    pawl_node_put_slow();
    CHECK(cached() == PAWL_NODES_KEPT, "%zu kept", cached());
    CHECK(pawl_nodes_self.puts_left == INT8_MAX, "looks again after %d", pawl_nodes_self.puts_left);
    pawl_nodes_trim(20);
    CHECK(cached() == 20 && pawl_nodes_out() == 20, "%zu of 20 kept, %zu out", cached(), pawl_nodes_out());
    pawl_nodes_trim(30);
    CHECK(cached() == 20, "%zu of 20 kept", cached());
    pawl_nodes_trim(0);
    CHECK(cached() == 0 && pawl_nodes_out() == 0, "%zu kept, %zu out", cached(), pawl_nodes_out());
}

/* ---- without memory */

static void no_more_memory(void)
{
    struct rlimit none = {0, 0}, no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_AS, &none);
}

static int status_of(void (*body)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0, "cannot fork");
    if (child == 0) {
        alarm(60);
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child, "no child");
    return status;
}

static void use_reserve(void)
{
    pawl_nodes_reserve(10 * MANY);
    no_more_memory();
    use(10 * MANY);
}

static void use_too_many(void)
{
    no_more_memory();
    use(10 * MANY);
}

/* An emulator may have memory all the same. */
static void map_a_page(void)
{
    no_more_memory();
    _exit(mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static void a_reserve_lasts(const lock_info *unused)
{
    (void)unused;
    if (status_of(map_a_page) != 0)
        skip("memory cannot be limited");
#ifdef SANITIZED
    skip("a sanitizer needs memory");
#endif
    int status = status_of(use_reserve);
    CHECK(status == 0, "status %#x", (unsigned)status);
    status = status_of(use_too_many);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %#x where no memory is left",
          (unsigned)status);
}

/* ---- threads */

static void take_and_give_back(int me, void *arg)
{
    (void)arg;
    for (size_t i = scaled(4000); i > 0; i--) {
        pawl_node *node[12];
        for (int k = 0; k < 12; k++) {
            node[k] = pawl_node_get();
            CHECK(atomic_load_explicit(&node[k]->next, memory_order_relaxed) == 0, "a node that is in use");
            atomic_store_explicit(&node[k]->next, (uint64_t)me + 1, memory_order_relaxed);
        }
        if (i % 64 == 0)
            pawl_nodes_reserve(i);
        for (int k = 0; k < 12; k++) {
            CHECK(atomic_load_explicit(&node[k]->next, memory_order_relaxed) == (uint64_t)me + 1,
                  "another's node");
            atomic_store_explicit(&node[k]->next, 0, memory_order_relaxed);
            pawl_node_put(node[k]);
        }
        pawl_nodes_trim(i % 3);
    }
}

static void no_node_is_given_out_twice(const lock_info *unused)
{
    (void)unused;
    team_run(THREADS, take_and_give_back, NULL);
    CHECK(pawl_nodes_out() == 0, "%zu still out", pawl_nodes_out());
}

static atomic_int ready, done;
static pawl_node *mine[2 * REFILL];
static int have;

static void refill(void)
{
    pawl_node_put(pawl_nodes_refill());
}

static void trim(void)
{
    pawl_node_put(mine[--have]);
    pawl_nodes_trim(0);
}

static void reserve(void)
{
    pawl_nodes_reserve(1);
}

static void ask(void)
{
    pawl_nodes_out();
}

/* It has nodes, but none left in its cache. */
static void have_nodes_and_go_on(int me, void *arg)
{
    (void)me;
    for (have = 0; have == 0 || pawl_nodes_self.free != NULL; have++)
        mine[have] = pawl_node_get();
    atomic_store(&ready, 1);
    await(&ready, 2);
    (*(void (**)(void))arg)();
    atomic_store(&done, 1);
    while (have > 0)
        pawl_node_put(mine[--have]);
}

static void a_pool_in_use_is_waited_for(const lock_info *unused)
{
    (void)unused;
    static void (*calls[])(void) = {refill, trim, reserve, ask};
    for (int i = 0; i < 4; i++) {
        team_member team[1];
        atomic_store(&ready, 0);
        atomic_store(&done, 0);
        team_start(team, 1, have_nodes_and_go_on, &calls[i]);
        await(&ready, 1);
        atomic_store(&pool.lock, 1);
        pawl_nodes_trim(0); /* has none, and needs no pool */
        atomic_store(&ready, 2);
        while (pawl_parked_threads() == 0)
            CHECK(!atomic_load(&done), "call %d does not wait", i);
        pawl_post(&pool.lock, 0);
        team_join(team, 1);
    }
    CHECK(pawl_nodes_out() == 0 && atomic_load(&pool.lock) == 0, "%zu still out", pawl_nodes_out());
}

/* Nodes that a destructor uses after the library's own has run come back, too. */
static pthread_key_t late;

static void use_late(void *node)
{
    use(20);
    if (node != &late)
        pawl_node_put(node);
}

static void put_late(void *node)
{
    pawl_node_put(node);
}

static void *end_with(void *value)
{
    use(20);
    CHECK(pthread_setspecific(late, value) == 0, "no value for the key");
    return NULL;
}

static void run_and_end(void *value)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_with, value) == 0, "cannot create a thread");
    pthread_join(thread, NULL);
    pawl_nodes_trim(0);
    CHECK(pawl_nodes_out() == 0, "%zu still out", pawl_nodes_out());
}

static void destructors_may_lock(const lock_info *unused)
{
    (void)unused;
    CHECK(pthread_key_create(&late, use_late) == 0, "no key");
    run_and_end(&late);
    run_and_end(pawl_node_get());
}

static void destructors_may_unlock(const lock_info *unused)
{
    (void)unused;
    CHECK(pthread_key_create(&late, put_late) == 0, "no key");
    run_and_end(pawl_node_get());
}

/* ---- fork */

static _Atomic(bool) stop;

static void take_until_stopped(int me, void *arg)
{
    (void)me, (void)arg;
    while (!atomic_load(&stop)) {
        use(20);
        pawl_nodes_trim(0);
    }
}

static void use_some(void)
{
    use(MANY);
}

static void a_child_has_a_pool(const lock_info *unused)
{
    (void)unused;
    team_member team[THREADS];
    team_start(team, THREADS, take_until_stopped, NULL);
    for (size_t i = scaled(1000); i > 0; i--)
        CHECK(status_of(use_some) == 0, "the child's pool is locked");
    atomic_store(&stop, true);
    team_join(team, THREADS);
}

static void expect_empty_pool(void)
{
    CHECK(pool.free == NULL && pool.free_count == 0 && atomic_load(&pool.lock) == 0, "half a list");
    use(MANY);
}

static void a_pool_in_use_is_given_up(const lock_info *unused)
{
    (void)unused;
    use(MANY);
    pawl_nodes_trim(0);
    atomic_store(&pool.lock, 1);
    int status = status_of(expect_empty_pool);
    CHECK(status == 0, "status %#x", (unsigned)status);
}

static void count(void)
{
    CHECK(pawl_nodes_out() == cached(), "%zu out, %zu cached", pawl_nodes_out(), cached());
}

static void a_child_has_its_parents_nodes(const lock_info *unused)
{
    (void)unused;
    use(MANY);
    int status = status_of(count);
    CHECK(status == 0, "status %#x", (unsigned)status);
}

#define NODES(promise)                                                                                       \
    {                                                                                                        \
        .name = #promise, .check = promise, .subject = "nodes"                                               \
    }

static const promise promises[] = {
    NODES(a_thread_keeps_as_many_as_it_should),
    NODES(a_reserve_lasts),
    NODES(no_node_is_given_out_twice),
    NODES(a_pool_in_use_is_waited_for),
    NODES(destructors_may_lock),
    NODES(destructors_may_unlock),
    NODES(a_child_has_a_pool),
    NODES(a_pool_in_use_is_given_up),
    NODES(a_child_has_its_parents_nodes),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
