/* timeslice.c - the owner of a contended mutex asks for more time, and gives it back
 *
 * With a kernel that this test plays: its rseq area, its prctl() and its rseq_slice_yield(). No kernel that has them was
 * at hand.
 */
#include "team.h"

#include "../src/mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

static __thread _Alignas(32) uint8_t fake_area[32];
static bool has_area = true;
static atomic_int has, refuses; /* what the kernel does */
static atomic_int enabled, yields;

static int fake_prctl(int what, unsigned long how, unsigned long value, unsigned long zero,
                      unsigned long nought)
{
    CHECK(what == 79 && zero == 0 && nought == 0, "prctl(%d, ...)", what);
    if (!has || (how == 2 && refuses)) {
        errno = EINVAL;
        return -1;
    }
    CHECK(how == 1 ? value == 0 : how == 2 && value == 1, "prctl(79, %lu, %lu)", how, value);
    enabled += how == 2;
    return 0;
}

static long fake_call(long number)
{
    CHECK(number == 471, "system call %ld", number);
    CHECK(fake_area[28] == 0, "the request is still there");
    fake_area[29] = 0;
    yields++;
    errno = EPERM;
    return 1;
}

/* An interrupt that would let another thread run. */
static bool grant(void)
{
    bool asked = fake_area[28] != 0;
    fake_area[28] = 0;
    fake_area[29] = asked;
    return asked;
}

#define PAWL_TIMESLICE_AREA (has_area ? fake_area : NULL)
#define prctl               fake_prctl
#define syscall             fake_call
#include "../src/park/timeslice.c"
#undef syscall

static void begin(bool kernel_has_it)
{
    has = kernel_has_it;
    unsetenv("PAWL_TIMESLICE");
    find_timeslice();
}

static pawl_mutex mutex;
static atomic_int visits, asked[2];
static bool fair, patient;

/* Whoever waits has a timer, and comes without a wake-up. */
static void make_patient(void)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_sleeper *head = pawl_queue_first(b, &mutex);
    pawl_mutex_let_go(b, head != NULL ? pawl_mutex_rouse(&mutex, head) : NULL);
    atomic_fetch_or(&mutex.patience, 100);
}

static void visit(int me, void *arg)
{
    (void)me, (void)arg;
    pawl_mutex_lock(&mutex);
    int number = visits++;
    asked[number] = grant();
    if (patient)
        make_patient();
    errno = 12345;
    if (fair)
        pawl_mutex_unlock_fair(&mutex);
    else
        pawl_mutex_unlock(&mutex);
    CHECK(errno == 12345, "errno is lost");
    CHECK(fake_area[28] == 0 && fake_area[29] == 0, "something is left");
}

static unsigned waiting(void)
{
    pawl_bucket *b = pawl_bucket_lock(&mutex);
    pawl_sleeper *first = pawl_queue_first(b, &mutex);
    unsigned length = first != NULL ? first->length : 0;
    pawl_bucket_unlock(b);
    return length;
}

/* Two queue up; the first gets the mutex while the second waits. */
static void contend(void)
{
    team_member team[2];
    visits = asked[0] = asked[1] = enabled = yields = 0;
    pawl_mutex_lock(&mutex);
    CHECK(fake_area[28] == 0, "an owner asks whom nobody waits for");
    team_start(team, 2, visit, NULL);
    while (waiting() < 2)
        sched_yield();
    pawl_mutex_unlock_fair(&mutex);
    team_join(team, 2);
}

static void an_owner_that_others_wait_for_gets_more_time(const lock_info *unused)
{
    (void)unused;
    begin(true);
    CHECK(pawl_timeslice_use == 1 && pawl_timeslice_find() == PAWL_TIMESLICE_WORKS, "not found");
    for (int i = 0; i < 3; i++) {
        fair = i == 1;
        patient = i == 2;
        contend();
        CHECK(asked[0] && !asked[1], "asked: %d, %d", asked[0], asked[1]);
        CHECK(enabled == 1, "enabled %d times", enabled);
        CHECK(yields == 1, "given back %d times", yields);
    }
}

/* It lost it in between, or it never came: then there is nothing to give back. */
static void what_was_not_granted_is_not_given_back(const lock_info *unused)
{
    (void)unused;
    begin(true);
    pawl_timeslice_ask();
    CHECK(fake_area[28] == 1, "not asked");
    pawl_timeslice_return();
    CHECK(fake_area[28] == 0 && yields == 0, "given back");
}

