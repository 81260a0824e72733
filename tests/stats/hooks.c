/* hooks.c - what each call of a program leaves in the tables, by a clock and with stacks that are ours */
#include "tables.h"

#include "preload/stats/quick.h"

#include <time.h>

__thread thread self __attribute__((tls_model("initial-exec"))) = {.tid = 11};

/* ---- the clock: nanoseconds pass when a test says so */

static uint64_t now = 5000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    CHECK(clock == CLOCK_MONOTONIC, "clock %d", clock);
    t->tv_sec = (time_t)(now / 1000000000);
    t->tv_nsec = (long)(now % 1000000000);
    return 0;
}

/* ---- stacks: by their calls, with all that called them and without */

enum { HERE = 1000, ALONE = 2000 };
static int captured;

uint32_t stats_stack_here(const void *site)
{
    captured++;
    return HERE + (uint32_t)(uintptr_t)site;
}

uint32_t stats_stack_of(uintptr_t site)
{
    return ALONE + (uint32_t)site;
}

/* ---- a program of two threads with locks and calls that have numbers */

enum { OWNER = 11, WAITER = 12 };
static uint64_t locks[64];
static stats_table *t;

static const void *call(int number)
{
    return (const void *)(uintptr_t)number;
}

static void begin(uint32_t depth, uint32_t sample)
{
    t = stats_tables = new_tables();
    t->depth = depth;
    t->sample = sample;
    t->chance = UINT32_MAX / sample;
    self = (thread){.tid = OWNER};
}

static void acquire(stats_call *c, const void *lock, stats_kind kind, int site)
{
    memset(c, 0x77, sizeof *c);
    stats_ask(c, lock, kind, call(site));
    stats_acquired(c);
}

static void hold(const void *lock, int site, uint64_t ns)
{
    stats_call c;
    acquire(&c, lock, STATS_MUTEX, site);
    now += ns;
    stats_released(lock, STATS_MUTEX);
}

static void holds(const void *lock, int times, int site, uint64_t ns)
{
    for (int i = 0; i < times; i++)
        hold(lock, site, ns);
}

/* The other thread asks for it, and begins to wait. */
static void want(stats_call *c, const void *lock, stats_kind kind, int site)
{
    memset(c, 0x77, sizeof *c);
    c->relocks = c->unlisted = true;
    self = (thread){.tid = WAITER};
    stats_ask(c, lock, kind, call(site));
    stats_wait_begin(c);
}

static void got(stats_call *c, const void *lock, uint64_t waited)
{
    now += waited;
    self = (thread){.tid = OWNER};
    stats_released(lock, STATS_MUTEX);
    self = (thread){.tid = WAITER};
    stats_acquired(c);
}

static void check_times(const char *what, const stats_times *times, uint64_t count, uint64_t total,
                        uint64_t worst)
{
    uint64_t in_buckets = 0;
    for (int b = 0; b < STATS_BUCKETS; b++)
        in_buckets += times->buckets[b];
    CHECK(times->count == count && times->total_ns == total && times->worst_ns == worst &&
              in_buckets == count,
          "%s: %ju times, %ju ns in all, worst %ju, %ju in buckets; instead of %ju, %ju, %ju", what,
          (uintmax_t)times->count, (uintmax_t)times->total_ns, (uintmax_t)times->worst_ns,
          (uintmax_t)in_buckets, (uintmax_t)count, (uintmax_t)total, (uintmax_t)worst);
}

/* NULL if these have not met. */
static const stats_meet *meet(uint32_t row, uint32_t waiter, uint32_t holder)
{
    for (int i = 0; i < STATS_MEETS; i++)
        if (t->meets[i].row == row && t->meets[i].waiter == waiter && t->meets[i].holder == holder)
            return &t->meets[i];
    return NULL;
}

static int meets(void)
{
    int found = 0;
    for (int i = 0; i < STATS_MEETS; i++)
        found += t->meets[i].row != 0;
    return found;
}

