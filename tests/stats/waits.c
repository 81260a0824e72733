/* waits.c - who met whom, the longest waits, those that have not ended, and what there is no room for */
#include "tables.h"

#include "preload/fork/epoch.h"
#include "preload/stats/count.h"

#include <sys/prctl.h>

__thread thread self __attribute__((tls_model("initial-exec"))) = {.tid = 7};

static stats_table *t;

static void begin(void)
{
    t = stats_tables = new_tables();
}

stats_table *stats_tables;

static const stats_wait *watched;
static int looks;

int __real_prctl(int option, char *name);
int __wrap_prctl(int option, char *name);

/* In the middle of what is written, when the thread's name is. */
int __wrap_prctl(int option, char *name)
{
    if (watched != NULL) {
        check_number("in the middle", watched->end_ns, 0);
        looks++;
    }
    return __real_prctl(option, name);
}

/* ---- times */

static void times_are_in_buckets_of_powers_of_two(const lock_info *lock)
{
    (void)lock;
    static const struct {
        uint64_t ns;
        int bucket;
    } known[] = {{0, 0},
                 {1, 0},
                 {2, 1},
                 {3, 1},
                 {4, 2},
                 {1023, 9},
                 {1024, 10},
                 {UINT64_C(1) << 39, 39},
                 {(UINT64_C(1) << 39) - 1, 38},
                 {UINT64_C(1) << 40, 39},
                 {UINT64_MAX, 39}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        stats_times one = {0}, shared = {0};
        stats_record(&one, known[i].ns);
        stats_record_shared(&shared, known[i].ns);
        check_number("bucket", one.buckets[known[i].bucket], 1);
        CHECK(memcmp(&one, &shared, sizeof one) == 0, "%ju: not the same", (uintmax_t)known[i].ns);
    }
}

static void times_add_up(const lock_info *lock)
{
    (void)lock;
    static const uint64_t ns[] = {20, 50, 30, 17};
    stats_times one = {0}, shared = {0};
    for (int i = 0; i < 4; i++) {
        stats_record(&one, ns[i]);
        stats_record_shared(&shared, ns[i]);
    }
    CHECK(memcmp(&one, &shared, sizeof one) == 0, "not the same");
    check_number("count", one.count, 4);
    check_number("total", one.total_ns, 117);
    check_number("worst", one.worst_ns, 50);
    check_number("bucket", one.buckets[4], 3);
}

static void places_are_handed_out_while_there_are_any(const lock_info *lock)
{
    (void)lock;
    stats_id used = 0;
    check_number("first", stats_take(&used, 3, 8), 1);
    check_number("second", stats_take(&used, 3, 8), 4);
    check_number("too many", stats_take(&used, 3, 8), 0);
    check_number("used", used, 6);
    check_number("last", stats_take(&used, 1, 8), 7);
    check_number("none", stats_take(&used, 1, 8), 0);
    check_number("used", used, 7);
}

/* ---- meets */

static stats_meet *meet(size_t from, size_t to)
{
    stats_meet *found = NULL;
    for (size_t i = from; i < to; i++)
        if (t->meets[i].row != 0) {
            CHECK(found == NULL, "there are two");
            found = &t->meets[i];
        }
    CHECK(found != NULL, "there is none");
    return found;
}

enum { HALF = STATS_MEETS / 2, QUARTER = STATS_MEETS / 4 };

