/* seqlock.c - records that are copied without a lock: whole or refused, whatever their size */
#include "team.h"

#include <string.h>

enum { WRITERS = 2, READERS = 2, MOST = 100 };

typedef struct record {
    pawl_seqlock lock;
    pawl_word words[PAWL_SEQLOCK_WORDS(MOST)];
    size_t size, rounds;
    atomic_int writing;
    atomic_size_t whole, refused, overlapped;
} record;

static bool write_all(record *r, int value)
{
    char from[MOST];
    memset(from, value, sizeof from);
    return pawl_seqlock_write(&r->lock, r->words, from, r->size);
}

/* The value of all bytes, or -1 if refused. Nothing behind them is touched. */
static int read_all(record *r)
{
    char to[MOST + 1];
    to[r->size] = 77;
    bool whole = pawl_seqlock_read(&r->lock, r->words, to, r->size);
    CHECK(to[r->size] == 77, "a copy of %zu bytes wrote one more", r->size);
    for (size_t i = 1; whole && i < r->size; i++)
        CHECK(to[i] == to[0], "byte %zu of %zu is of another write", i, r->size);
    return whole ? to[0] : -1;
}

static void any_size_is_copied(const lock_info *none)
{
    (void)none;
    for (size_t size = 1; size <= MOST; size++) {
        record r = {.size = size};
        CHECK(read_all(&r) == -1, "%zu bytes that nobody wrote", size);
        CHECK(write_all(&r, 1 + (int)size), "nobody else wrote");
        CHECK(read_all(&r) == 1 + (int)size, "%zu bytes came back as others", size);
        for (size_t i = PAWL_SEQLOCK_WORDS(size); i < PAWL_SEQLOCK_WORDS(MOST); i++)
            CHECK(r.words[i] == 0, "%zu bytes wrote word %zu", size, i);
    }
}

static void write_or_read(int me, void *arg)
{
    record *r = arg;
    if (me < WRITERS) {
        for (size_t i = 0; i < r->rounds; i++) {
            if (!write_all(r, me + 1))
                atomic_fetch_add(&r->overlapped, 1);
            if (i % 16 == 0)
                sched_yield();
        }
        atomic_fetch_sub(&r->writing, 1);
        return;
    }
    while (atomic_load(&r->writing) > 0)
        atomic_fetch_add(read_all(r) < 0 ? &r->refused : &r->whole, 1);
}

static void copies_are_whole(const lock_info *none)
{
    (void)none;
    record r = {.size = MOST, .rounds = scaled(300000), .writing = WRITERS};
    team_run(WRITERS + READERS, write_or_read, &r);
    CHECK(write_all(&r, 9) && read_all(&r) == 9, "a write alone after %zu that overlapped", r.overlapped);
}

/* A write that stops in the middle, by hand: the steps of pawl_seqlock_write(). */
static uint64_t begin(record *r)
{
    return atomic_fetch_add(&r->lock.state, PAWL_SEQLOCK_COUNT + 1);
}

static void a_writer_waits_for_nobody(const lock_info *none)
{
    (void)none;
    record r = {.size = MOST};
    CHECK(write_all(&r, 1), "alone");
    uint64_t stopped = begin(&r);
    CHECK(read_all(&r) == -1, "read while a writer is at work");
    CHECK(!write_all(&r, 2), "alone with another at work");
    CHECK(read_all(&r) == -1, "the paper's record would count now: the last to begin has ended");
    r.words[3] = 0;
    CHECK(!pawl_seqlock_end(&r.lock, stopped), "another wrote meanwhile");
    CHECK(read_all(&r) == -1, "torn");
    CHECK(write_all(&r, 3) && read_all(&r) == 3, "alone again");
}

static const promise promises[] = {
    {.name = "any_size_is_copied", .check = any_size_is_copied, .subject = "seqlock"},
    {.name = "copies_are_whole", .check = copies_are_whole, .subject = "seqlock"},
    {.name = "a_writer_waits_for_nobody", .check = a_writer_waits_for_nobody, .subject = "seqlock"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