static void check_meet(uint32_t row, uint32_t waiter, uint32_t holder, uint64_t count, uint64_t total)
{
    const stats_meet *m = meet(row, waiter, holder);
    CHECK(m != NULL, "%u and %u have not met", waiter, holder);
    CHECK(m->count == count && m->total_ns == total, "%u and %u: %ju times, %ju ns; instead of %ju, %ju",
          waiter, holder, (uintmax_t)m->count, (uintmax_t)m->total_ns, (uintmax_t)count, (uintmax_t)total);
}

/* ---- without waiting */

static void each_hold_is_counted_and_timed(const lock_info *lock)
{
    (void)lock;
    begin(1, 1);
    stats_call c;
    acquire(&c, &locks[0], STATS_MUTEX, 5);
    stats_row *row = &t->locks[1];
    CHECK(row->lock == (uintptr_t)&locks[0] && row->kind == STATS_MUTEX, "the row");
    check_number("owner", row->owner, OWNER);
    check_number("site", row->site, 5);
    check_number("since", row->since, now);
    check_number("stack", row->stack, 0);
    check_number("first", row->first, ALONE + 5);
    now += 10;
    stats_released(&locks[0], STATS_MUTEX);
    check_number("owner", row->owner, 0);
    check_number("since", row->since, 0);
    hold(&locks[0], 6, 6);
    hold(&locks[0], 7, 20);
    check_number("first", row->first, ALONE + 5);
    check_number("site", row->site, 7);
    check_number("acquisitions", row->acquisitions, 3);
    check_number("holds", row->holds, 3);
    check_number("hold_ns", row->hold_ns, 36);
    check_number("longest", (uint64_t)row->hold_worst_ns, 20);
    check_number("detail", row->detail, 1);
    check_times("hold", &t->details[1].hold, 3, 36, 20);
    check_number("meets", (uint64_t)meets(), 0);
    check_number("locks", t->locks_used, 1);
    check_number("captured", (uint64_t)captured, 0);
}

static void first_uses_are_known_with_their_stacks(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000000);
    hold(&locks[0], 5, 10);
    hold(&locks[0], 6, 20);
    hold(&locks[0], 6, 30);
    check_number("first", t->locks[1].first, HERE + 5);
    check_number("stack", t->locks[1].stack, HERE + 6);
    check_meet(1, 0, HERE + 5, 1, 10);
    check_meet(1, 0, HERE + 6, 2, 50);
    check_number("detail", t->locks[1].detail, 0);
    holds(&locks[0], 29, 7, 1);
    check_number("captured", (uint64_t)captured, 32);
    check_number("timed", t->locks[1].holds, 32);
    holds(&locks[0], 10, 8, 1);
    check_number("captured", (uint64_t)captured, 32);
    check_number("stack", t->locks[1].stack, 0);
    check_number("site", t->locks[1].site, 8);
    check_number("timed", t->locks[1].holds, 32);
    check_number("acquisitions", t->locks[1].acquisitions, 42);
    for (int i = 0; i < STATS_SHARDS; i++)
        check_times("a shard", &t->shards[i].hold, 0, 0, 0); /* not all holds are timed */
}

static void holds_without_a_detail_are_in_a_shard(const lock_info *lock)
{
    (void)lock;
    begin(1, 1);
    t->details_used = STATS_DETAILS;
    self.tid = STATS_SHARDS + 3;
    hold(&locks[0], 5, 10);
    check_times("the thread's shard", &t->shards[3].hold, 1, 10, 10);
    check_times("nobody's detail", &t->details[0].hold, 0, 0, 0);
}

static bool is_near(uint64_t found, uint64_t wanted)
{
    return found > wanted * 9 / 10 && found < wanted * 11 / 10;
}

static void one_in_so_many_is_timed_and_more_if_somebody_waits(const lock_info *lock)
{
    (void)lock;
    begin(1, 16);
    holds(&locks[0], 16032, 5, 1);
    check_number("acquisitions", t->locks[1].acquisitions, 16032);
    CHECK(is_near(t->locks[1].holds - 32, 1000), "%u of 16000", t->locks[1].holds);
    holds(&locks[1], 32, 5, 1);
    t->locks[2].detail = 1;
    holds(&locks[1], 3200, 5, 1);
    CHECK(is_near(t->locks[2].holds - 32, 800), "%u of 3200 that were waited for", t->locks[2].holds);
    holds(&locks[1], 16000, 5, 1);
    CHECK(is_near(t->locks[2].holds, 2000), "%u: more than it takes", t->locks[2].holds);
    t->chance = UINT32_MAX / 2; /* more often than that */
    t->locks[1].detail = 2;
    t->locks[1].holds = 0;
    holds(&locks[0], 1000, 5, 1);
    CHECK(is_near(t->locks[1].holds, 500), "%u of 1000", t->locks[1].holds);
}