static void who_met_whom_is_added_up(const lock_info *lock)
{
    (void)lock;
    begin();
    stats_row *row = &t->locks[3];
    stats_met(row, 5, 6, 20);
    stats_met(row, 5, 6, 30);
    stats_met(row, 5, 6, 10);
    stats_meet *m = meet(0, HALF);
    CHECK(m->row == 3 && m->waiter == 5 && m->holder == 6, "%u %u %u", m->row, m->waiter, m->holder);
    CHECK(m->count == 3 && m->total_ns == 60 && m->worst_ns == 30, "%ju %ju %ju", (uintmax_t)m->count,
          (uintmax_t)m->total_ns, (uintmax_t)m->worst_ns);
    begin();
    stats_met_in_vain(&t->locks[3], 5, 6, 20);
    stats_met_in_vain(&t->locks[3], 5, 6, 30);
    stats_met_in_vain(&t->locks[3], 5, 6, 10);
    m = meet(0, HALF);
    check_number("waiter", m->waiter, 5 | STATS_IN_VAIN);
    CHECK(m->count == 3 && m->total_ns == 60 && m->worst_ns == 30, "%ju %ju %ju", (uintmax_t)m->count,
          (uintmax_t)m->total_ns, (uintmax_t)m->worst_ns);
}

static void each_has_a_part_of_the_table(const lock_info *lock)
{
    (void)lock;
    begin();
    stats_met(&t->locks[3], 0, 6, 20); /* a hold of a lock that nobody waited for */
    meet(HALF, HALF + QUARTER);
    t->locks[3].detail = 1;
    stats_met(&t->locks[3], 0, 6, 20);
    meet(HALF + QUARTER, STATS_MEETS);
    stats_met(&t->locks[3], 1, 6, 20);
    meet(0, HALF);
}

/* All of them would be at one place: the table is full of others there. */
static void what_differs_is_kept_apart(const lock_info *lock)
{
    (void)lock;
    begin();
    for (uint32_t i = 1; i <= 40; i++)
        for (uint32_t j = 1; j <= 40; j++) {
            stats_met(&t->locks[i], j, 1, i);
            stats_met(&t->locks[1], i, 100 + j, 1);
        }
    for (int i = 0; i < HALF; i++) {
        stats_meet *m = &t->meets[i];
        CHECK(m->row == 0 || m->count == 1, "%u %u %u: %ju", m->row, m->waiter, m->holder,
              (uintmax_t)m->count);
    }
    check_number("lost", t->lost_meets, 0);
}

static void neighbours_do_not_mix(const lock_info *lock)
{
    (void)lock;
    begin();
    stats_met(&t->locks[3], 5, 6, 1);
    stats_meet *m = meet(0, HALF), *end = &t->meets[HALF];
    const stats_meet known = {.row = 3, .waiter = 5, .holder = 6};
    stats_meet others[] = {known, known, known};
    others[0].row = 4;
    others[1].waiter = 4;
    others[2].holder = 4;
    for (int i = 0; i < 3; i++) { /* one that differs in one is where it would be */
        *m = others[i];
        m->count = 50;
        stats_meet *next = m + 1 < end ? m + 1 : t->meets;
        *next = (stats_meet){0};
        stats_met(&t->locks[3], 5, 6, 1);
        check_number("of the other", m->count, 50);
        CHECK(next->row == 3 && next->waiter == 5 && next->holder == 6 && next->count == 1,
              "not its neighbour");
    }
}

static void without_room_they_are_counted(const lock_info *lock)
{
    (void)lock;
    enum { NEIGHBOURHOOD = 128 };
    begin();
    stats_met(&t->locks[3], 5, 6, 1);
    size_t first = (size_t)(meet(0, HALF) - t->meets);
    for (size_t i = 0; i < NEIGHBOURHOOD; i++)
        t->meets[(first + i) % HALF] = (stats_meet){.row = i % 2 == 0 ? 9 : STATS_CLAIMED};
    stats_met(&t->locks[3], 5, 6, 1);
    stats_met_in_vain(&t->locks[3], 5 & ~STATS_IN_VAIN, 6, 1); /* which is elsewhere */
    check_number("lost", t->lost_meets, 1);
    t->meets[(first + NEIGHBOURHOOD - 1) % HALF] = (stats_meet){0};
    stats_met(&t->locks[3], 5, 6, 1);
    check_number("the last of them", t->meets[(first + NEIGHBOURHOOD - 1) % HALF].count, 1);
    for (int i = 0; i < HALF; i++)
        t->meets[i] = (stats_meet){.row = 9};
    stats_met_in_vain(&t->locks[3], 5, 6, 1);
    check_number("lost", t->lost_meets, 2);
}

