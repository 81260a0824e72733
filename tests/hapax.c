/* hapax.c - hapaxes: unique for ever, block after block, until there are none left
 *
 * How the counter starts is not exported, so its source is part of this program.
 */
#include "generator.h"
#include "sanitized.h"

#include "../src/hapax_block.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 1 << PAWL_HAPAX_BITS, THREADS = 4, BLOCKS_EACH = 3 };

typedef struct census {
    uint64_t *seen[THREADS]; /* what each thread was given */
    size_t each;
} census;

static void collect(int me, void *arg)
{
    census *c = arg;
    for (size_t i = 0; i < c->each; i++)
        c->seen[me][i] = pawl_hapax_next();
}

static void collect_blocks(int me, void *arg)
{
    census *c = arg;
    for (size_t i = 0; i < c->each; i++)
        c->seen[me][i] = pawl_hapax_refill();
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_unique(void (*collect)(int me, void *arg), size_t each)
{
    census c = {.each = each};
    uint64_t *all = calloc(THREADS * each, sizeof *all);
    for (int i = 0; i < THREADS; i++)
        c.seen[i] = all + (size_t)i * each;
    team_run(THREADS, collect, &c);
    for (size_t i = 0; i < THREADS * each; i++)
        CHECK(all[i] != 0, "zero was issued");
    qsort(all, THREADS * each, sizeof *all, compare);
    for (size_t i = 1; i < THREADS * each; i++)
        CHECK(all[i - 1] != all[i], "%#llx was issued twice", (unsigned long long)all[i]);
    free(all);
}

static void values_are_unique(const lock_info *none)
{
    (void)none;
    check_unique(collect, BLOCKS_EACH * BLOCK + BLOCK / 2);
}

static void blocks_are_unique(const lock_info *none)
{
    (void)none;
    check_unique(collect_blocks, scaled(200000));
}

/* One in a block, the last of it: 65536 acquisitions use one block, no more and no less. */
static void block_lasts_for_65536(const lock_info *none)
{
    (void)none;
    uint64_t first = pawl_hapax_next(), blocks = atomic_load(pawl_hapax_blocks);
    CHECK(first % BLOCK == 0, "a thread does not begin with a block of its own");
    for (uint64_t i = 1; i < BLOCK; i++)
        CHECK(pawl_hapax_next() == first + i, "hapax %llu of the block is not the next",
              (unsigned long long)i);
    CHECK(atomic_load(pawl_hapax_blocks) == blocks, "a block was taken too early");
    uint64_t next = pawl_hapax_next();
    CHECK(next >> PAWL_HAPAX_BITS == blocks + 1, "the next block is %#llx", (unsigned long long)next);
    CHECK(atomic_load(pawl_hapax_blocks) == blocks + 1, "one block was not enough");
}

/* Contended acquisitions, every other one of which takes a new block. */
typedef struct edge {
    const lock_info *lock;
    void *l;
    generator shared;
    size_t rounds;
} edge;

static void live_on_the_edge(int me, void *arg)
{
    edge *e = arg;
    (void)me;
    for (size_t i = 0; i < e->rounds; i++) {
        lock_ctx c;
        if (pawl_hapax_self % BLOCK != 0)
            pawl_hapax_self |= BLOCK - 2; /* gives up the rest of the block */
        e->lock->lock(e->l, &c);
        generator_step(&e->shared);
        e->lock->unlock(e->l, &c);
    }
}

static void blocks_change_under_contention(const lock_info *lock)
{
    edge e = {.lock = lock, .l = calloc(1, lock->size), .shared = GENERATOR_START, .rounds = scaled(5000)};
    team_run(THREADS, live_on_the_edge, &e);
    generator_check(&e.shared, THREADS * e.rounds, "at the edge of a block");
    CHECK(atomic_load(pawl_hapax_blocks) >= e.rounds, "hardly a block was used up");
    free(e.l);
}

enum { DRAWN = 3 * BLOCK };

static void draw_hapaxes(uint64_t *drawn)
{
    for (int i = 0; i < DRAWN; i++)
        drawn[i] = pawl_hapax_next();
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Parent, child and grandchild, each of which goes on in the middle of a block. */
static void processes_do_not_share_values(const lock_info *none)
{
    enum { PROCESSES = 3 };
    (void)none;
    uint64_t *drawn = mmap(NULL, PROCESSES * DRAWN * sizeof *drawn, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(drawn != MAP_FAILED, "no memory");
    pid_t child = -1;
    int me = 0, status = 0;
    pawl_hapax_next();
    while (me < PROCESSES - 1 && (child = fork()) == 0) {
        pawl_hapax_next();
        me++;
    }
    CHECK(child >= 0, "cannot fork");
    draw_hapaxes(drawn + me * DRAWN);
    if (child > 0)
        CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x of a child", status);
    if (me > 0)
        _exit(EXIT_SUCCESS);
    qsort(drawn, PROCESSES * DRAWN, sizeof *drawn, by_value);
    for (int i = 1; i < PROCESSES * DRAWN; i++)
        CHECK(drawn[i] != drawn[i - 1], "%llx was drawn twice", (unsigned long long)drawn[i]);
}

/* Constructors of the program may come first, and there may be no memory to share. */
static void no_block_is_drawn_before_and_after_the_start(const lock_info *none)
{
    (void)none;
    const pawl_word *shared = pawl_hapax_blocks;
    CHECK(shared != &before_start, "not shared from the start");
    pawl_hapax_blocks = &before_start;
    for (uint64_t block = 1; block <= 3; block++)
        CHECK(pawl_hapax_refill() == block << PAWL_HAPAX_BITS, "not block %d", (int)block);
#ifndef SANITIZED /* which need memory themselves */
    struct rlimit limit, nothing = {0};
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0, "no limit");
    nothing.rlim_max = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &nothing) == 0, "cannot be limited");
    share_blocks();
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "limited for ever");
    CHECK(pawl_hapax_refill() == (uint64_t)4 << PAWL_HAPAX_BITS, "there is a page, or none");
    pawl_hapax_blocks = &before_start;
    atomic_store(&before_start, 4);