static void an_address_has_a_row_for_each_kind(const lock_info *lock)
{
    (void)lock;
    begin(1, 1);
    stats_call c;
    hold(&locks[0], 5, 10);
    acquire(&c, &locks[0], STATS_SPIN, 6);
    acquire(&c, &locks[1], STATS_MUTEX, 7);
    acquire(&c, &locks[0], STATS_MUTEX, 8);
    acquire(&c, &locks[0], STATS_MUTEX, 9);
    check_number("rows", t->locks_used, 3);
    check_number("the mutex", t->locks[1].acquisitions, 3);
    check_number("the spin lock", t->locks[2].acquisitions, 1);
    check_number("its kind", t->locks[2].kind, STATS_SPIN);
    check_number("the other mutex", t->locks[3].acquisitions, 1);
    stats_released(&locks[0], STATS_SPIN);
    check_number("the spin lock's owner", t->locks[2].owner, 0);
    check_number("the mutex's owner", t->locks[1].owner, OWNER);
}

static void a_release_of_what_was_not_acquired_is_nothing(const lock_info *lock)
{
    (void)lock;
    begin(1, 1);
    stats_released(&locks[0], STATS_MUTEX); /* acquired before there was a table */
    check_number("rows", t->locks_used, 0);
    hold(&locks[0], 5, 10);
    t->locks[1].since = 1; /* of a parent */
    now += 10;
    stats_released(&locks[0], STATS_MUTEX);
    check_number("holds", t->locks[1].holds, 1);
    t->locks[1].since = 0;
    stats_row before = t->locks[1];
    t->locks[1].owner = OWNER; /* not timed */
    stats_released(&locks[0], STATS_MUTEX);
    check_number("owner", t->locks[1].owner, 0);
    CHECK(memcmp(&before, &t->locks[1], sizeof before) == 0, "the row changed");
}

static void a_refused_trylock_is_counted(const lock_info *lock)
{
    (void)lock;
    begin(8, 1);
    stats_call c;
    stats_ask(&c, &locks[0], STATS_MUTEX, call(5));
    stats_refused(&c);
    stats_ask(&c, &locks[0], STATS_MUTEX, call(6));
    stats_refused(&c);
    check_number("refused", t->refused[1], 2);
    check_number("without a row", t->refused[0], 0);
    check_number("any", t->any_refused, 1);
    check_number("first", t->locks[1].first, HERE + 5);
    check_number("acquisitions", t->locks[1].acquisitions, 0);
    t->locks[1].first = 0;
    c.stack = 0;
    stats_refused(&c);
    check_number("first", t->locks[1].first, 0);
    c.row = NULL;
    c.stack = 5;
    stats_refused(&c);
    check_number("without a row", t->refused[0], 1);
    check_number("of the lock", t->refused[1], 3);
}

/* ---- waiting */

