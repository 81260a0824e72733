/* summary.c - what the rows come to: sums, quantiles, and which locks are listed */
#include "tables.h"

#include "preload/stats/summary.h"

stats_table *stats_tables;

enum { LOCK = 0x500100 };

static stats_table *tables(void)
{
    return stats_tables = new_tables();
}

static void a_quantile_is_the_end_of_its_bucket_or_the_worst(const lock_info *lock)
{
    (void)lock;
    stats_times t = {0};
    check_number("of nothing", stats_quantile(&t, 0.5), 0);
    add_times(&t, 50, 16);
    add_times(&t, 49, 64);
    add_times(&t, 1, 1024);
    t.worst_ns = 1500;
    check_number("half", stats_quantile(&t, 0.5), 32);
    check_number("half and more", stats_quantile(&t, 0.51), 128);
    check_number("99 %", stats_quantile(&t, 0.99), 128);
    check_number("all", stats_quantile(&t, 1), 1500);
    t.buckets[10] = 0; /* read while it is written */
    check_number("fewer in buckets", stats_quantile(&t, 1), 1500);
    check_number("a share of nothing", (uint64_t)stats_share(5, 0), 0);
    check_number("a share", (uint64_t)(100 * stats_share(1, 4)), 25);
}

static void a_lock_counts_if_somebody_wanted_it(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    stats_summary s;
    for (uint32_t i = 1; i <= 5; i++)
        add_row(i, LOCK + 16 * i, i == 1);
    add_detail(&t->locks[2], 2)->vain = 1;
    add_detail(&t->locks[3], 3)->waiting = 1;
    t->refused[4] = 1;
    stats_sum_up(&s);
    check_number("locks", s.locks, 3); /* the fourth was refused, but the table says that none was */
    check_number("refused", s.refused, 0);
    t->any_refused = 1;
    stats_sum_up(&s);
    check_number("locks", s.locks, 4);
    check_number("refused", s.refused, 1);
    check_number("listed", (uint64_t)s.listed_count, 0);
    t->locks_used = STATS_LOCKS + 10; /* of threads that found no room */
    add_row(STATS_LOCKS - 1, LOCK, 1);
    stats_sum_up(&s);
    check_number("locks", s.locks, 5);
    check_number("acquisitions", s.acquisitions, 2);
}

static void ten_locks_are_listed_by_their_waits(const lock_info *lock)
{
    (void)lock;
    static const uint64_t waits[] = {0, 5, 90, 20, 70, 30, 80, 10, 60, 40, 50, 15, 75, 1};
    static const uint32_t order[] = {2, 6, 12, 4, 8, 10, 9, 5, 3, 11};
    stats_summary s;
    tables();
    for (uint32_t i = 1; i < sizeof waits / sizeof *waits; i++) {
        stats_detail *d = add_detail(add_row(i, LOCK + 16 * i, 1), (uint16_t)i);
        *(i % 2 == 0 ? &d->vain_ns : &d->wait.total_ns) = waits[i]; /* in vain or not, it is a wait */
    }
    stats_sum_up(&s);
    check_number("listed", (uint64_t)s.listed_count, STATS_LISTED);
    for (int i = 0; i < STATS_LISTED; i++)
        check_number("listed", (uint64_t)(s.listed[i] - stats_tables->locks), order[i]);
}

static const promise promises[] = {
    {"a_quantile_is_the_end_of_its_bucket_or_the_worst", a_quantile_is_the_end_of_its_bucket_or_the_worst,
     NULL, "summary"},
    {"a_lock_counts_if_somebody_wanted_it", a_lock_counts_if_somebody_wanted_it, NULL, "summary"},
    {"ten_locks_are_listed_by_their_waits", ten_locks_are_listed_by_their_waits, NULL, "summary"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