#else
    pawl_hapax_refill();
#endif
    share_blocks();
    CHECK(pawl_hapax_blocks != &before_start && pawl_hapax_blocks != shared, "not shared");
    CHECK(pawl_hapax_refill() == (uint64_t)5 << PAWL_HAPAX_BITS, "begins again");
}

static bool takes_hapaxes(const lock_info *lock)
{
    return strncmp(lock->name, "hapax", 5) == 0;
}

/* In a child whose stderr is `says`: goes on beyond the last block, which is as good as any. */
static void exhaust(int says, int *issued)
{
    uint64_t last_block = ((uint64_t)1 << (64 - PAWL_HAPAX_BITS)) - 1;
    dup2(says, STDERR_FILENO);
    static pawl_word blocks; /* not those that this process shares with the other tests */
    pawl_hapax_blocks = &blocks;
    atomic_store(pawl_hapax_blocks, last_block - 1);
    while (*issued <= BLOCK && pawl_hapax_next() == (last_block << PAWL_HAPAX_BITS) + (uint64_t)*issued)
        ++*issued;
    _exit(EXIT_FAILURE);
}

static void exhaustion_aborts_with_one_line(const lock_info *none)
{
    int says[2], status;
    char text[512];
    int *issued = mmap(NULL, sizeof *issued, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)none;
    CHECK(pipe(says) == 0, "no pipe");
    pid_t child = fork();
    CHECK(child >= 0, "cannot fork");
    if (child == 0)
        exhaust(says[1], issued);
    close(says[1]);
    ssize_t n = read(says[0], text, sizeof text - 1);
    CHECK(waitpid(child, &status, 0) == child, "the child is lost");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %#x, not SIGABRT", status);
    CHECK(*issued == BLOCK, "%d hapaxes of the last block were issued", *issued);
    text[n > 0 ? n : 0] = '\0';
    char *emulator =
        strstr(text, "\nqemu: "); /* has its own word to say of an abort, sometimes before we read */
    if (emulator != NULL)
        n = emulator + 1 - text;
    CHECK(n > 1 && text[n - 1] == '\n' && memchr(text, '\n', (size_t)n - 1) == NULL,
          "not one line on stderr");
    CHECK(strncmp(text, "pawl: ", 6) == 0, "the line does not say who speaks");
}

static const promise promises[] = {
    {.name = "values_are_unique", .check = values_are_unique, .subject = "hapaxes"},
    {.name = "blocks_are_unique", .check = blocks_are_unique, .subject = "hapaxes"},
    {.name = "block_lasts_for_65536", .check = block_lasts_for_65536, .subject = "hapaxes"},
    {.name = "processes_do_not_share_values", .check = processes_do_not_share_values, .subject = "hapaxes"},
    {.name = "no_block_is_drawn_before_and_after_the_start",
     .check = no_block_is_drawn_before_and_after_the_start,
     .subject = "hapaxes"},
    {.name = "blocks_change_under_contention",
     .check = blocks_change_under_contention,
     .concerns = takes_hapaxes},
    {.name = "exhaustion_aborts_with_one_line",
     .check = exhaustion_aborts_with_one_line,
     .subject = "hapaxes"},
};

HARNESS_MAIN(promises)