/* ---- the longest waits */

static void keep(uint32_t row, uint64_t start, uint64_t ns)
{
    stats_call c = {
        .row = &t->locks[row], .start_ns = start, .held_since = 2, .stack = 3, .holder = 4, .holder_tid = 5};
    stats_keep_if_long(&c, start + ns);
    check_number("lock", t->worst_lock, 0);
}

static uint64_t length(const stats_wait *w)
{
    return w->end_ns - w->start_ns;
}

static void the_longest_waits_are_kept(const lock_info *lock)
{
    (void)lock;
    begin();
    stats_longest *l = &t->worst[0];
    for (uint64_t i = 1; i <= STATS_WORST; i++) {
        check_number("shorter ones are not kept", l->least_ns, 0);
        keep(1, 1000 * i, 1000 + 7 * (i * 5 % STATS_WORST)); /* in no order */
    }
    check_number("the shortest", l->least_ns, 1000);
    stats_longest before = *l;
    keep(1, 1, 999);
    keep(1, 1, 1000);
    CHECK(memcmp(&before, l, sizeof before) == 0, "a shorter one was kept");
    keep(1, 1, 1003); /* in place of the shortest, and is the shortest */
    check_number("the shortest", l->least_ns, 1003);
    keep(1, 1, 5000);
    check_number("the shortest", l->least_ns, 1007);
    int of_1003 = 0, of_5000 = 0;
    for (int i = 0; i < STATS_WORST; i++) {
        of_1003 += length(&l->waits[i]) == 1003;
        of_5000 += length(&l->waits[i]) == 5000;
        CHECK(length(&l->waits[i]) >= 1007, "%ju", (uintmax_t)length(&l->waits[i]));
    }
    CHECK(of_1003 == 0 && of_5000 == 1, "%d and %d", of_1003, of_5000);
}

static void a_long_wait_is_described(const lock_info *lock)
{
    (void)lock;
    begin();
    prctl(PR_SET_NAME, "some name");
    keep(6, 100, 50);
    const stats_wait *w = NULL;
    for (int i = 0; i < STATS_WORST; i++)
        w = t->worst[0].waits[i].end_ns != 0 ? &t->worst[0].waits[i] : w;
    CHECK(w != NULL, "not kept");
    CHECK(w->start_ns == 100 && w->end_ns == 150 && w->held_since == 2 && w->row == 6 && w->waiter == 3 &&
              w->holder == 4 && w->holder_tid == 5 && w->waiter_tid == 7,
          "something is missing");
    check_text("name", w->waiter_name, "some name");
    t->locks[6].kind = STATS_COND;
    keep(6, 100, 60);
    CHECK(t->worst[0].waits[0].end_ns != 160 && t->worst[1].waits[0].end_ns == 160, "kept apart");
}

static void while_another_thread_is_there_it_is_not_kept(const lock_info *lock)
{
    (void)lock;
    begin();
    t->worst_lock = 1; /* for ever: a handler interrupted it */
    stats_call c = {.row = &t->locks[1], .start_ns = 100};
    stats_keep_if_long(&c, 200);
    CHECK(t->worst[0].waits[0].end_ns == 0 && t->worst_lock == 1, "kept");
    t->worst_lock = 0;
    t->worst[0].least_ns = 0;
    for (int i = 0; i < STATS_WORST; i++)
        t->worst[0].waits[i] = (stats_wait){.start_ns = 1, .end_ns = 501}; /* longer ones, meanwhile */
    stats_keep_if_long(&c, 200);
    for (int i = 0; i < STATS_WORST; i++)
        check_number("of the others", t->worst[0].waits[i].end_ns, 501);
}