static void nobody_asks_twice(const lock_info *unused)
{
    (void)unused;
    begin(true);
    pawl_timeslice_ask();
    CHECK(grant(), "not asked");
    pawl_timeslice_ask();
    CHECK(fake_area[28] == 0, "asked again");
    pawl_timeslice_return();
    CHECK(yields == 1, "not given back");
}

static void a_kernel_without_it_is_left_alone(const lock_info *unused)
{
    (void)unused;
    begin(false);
    CHECK(pawl_timeslice_use == 0 && pawl_timeslice_find() == PAWL_TIMESLICE_NONE, "found");
    contend();
    CHECK(!asked[0] && !asked[1] && yields == 0 && enabled == 0, "asked");
}

static void a_thread_without_an_area_is_left_alone(const lock_info *unused)
{
    (void)unused;
    has_area = false;
    begin(true);
    CHECK(pawl_timeslice_use == 0 && pawl_timeslice_find() == PAWL_TIMESLICE_NO_AREA, "found");
}

static void a_thread_that_is_refused_does_without(const lock_info *unused)
{
    (void)unused;
    begin(true);
    refuses = 1;
    contend();
    CHECK(!asked[0] && !asked[1] && yields == 0, "asked");
}

static void a_refusal_leaves_no_trace(const lock_info *unused)
{
    (void)unused;
    begin(true);
    refuses = 1;
    errno = 12345;
    pawl_timeslice_ask();
    CHECK(errno == 12345, "errno is lost");
    fake_area[28] = 7; /* somebody else's */
    pawl_timeslice_return();
    CHECK(fake_area[28] == 7 && yields == 0, "gives back what it has not asked for");
    has = 0;
    CHECK(pawl_timeslice_find() == PAWL_TIMESLICE_NONE && errno == 12345, "errno is lost");
}

/* The kernel writes the CPU's number there. */
static void the_area_is_the_one_that_the_kernel_knows(const lock_info *unused)
{
    (void)unused;
    volatile uint8_t *mine = area();
    if (mine == NULL) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35) && (defined(__x86_64__) || defined(__aarch64__))
        CHECK(__rseq_size == 0, "not found");
#endif
        skip("the C library has registered none");
    }
    unsigned before, there, after;
    do {
        CHECK(syscall(SYS_getcpu, &before, NULL, NULL) == 0, "no CPU");
        there = *(volatile uint32_t *)(volatile void *)(mine + 4);
        CHECK(syscall(SYS_getcpu, &after, NULL, NULL) == 0, "no CPU");
    } while (before != after);
    CHECK(there == before, "CPU %u, not %u", there, before);
}

static void it_can_be_switched_off(const lock_info *unused)
{
    (void)unused;
    has = 1;
    setenv("PAWL_TIMESLICE", "off", 1);
    find_timeslice();
    CHECK(pawl_timeslice_use == 0 && pawl_timeslice_find() == PAWL_TIMESLICE_UNWANTED, "it is used");
}

static const promise promises[] = {
    {.name = "an_owner_that_others_wait_for_gets_more_time",
     .check = an_owner_that_others_wait_for_gets_more_time,
     .subject = "timeslice"},
    {.name = "what_was_not_granted_is_not_given_back",
     .check = what_was_not_granted_is_not_given_back,
     .subject = "timeslice"},
    {.name = "nobody_asks_twice", .check = nobody_asks_twice, .subject = "timeslice"},
    {.name = "a_kernel_without_it_is_left_alone",
     .check = a_kernel_without_it_is_left_alone,
     .subject = "timeslice"},
    {.name = "a_thread_without_an_area_is_left_alone",
     .check = a_thread_without_an_area_is_left_alone,
     .subject = "timeslice"},
    {.name = "a_thread_that_is_refused_does_without",
     .check = a_thread_that_is_refused_does_without,
     .subject = "timeslice"},
    {.name = "a_refusal_leaves_no_trace", .check = a_refusal_leaves_no_trace, .subject = "timeslice"},
    {.name = "the_area_is_the_one_that_the_kernel_knows",
     .check = the_area_is_the_one_that_the_kernel_knows,
     .subject = "timeslice"},
    {.name = "it_can_be_switched_off", .check = it_can_be_switched_off, .subject = "timeslice"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