static void a_wait_is_timed_and_blamed_on_the_holder(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call mine, other;
    acquire(&mine, &locks[0], STATS_MUTEX, 5);
    uint64_t since = now;
    now += 7;
    want(&other, &locks[0], STATS_MUTEX, 6);
    check_number("waiting", t->details[1].waiting, 1);
    const stats_wait *w = other.waiting;
    CHECK(w >= t->waiting && w < t->waiting + STATS_WAITING, "not in the list");
    CHECK(w->start_ns == now && w->held_since == since && w->row == 1 && w->waiter == HERE + 6 &&
              w->holder == HERE + 5 && w->waiter_tid == WAITER && w->holder_tid == OWNER,
          "%ju %ju %u %u %u %u %u", (uintmax_t)w->start_ns, (uintmax_t)w->held_since, w->row, w->waiter,
          w->holder, w->waiter_tid, w->holder_tid);
    got(&other, &locks[0], 100);
    check_number("waiting", t->details[1].waiting, 0);
    CHECK(w->start_ns == 0 && w->waiter_tid == 0, "still in the list");
    check_times("wait", &t->details[1].wait, 1, 101, 101);
    check_times("hold", &t->details[1].hold, 1, 107, 107);
    check_meet(1, HERE + 6, HERE + 5, 1, 101);
    check_meet(1, 0, HERE + 5, 1, 107);
    check_number("worst call", t->worst_call_ns, 101);
    check_number("owner", t->locks[1].owner, WAITER);
    check_number("since", t->locks[1].since, now);
    stats_wait *worst = NULL;
    for (int i = 0; i < STATS_WORST; i++)
        worst = t->worst[0].waits[i].end_ns != 0 ? &t->worst[0].waits[i] : worst;
    CHECK(worst != NULL && worst->end_ns == now && worst->start_ns == now - 100 &&
              worst->waiter_tid == WAITER,
          "not among the longest");
    check_times("beyond", &t->beyond_wait, 0, 0, 0);
}

static void of_a_quiet_lock_the_calls_are_blamed(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call mine, other;
    holds(&locks[0], 40, 4, 1);
    t->locks[1].first = 0; /* as if it were not known yet */
    acquire(&mine, &locks[0], STATS_MUTEX, 5);
    check_number("no stack", mine.stack, 0);
    want(&other, &locks[0], STATS_MUTEX, 6);
    check_number("first", t->locks[1].first, HERE + 6);
    check_number("holder", other.holder, ALONE + 5);
    got(&other, &locks[0], 100);
    check_meet(1, HERE + 6, ALONE + 5, 1, 101);
    self = (thread){.tid = WAITER};
    stats_released(&locks[0], STATS_MUTEX);
    acquire(&mine, &locks[0], STATS_MUTEX, 7);
    check_number("it is wanted: with a stack", mine.stack, HERE + 7);
}

static void between_two_owners_the_last_one_is_blamed(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call other;
    hold(&locks[0], 5, 10);
    want(&other, &locks[0], STATS_MUTEX, 6);
    check_number("holder", other.holder, 0);
    check_number("its thread", other.holder_tid, 0);
    check_number("since", other.held_since, 0);
    now += 50;
    stats_acquired(&other);
    check_meet(1, HERE + 6, HERE + 5, 1, 51);
    stats_released(&locks[0], STATS_MUTEX);
    t->locks[1].stack = 0; /* as of a quiet lock */
    want(&other, &locks[0], STATS_MUTEX, 7);
    stats_acquired(&other);
    check_meet(1, HERE + 7, ALONE + 6, 1, 1);
    want(&other, &locks[1], STATS_MUTEX, 8); /* nobody had it ever */
    stats_acquired(&other);
    check_meet(2, HERE + 8, 0, 1, 1);
}

static void only_calls_that_lock_a_mutex_count_for_the_worst(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call other;
    want(&other, &locks[0], STATS_SPIN, 6);
    now += 10;
    stats_acquired(&other);
    want(&other, &locks[1], STATS_MUTEX, 7);
    other.relocks = true;
    now += 10;
    stats_acquired(&other);
    check_number("worst call", t->worst_call_ns, 0);
    check_times("the spin lock's wait", &t->details[1].wait, 1, 11, 11);
}

static void a_wait_in_vain_has_its_own_numbers(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call mine, other;
    acquire(&mine, &locks[0], STATS_MUTEX, 5);
    for (int i = 3; i > 0; i--) {
        want(&other, &locks[0], STATS_MUTEX, 6);
        now += (uint64_t)(100 * i);
        stats_waited_in_vain(&other);
    }
    stats_detail *d = &t->details[1];
    check_times("wait", &d->wait, 0, 0, 0);
    check_number("in vain", d->vain, 3);
    check_number("in all", d->vain_ns, 603);
    check_number("longest", d->vain_worst_ns, 301);
    check_number("waiting", d->waiting, 0);
    check_number("in the list", other.waiting->start_ns, 0);
    check_meet(1, (HERE + 6) | STATS_IN_VAIN, HERE + 5, 3, 603);
    check_number("meets", (uint64_t)meets(), 1);
    check_number("worst call", t->worst_call_ns, 0);
    CHECK(t->worst[0].waits[0].end_ns != 0, "not among the longest");
    check_times("beyond", &t->beyond_wait, 0, 0, 0);
    want(&other, &locks[0], STATS_MUTEX, 6); /* the call was wrong */
    stats_wait_end(&other);
    check_number("in vain", d->vain, 3);
    check_number("waiting", d->waiting, 0);
}