/* The first of them goes, for a new one: a reader may look in the middle. */
static void a_wait_that_is_being_written_is_free(const lock_info *lock)
{
    (void)lock;
    begin();
    for (int i = 0; i < STATS_WORST; i++)
        t->worst[0].waits[i] = (stats_wait){.start_ns = 1, .end_ns = 501 + (uint64_t)i};
    watched = &t->worst[0].waits[0];
    keep(6, 1000, 5000);
    check_number("looked at", (uint64_t)looks, 1);
    check_number("afterwards", watched->end_ns, 6000);
}

/* ---- those that have not ended */

static stats_call waiting(void)
{
    stats_call c = {
        .row = &t->locks[6], .start_ns = 100, .held_since = 2, .stack = 3, .holder = 4, .holder_tid = 5};
    stats_enlist(&c);
    return c;
}

static void a_wait_is_listed_until_it_ends(const lock_info *lock)
{
    (void)lock;
    begin();
    stats_call c = waiting();
    stats_wait *w = c.waiting;
    CHECK(w == &t->waiting[7] && !c.unlisted, "not at its thread's place");
    CHECK(w->start_ns == 100 && w->held_since == 2 && w->row == 6 && w->waiter == 3 && w->holder == 4 &&
              w->holder_tid == 5 && w->waiter_tid == 7 && w->end_ns == 0,
          "something is missing");
    stats_discharge(&c);
    CHECK(w->start_ns == 0 && w->waiter_tid == 0, "still listed");
    check_number("unlisted", t->unlisted, 0);
}

static void beyond_its_neighbourhood_it_is_counted(const lock_info *lock)
{
    (void)lock;
    enum { NEIGHBOURHOOD = 32 };
    stats_call calls[NEIGHBOURHOOD];
    begin();
    self.tid = 2 * STATS_WAITING - 3; /* over the end, to the beginning */
    for (int i = 0; i < NEIGHBOURHOOD; i++) {
        calls[i] = waiting();
        CHECK(calls[i].waiting == &t->waiting[(STATS_WAITING - 3 + i) % STATS_WAITING] && !calls[i].unlisted,
              "%d", i);
    }
    stats_call more = waiting();
    CHECK(more.waiting == NULL && more.unlisted, "too many");
    check_number("unlisted", t->unlisted, 1);
    stats_discharge(&more);
    check_number("unlisted", t->unlisted, 0);
    stats_discharge(&calls[20]);
    more = waiting();
    CHECK(more.waiting == calls[20].waiting, "a free place");
    check_number("unlisted", t->unlisted, 0);
    self.tid = 0; /* not known yet */
    more = waiting();
    CHECK(more.waiting == NULL && more.unlisted, "of nobody");
}

static const promise promises[] = {
    {"times_are_in_buckets_of_powers_of_two", times_are_in_buckets_of_powers_of_two, NULL, "waits"},
    {"times_add_up", times_add_up, NULL, "waits"},
    {"places_are_handed_out_while_there_are_any", places_are_handed_out_while_there_are_any, NULL, "waits"},
    {"who_met_whom_is_added_up", who_met_whom_is_added_up, NULL, "waits"},
    {"each_has_a_part_of_the_table", each_has_a_part_of_the_table, NULL, "waits"},
    {"what_differs_is_kept_apart", what_differs_is_kept_apart, NULL, "waits"},
    {"neighbours_do_not_mix", neighbours_do_not_mix, NULL, "waits"},
    {"without_room_they_are_counted", without_room_they_are_counted, NULL, "waits"},
    {"the_longest_waits_are_kept", the_longest_waits_are_kept, NULL, "waits"},
    {"a_long_wait_is_described", a_long_wait_is_described, NULL, "waits"},
    {"a_wait_that_is_being_written_is_free", a_wait_that_is_being_written_is_free, NULL, "waits"},
    {"while_another_thread_is_there_it_is_not_kept", while_another_thread_is_there_it_is_not_kept, NULL,
     "waits"},
    {"a_wait_is_listed_until_it_ends", a_wait_is_listed_until_it_ends, NULL, "waits"},
    {"beyond_its_neighbourhood_it_is_counted", beyond_its_neighbourhood_it_is_counted, NULL, "waits"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
