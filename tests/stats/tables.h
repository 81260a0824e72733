/* tables.h - tables for the tests of statistics, filled by hand */
#pragma once

#include "harness.h"

#include "preload/stats/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Zeros that take memory where they are used. */
static inline stats_table *new_tables(void)
{
    void *memory = mmap(NULL, STATS_TABLE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED, "mmap: %s", strerror(errno));
    return memory;
}

static inline void check_number(const char *what, uint64_t found, uint64_t wanted)
{
    CHECK(found == wanted, "%s: %ju instead of %ju", what, (uintmax_t)found, (uintmax_t)wanted);
}

/* All that is in a file, from its beginning. */
static inline char *contents(int fd)
{
    static char text[1 << 16];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    CHECK(n >= 0, "pread: %s", strerror(errno));
    text[n] = '\0';
    return text;
}

static inline int scratch_file(void)
{
    int fd = memfd_create("scratch", MFD_CLOEXEC);
    CHECK(fd >= 0, "memfd_create: %s", strerror(errno));
    return fd;
}

/* Says where two texts part. */
static inline void check_text(const char *what, const char *found, const char *wanted)
{
    size_t same = 0;
    while (found[same] != '\0' && found[same] == wanted[same])
        same++;
    CHECK(found[same] == wanted[same], "%s: '%.60s' instead of '%.60s' in\n%s", what, found + same,
          wanted + same, found);
}

/* On the stack, where others have their variables next. */
__attribute__((noinline, unused)) static void leave_ones(void)
{
    volatile char ones[4096];
    for (size_t i = 0; i < sizeof ones; i++)
        ones[i] = (char)0xff;
}

/* ---- what is in them */

static inline stats_row *add_row(uint32_t place, uintptr_t lock, uint64_t acquisitions)
{
    stats_row *row = &stats_tables->locks[place];
    row->lock = lock;
    row->acquisitions = acquisitions;
    if (stats_tables->locks_used < place)
        stats_tables->locks_used = place;
    return row;
}

/* `count` times of `ns` each, a power of two. */
static inline void add_times(stats_times *t, uint64_t count, uint64_t ns)
{
    t->count += count;
    t->total_ns += count * ns;
    t->worst_ns = ns > t->worst_ns ? ns : t->worst_ns;
    t->buckets[63 - __builtin_clzll(ns)] += count;
}

static inline stats_detail *add_detail(stats_row *row, uint16_t place)
{
    row->detail = place;
    return &stats_tables->details[place];
}