static void without_room_for_a_row_the_waits_are_known(const lock_info *lock)
{
    (void)lock;
    begin(8, 1);
    stats_call c;
    t->locks_used = STATS_LOCKS;
    hold(&locks[0], 5, 10);
    check_number("beyond", t->beyond, 1);
    check_times("waits", &t->beyond_wait, 0, 0, 0);
    want(&c, &locks[0], STATS_MUTEX, 6);
    check_number("unlisted", t->unlisted, 1);
    now += 30;
    stats_acquired(&c);
    check_number("beyond", t->beyond, 2);
    check_number("unlisted", t->unlisted, 0);
    check_times("waits", &t->beyond_wait, 1, 31, 31);
    want(&c, &locks[0], STATS_MUTEX, 6);
    now += 10;
    stats_waited_in_vain(&c);
    check_times("waits", &t->beyond_wait, 2, 42, 31);
    check_number("beyond", t->beyond, 2);
    check_number("unlisted", t->unlisted, 0);
    want(&c, &locks[0], STATS_COND, 6);
    stats_cond_woken(&c, true);
    stats_cond_waited(&c);
    stats_signalled(&locks[0], call(7));
    check_number("unlisted", t->unlisted, 0);
    stats_refused(&c);
    check_number("refused", t->refused[0], 1);
    CHECK(memcmp(&t->locks[0], &(stats_row){0}, sizeof(stats_row)) == 0, "row 0 is nobody's");
    check_number("captured", (uint64_t)captured, 0);
}

static void without_room_for_a_detail_the_waits_are_known(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call mine, c;
    t->details_used = STATS_DETAILS;
    acquire(&mine, &locks[0], STATS_MUTEX, 5);
    want(&c, &locks[0], STATS_MUTEX, 6);
    got(&c, &locks[0], 100);
    check_times("waits", &t->beyond_wait, 1, 101, 101);
    check_meet(1, HERE + 6, HERE + 5, 1, 101);
    want(&c, &locks[0], STATS_MUTEX, 6);
    now += 10;
    stats_waited_in_vain(&c);
    check_times("waits", &t->beyond_wait, 2, 112, 101);
    want(&c, &locks[1], STATS_COND, 6); /* idle, perhaps */
    stats_cond_woken(&c, true);
    stats_cond_waited(&c);
    check_times("waits", &t->beyond_wait, 2, 112, 101);
    check_number("row 1", t->locks[1].detail, 0);
    check_number("nobody's detail", t->details[0].waiting, 0);
    check_number("nobody's detail", t->details[0].vain, 0);
}

/* ---- condition variables */

static void a_wait_for_a_signal_is_blamed_on_the_signaller(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call c;
    stats_signalled(&locks[0], call(9)); /* nobody has ever waited */
    check_number("rows", t->locks_used, 0);
    want(&c, &locks[0], STATS_COND, 6);
    check_number("waiting", t->details[1].waiting, 1);
    now += 40;
    self = (thread){.tid = OWNER};
    stats_signalled(&locks[0], call(7));
    check_number("signaller", t->locks[1].owner, OWNER);
    check_number("its stack", t->locks[1].stack, HERE + 7);
    self = (thread){.tid = WAITER};
    stats_cond_woken(&c, true);
    check_number("waiting", t->details[1].waiting, 0);
    check_number("holder", c.holder_tid, OWNER);
    now += 1000; /* until it has the mutex */
    stats_cond_waited(&c);
    check_number("waits", t->locks[1].acquisitions, 1);
    check_times("wait", &t->details[1].wait, 1, 41, 41);
    check_meet(1, HERE + 6, HERE + 7, 1, 41);
    check_number("worst call", t->worst_call_ns, 0);
    CHECK(t->worst[1].least_ns == 0 && t->worst[0].waits[0].end_ns == 0, "among the waits for locks");
    want(&c, &locks[0], STATS_COND, 6);
    now += 20;
    stats_cond_woken(&c, false);
    stats_cond_waited(&c);
    check_number("nobody signalled", c.holder_tid, 0);
    check_meet(1, HERE + 6, 0, 1, 21);
    want(&c, &locks[0], STATS_COND, 6);
    c.stack = 0; /* there was no room for it */
    now += 5;
    stats_cond_woken(&c, true);
    stats_cond_waited(&c);
    check_meet(1, 0, 0, 1, 6);
}

