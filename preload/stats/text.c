/* text.c - the report for people */
#include "name.h"
#include "report.h"
#include "words.h"

#include "src/park/fence.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void table_times(stats_file *f, const char *what, const stats_times *t)
{
    uint64_t count = stats_get(&t->count);
    if (count == 0)
        return;
    stats_file_print(f, "%-6s %12ju %10s %10s %10s %10s %10s\n", what, (uintmax_t)count,
                     in_words(stats_get(&t->total_ns)).text, in_words(stats_get(&t->total_ns) / count).text,
                     in_words(stats_quantile(t, 0.5)).text, in_words(stats_quantile(t, 0.99)).text,
                     in_words(stats_get(&t->worst_ns)).text);
}

static void table_histogram(stats_file *f, const stats_summary *s)
{
    int first = STATS_BUCKETS, last = -1;
    for (int b = 0; b < STATS_BUCKETS; b++)
        if (s->wait.buckets[b] + s->hold.buckets[b] > 0) {
            first = b < first ? b : first;
            last = b;
        }
    if (last < 0)
        return;
    stats_file_print(f, "\n%12s %12s %12s\n", "less than", "waited", "held");
    for (int b = first; b <= last; b++)
        stats_file_print(f, "%12s %12ju %12ju\n",
                         b < STATS_BUCKETS - 1 ? in_words(UINT64_C(2) << b).text : "more",
                         (uintmax_t)s->wait.buckets[b], (uintmax_t)s->hold.buckets[b]);
}

static void table_lock(stats_file *f, const stats_row *row)
{
    const stats_detail *d = stats_detail_of(row);
    stats_site site = stats_worst_site(row);
    stats_file_print(f, "%12ju %9.1f%% %10s %10s %10s  %s\n", (uintmax_t)stats_get(&row->acquisitions),
                     100 * stats_share(stats_get(&d->wait.count), stats_get(&row->acquisitions)),
                     in_words(stats_get(&d->wait.total_ns)).text, in_words(stats_get(&d->wait.worst_ns)).text,
                     in_words(stats_quantile(&d->hold, 0.99)).text, stats_place(row->lock, row->lock).text);
    if (site.address != 0)
        stats_file_print(f, "%57s waited most in %s\n", "", stats_place(site.address, site.address - 1).text);
}

void stats_write_text(stats_file *f, const stats_summary *s)
{
    uint64_t contended = stats_get(&s->wait.count), all = s->acquisitions;
    stats_file_print(f, "pawl: %s (%d) under %s: %ju acquisitions of %ju lock%s, %.2f%% contended\n",
                     program_invocation_short_name, (int)getpid(), stats_lock_name(), (uintmax_t)all,
                     (uintmax_t)s->locks, s->locks == 1 ? "" : "s", 100 * stats_share(contended, all));
    uint64_t beyond = stats_get(&stats_tables->beyond);
    if (beyond > 0)
        stats_file_print(
            f, "%ju acquisitions were of more locks than the table holds: only their waits are known\n",
            (uintmax_t)beyond);
    if (s->vain > 0)
        stats_file_print(f, "%ju more waits, %s in all, gave up at their deadline\n", (uintmax_t)s->vain,
                         in_words(s->vain_ns).text);
    if (s->refused > 0)
        stats_file_print(f, "%ju calls of trylock found their lock taken\n", (uintmax_t)s->refused);
    if (pawl_gave_up_membarrier())
        stats_file_print(f, "membarriers took a quarter of a CPU and were given up: unlocks fence instead\n");
    stats_file_print(f, "\n%-6s %12s %10s %10s %10s %10s %10s\n", "", "times", "in all", "mean", "median",
                     "99 %", "worst");
    table_times(f, "waited", &s->wait);
    table_times(f, "held", &s->hold);
    table_histogram(f, s);
    if (s->listed_count == 0)
        return;
    stats_file_print(f, "\n%12s %10s %10s %10s %10s  lock\n", "acquisitions", "contended", "waited", "worst",
                     "held 99 %");
    for (int i = 0; i < s->listed_count; i++)
        table_lock(f, s->listed[i]);
}