/* ---- calls that take several tries */

static void several_tries_are_one_call(const lock_info *lock)
{
    (void)lock;
    begin(8, 1000);
    stats_call c;
    hold(&locks[0], 4, 1);
    memset(&c, 0x77, sizeof c);
    stats_not_asked(&c);
    stats_failed(&c, true); /* refused before it waited */
    check_number("in vain", t->details[1].vain, 0);
    stats_ask_once(&c, &locks[0], call(5));
    stats_ask_once(&c, &locks[1], call(6));
    CHECK(c.row == &t->locks[1] && c.site == call(5), "asked twice");
    check_number("rows", t->locks_used, 1);
    uint64_t start = now;
    stats_wait_once(&c);
    now += 10;
    stats_wait_once(&c);
    check_number("start", c.start_ns, start);
    check_number("waiting", t->details[1].waiting, 1);
    now += 5;
    stats_failed(&c, true);
    check_number("in vain", t->details[1].vain_ns, 16);
    check_number("waiting", t->details[1].waiting, 0);
    stats_not_asked(&c);
    stats_ask_once(&c, &locks[0], call(5));
    stats_wait_once(&c);
    stats_failed(&c, false);
    check_number("in vain", t->details[1].vain, 1);
    check_number("waiting", t->details[1].waiting, 0);
}

static const promise promises[] = {
    {"each_hold_is_counted_and_timed", each_hold_is_counted_and_timed, NULL, "hooks"},
    {"first_uses_are_known_with_their_stacks", first_uses_are_known_with_their_stacks, NULL, "hooks"},
    {"holds_without_a_detail_are_in_a_shard", holds_without_a_detail_are_in_a_shard, NULL, "hooks"},
    {"one_in_so_many_is_timed_and_more_if_somebody_waits", one_in_so_many_is_timed_and_more_if_somebody_waits,
     NULL, "hooks"},
    {"an_address_has_a_row_for_each_kind", an_address_has_a_row_for_each_kind, NULL, "hooks"},
    {"a_release_of_what_was_not_acquired_is_nothing", a_release_of_what_was_not_acquired_is_nothing, NULL,
     "hooks"},
    {"a_refused_trylock_is_counted", a_refused_trylock_is_counted, NULL, "hooks"},
    {"a_wait_is_timed_and_blamed_on_the_holder", a_wait_is_timed_and_blamed_on_the_holder, NULL, "hooks"},
    {"of_a_quiet_lock_the_calls_are_blamed", of_a_quiet_lock_the_calls_are_blamed, NULL, "hooks"},
    {"between_two_owners_the_last_one_is_blamed", between_two_owners_the_last_one_is_blamed, NULL, "hooks"},
    {"only_calls_that_lock_a_mutex_count_for_the_worst", only_calls_that_lock_a_mutex_count_for_the_worst,
     NULL, "hooks"},
    {"a_wait_in_vain_has_its_own_numbers", a_wait_in_vain_has_its_own_numbers, NULL, "hooks"},
    {"without_room_for_a_row_the_waits_are_known", without_room_for_a_row_the_waits_are_known, NULL, "hooks"},
    {"without_room_for_a_detail_the_waits_are_known", without_room_for_a_detail_the_waits_are_known, NULL,
     "hooks"},
    {"a_wait_for_a_signal_is_blamed_on_the_signaller", a_wait_for_a_signal_is_blamed_on_the_signaller, NULL,
     "hooks"},
    {"several_tries_are_one_call", several_tries_are_one_call, NULL, "hooks"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
