/* stack.c - how call stacks are captured, found again, and kept
 *
 * The unwinder and the thread's stack are ours, but for the last promises.
 */
#include "tables.h"

#include <execinfo.h>
#include <sys/uio.h>
#include <time.h>
#include <unwind.h>

stats_table *stats_tables;

/* ---- others that are asked */

static uint64_t now = 1000000000, computed;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    CHECK(clock == CLOCK_MONOTONIC || clock == CLOCK_THREAD_CPUTIME_ID, "clock %d", clock);
    uint64_t ns = clock == CLOCK_MONOTONIC ? now : computed;
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

unsigned stats_maps_of(const uint64_t *frames, int depth)
{
    return (unsigned)depth + (unsigned)(frames[0] & 0xf);
}

/* ---- the unwinder, which sees these frames */

enum { FRAMES = 40, WORDS = 400 };
static struct frame {
    uintptr_t pc, end, frame_pointer;
} seen[FRAMES];
static int frames, looks, walks, prepared;

_Unwind_Reason_Code __real__Unwind_Backtrace(_Unwind_Trace_Fn each, void *argument);
_Unwind_Reason_Code __wrap__Unwind_Backtrace(_Unwind_Trace_Fn each, void *argument);
_Unwind_Ptr __real__Unwind_GetIP(struct _Unwind_Context *context);
_Unwind_Ptr __wrap__Unwind_GetIP(struct _Unwind_Context *context);
_Unwind_Word __real__Unwind_GetCFA(struct _Unwind_Context *context);
_Unwind_Word __wrap__Unwind_GetCFA(struct _Unwind_Context *context);
_Unwind_Word __real__Unwind_GetGR(struct _Unwind_Context *context, int number);
_Unwind_Word __wrap__Unwind_GetGR(struct _Unwind_Context *context, int number);

static bool is_ours(struct _Unwind_Context *context)
{
    return (struct frame *)(void *)context >= seen && (struct frame *)(void *)context < seen + FRAMES;
}

_Unwind_Reason_Code __wrap__Unwind_Backtrace(_Unwind_Trace_Fn each, void *argument)
{
    walks++;
    errno = EINVAL; /* whatever it does inside */
    if (frames == 0)
        return __real__Unwind_Backtrace(each, argument);
    looks = 0;
    for (int i = 0; i < frames; i++) {
        looks++;
        computed += 10;
        _Unwind_Reason_Code code = each((struct _Unwind_Context *)(void *)&seen[i], argument);
        if (code != _URC_NO_REASON)
            return code;
    }
    prepared += argument == NULL;
    return _URC_END_OF_STACK;
}

_Unwind_Ptr __wrap__Unwind_GetIP(struct _Unwind_Context *context)
{
    return is_ours(context) ? ((struct frame *)(void *)context)->pc : __real__Unwind_GetIP(context);
}

_Unwind_Word __wrap__Unwind_GetCFA(struct _Unwind_Context *context)
{
    return is_ours(context) ? ((struct frame *)(void *)context)->end : __real__Unwind_GetCFA(context);
}

_Unwind_Word __wrap__Unwind_GetGR(struct _Unwind_Context *context, int number)
{
    if (!is_ours(context))
        return __real__Unwind_GetGR(context, number);
    check_number("register", (uint64_t)number,
#ifdef __x86_64__
                 6
#else
                 29
#endif
    );
    return ((struct frame *)(void *)context)->frame_pointer;
}

/* ---- a thread's stack: words[] is nearer to its beginning than all that is called from here */

enum { SITE = 0x5001 };
static uintptr_t *words;

/* `own` frames of the library, then those of the program: SITE, SITE + 0x1000, and so on, 8 words each. */
static void lay_out(int own, int program)
{
    frames = own + program;
    memset(words, 0, WORDS * sizeof *words);
    for (int i = 0; i < frames; i++) {
        uintptr_t pc = (uintptr_t)(i < own ? 0x100 + i : SITE + 0x1000 * (i - own));
        seen[i] = (struct frame){.pc = pc, .end = (uintptr_t)(words + 8 * (i + 1))};
        if (i > 0) /* where its callee returns to */
            words[8 * i + (i >= own ? 7 : 0)] = pc;
    }
}

static stats_table *t;

/* As deep as that, with words on the stack above all that it calls. */
static void with_tables(uint32_t depth, void (*check)(void))
{
    uintptr_t memory[WORDS];
    words = memory;
    t = stats_tables = new_tables();
    t->depth = depth;
    t->start_ns = now;
    lay_out(3, 5);
    check();
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* From one place, so that it is found again. */
__attribute__((noinline)) static uint32_t capture(uintptr_t site)
{
    errno = ETIME;
    uint32_t stack = stats_stack_here((const void *)site);
    check_number("errno", (uint64_t)errno, ETIME);
    return stack;
}

static void check_stack(uint32_t stack, const uint64_t *wanted, int depth)
{
    CHECK(stack != 0, "none");
    const stats_stack *s = &t->stacks[stack];
    check_number("depth", s->depth, (uint64_t)depth);
    check_number("ready", s->ready, 1);
    check_number("generation", s->generation, (uint64_t)depth + (wanted[0] & 0xf));
    for (int i = 0; i < depth; i++)
        check_number("frame", t->frames[s->first + (uint32_t)i], wanted[i]);
}

static const uint64_t program[] = {SITE,          SITE + 0x1000, SITE + 0x2000,
                                   SITE + 0x3000, SITE + 0x4000, SITE + 0x5000};

/* ---- captured */

static void of_the_program(void)
{
    uint32_t stack = capture(SITE);
    check_stack(stack, program, 5);
    check_number("stacks", t->stacks_used, 1);
    check_number("frames", t->frames_used, 5);
    check_number("time", t->unwound_ns, 80);
}

/* The unwinder may have no frame of ours to show. */
static void of_nothing_else(void)
{
    const uint64_t wanted[] = {SITE + 1, SITE + 0x1000, SITE + 0x2000, SITE + 0x3000, SITE + 0x4000};
    lay_out(0, 5);
    check_stack(capture(SITE), program, 5);
    seen[0].pc = SITE + 1;
    leave_ones();
    check_stack(capture(SITE + 1), wanted, 5);
    check_number("traces", t->traces_used, 0); /* of the first, nobody knows where it is */
}

static void of_one_call(void)
{
    uint32_t stack = capture(SITE);
    check_stack(stack, program, 1);
    check_number("walks", (uint64_t)walks, 0);
    check_number("the same", stats_stack_of(SITE), stack);
    CHECK(stats_stack_of(SITE + 1) != stack, "another");
}

static void not_deeper(void)
{
    check_stack(capture(SITE), program, 3);
    check_number("looks", (uint64_t)looks, 6);
}

static void beside_the_program(void)
{
    lay_out(12, 5); /* more of our own than there can be: the call is not there */
    check_stack(capture(SITE), program, 1);
    check_number("looks", (uint64_t)looks, 10);
    check_number("traces", t->traces_used, 0);
    lay_out(9, 5);
    check_stack(capture(SITE), program, 5);
    lay_out(3, 5);
    seen[5].pc = 0;
    check_stack(capture(SITE), program, 2);
    lay_out(3, 5);
    words[8 * 4 + 7] = seen[4].pc = 0x66; /* another stack */
    seen[6].end = seen[5].end - 8;        /* back */
    const uint64_t wanted[] = {SITE, 0x66, SITE + 0x2000};
    check_stack(capture(SITE), wanted, 3);
}

/* ---- found again */

static void by_their_traces(void)
{
    uint32_t stack = capture(SITE);
    for (int i = 0; i < 3; i++)
        check_number("the same", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 1);
    words[8 * 7 + 7] = seen[7].pc = 0x77; /* another caller at the end */
    uint32_t other = capture(SITE);
    const uint64_t wanted[] = {SITE, SITE + 0x1000, SITE + 0x2000, SITE + 0x3000, 0x77};
    check_stack(other, wanted, 5);
    check_number("walks", (uint64_t)walks, 2);
    check_number("the same", capture(SITE), other);
    check_number("walks", (uint64_t)walks, 2);
    check_number("stacks", t->stacks_used, 2);
    words[8 * 7 + 7] = seen[7].pc = SITE + 0x4000; /* as before: kept once */
    check_number("the first", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 3);
    check_number("stacks", t->stacks_used, 2);
}

/* A trace of another site or of another depth of the stack is at the same place by chance. */
static void by_their_own_traces(void)
{
    uint32_t stack = capture(SITE);
    for (size_t i = 0; i < STATS_TRACES; i++)
        t->trace_index[i] = 1;
    seen[3].pc = words[8 * 3 + 7] = SITE + 1;
    CHECK(capture(SITE + 1) != stack, "another site");
    check_number("walks", (uint64_t)walks, 2);
    lay_out(3, 5);
    t->traces[1].base += 8;
    for (size_t i = 0; i < STATS_TRACES; i++)
        t->trace_index[i] = 1;
    for (int i = 0; i < 5; i++)
        t->traces[1].at[i] -= 8; /* its words are there */
    check_number("the same", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 3);
}

/* A return address that is in no slot: it was in a register. */
static void not_without_slots(void)
{
    words[8 * 5 + 7] = 0;
    uint32_t stack = capture(SITE);
    check_stack(stack, program, 5);
    check_number("the same", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 2);
    check_number("traces", t->traces_used, 0);
}

/* Near the end of the callee's frame is good enough. */
static void by_slots_that_are_near(void)
{
    words[8 * 5 + 7] = 0;
    words[8 * 5 + 1] = seen[5].pc;
    uint32_t stack = capture(SITE);
    check_number("the same", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 1);
    check_number("where", t->traces[1].base + t->traces[1].at[2], (uintptr_t)&words[8 * 5 + 1]);
    lay_out(3, 5);
    words[8 * 5 + 7] = 0;
    words[8 * 5 - 1] = seen[5].pc; /* of the frame before it */
    words[8 * 4 + 6] = seen[4].pc;
    words[8 * 4 + 7] = 0x99;
    capture(SITE);
    capture(SITE);
    check_number("walks", (uint64_t)walks, 3);
}

static void not_too_far_away(void)
{
    for (int far = 0; far < 2; far++) {
        lay_out(3, 2);
        walks = 0;
        for (int i = 4; i < 5; i++) /* a large frame: 63 words before its end, or 64 */
            seen[i].end = (uintptr_t)(words + 8 * 4 + 8 + 100);
        words[8 * 4 + 7] = 0;
        words[8 * 4 + 8 + 100 - 64 - far] = seen[4].pc;
        seen[3].pc = words[8 * 3 + 7] = (uintptr_t)(SITE + 0x100 * (far + 1));
        capture(seen[3].pc);
        capture(seen[3].pc);
        check_number("walks", (uint64_t)walks, far == 0 ? 1 : 2);
    }
}

/* ---- by frame pointers */

/* Where the unwinder knows no more: at word `from`, a frame pointer and a return address. */
static void chain(int from, int to, uintptr_t pc)
{
    words[from] = to >= 0 ? (uintptr_t)&words[to] : 0;
    words[from + 1] = pc;
}

static void of_what_has_no_tables(void)
{
    static const uint64_t wanted[] = {SITE, SITE + 0x1000, 0x8888, 0x9999};
    lay_out(3, 2);
    seen[4].frame_pointer = (uintptr_t)&words[100];
    chain(100, 120, 0x8888);
    chain(120, -1, 0x9999);
    uint32_t stack = capture(SITE);
    check_stack(stack, wanted, 4);
    check_number("the same", capture(SITE), stack);
    check_number("walks", (uint64_t)walks, 1);
    chain(120, 110, 0x9998); /* backwards: the end */
    chain(110, -1, 0x7777);
    stack = capture(SITE);
    const uint64_t other[] = {SITE, SITE + 0x1000, 0x8888, 0x9998};
    check_stack(stack, other, 4);
    check_number("walks", (uint64_t)walks, 2);
    t->depth = 3;
    words[101] = 0x8889;
    const uint64_t third[] = {SITE, SITE + 0x1000, 0x8889};
    check_stack(capture(SITE), third, 3);
}

static void but_not_by_wrong_ones(void)
{
    uintptr_t end = (uintptr_t)(words + 8 * 5);
    const uintptr_t wrong[] = {0, end - 8, end + 4, end + (UINT64_C(1) << 31), UINTPTR_MAX - 7, end};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lay_out(3, 2);
        words[8 * 5 + 1] = 0x8888;
        words[8 * 5 - 1 + 1] = 0x8888; /* behind one that is 8 too small */
        if (wrong[i] == end)
            words[8 * 5 + 1] = 4095; /* no code */
        seen[3].pc = words[8 * 3 + 7] = SITE + 0x10 * i;
        seen[4].frame_pointer = wrong[i];
        check_number("depth", t->stacks[capture(seen[3].pc)].depth, 2);
    }
    words[8 * 5 + 1] = 4096;
    seen[3].pc = words[8 * 3 + 7] = SITE + 0x900;
    check_number("depth", t->stacks[capture(seen[3].pc)].depth, 3);
}

/* A page that is not there, or so far that no stack is as long: with code where it would point to. */
static void nor_where_nothing_is(void)
{
    lay_out(3, 2);
    uintptr_t page =
        (uintptr_t)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ((uintptr_t *)page)[1] = 0x8888;
    words = memcpy((void *)(page + 4096), words, 8 * 6 * sizeof *words); /* this stack is here now */
    for (int i = 0; i < frames; i++)
        seen[i].end = (uintptr_t)(words + 8 * (i + 1));
    munmap((void *)(page + 8192), 4096);
    seen[4].frame_pointer = page + 8192;
    check_number("depth", t->stacks[capture(SITE)].depth, 2);
    seen[4].frame_pointer = page; /* before it */
    seen[3].pc = SITE + 0x20;
    check_number("depth", t->stacks[capture(SITE + 0x20)].depth, 2);
    char *far = mmap(NULL, UINT64_C(3) << 30, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(far != MAP_FAILED, "mmap: %s", strerror(errno));
    for (int i = 0; i < frames; i++)
        seen[i].end = (uintptr_t)far + (uintptr_t)(8 * i);
    ((uintptr_t *)(far + (UINT64_C(1) << 31)))[1] = 0x8888;
    seen[4].frame_pointer = (uintptr_t)far + (UINT64_C(1) << 31);
    seen[3].pc = SITE + 0x30;
    check_number("depth", t->stacks[capture(SITE + 0x30)].depth, 2);
}

/* ---- limits */

static void as_long_as_there_is_time(void)
{
    t->unwound_ns = 50000000;
    check_number("depth", t->stacks[capture(SITE)].depth, 5);
    words[8 * 7 + 7] = seen[7].pc = 0x77;
    t->unwound_ns = 50000001;
    check_number("depth", t->stacks[capture(SITE)].depth, 1);
    check_number("cut", t->cut_stacks, 1);
    now += 16;
    check_number("depth", t->stacks[capture(SITE)].depth, 5);
    check_number("cut", t->cut_stacks, 1);
    check_number("walks", (uint64_t)walks, 2);
}

static void as_long_as_there_is_room(void)
{
    uint32_t stack = capture(SITE);
    t->frames_used = STATS_FRAMES - 2;
    words[8 * 7 + 7] = seen[7].pc = 0x77;
    check_number("without frames", capture(SITE), 0);
    check_number("lost", t->lost_stacks, 1);
    t->frames_used = 5;
    t->stacks_used = STATS_STACKS;
    check_number("without stacks", capture(SITE), 0);
    check_number("lost", t->lost_stacks, 2);
    check_number("traces", t->traces_used, 1);
    t->stacks_used = 1;
    for (size_t i = 0; i < 2 * STATS_STACKS; i++)
        t->stack_index[i] = t->stack_index[i] == 0 ? stack : t->stack_index[i];
    check_number("without a place", capture(SITE), 0);
    check_number("lost", t->lost_stacks, 3);
    memset(t->stack_index, 0, sizeof t->stack_index);
    t->traces_used = STATS_TRACES;
    stats_trace none = t->traces[0];
    stack = capture(SITE);
    CHECK(stack != 0 && capture(SITE) == stack, "without traces");
    CHECK(memcmp(&none, &t->traces[0], sizeof none) == 0, "trace 0 is nobody's");
}

static void with_others_at_their_places(void)
{
    uint64_t hash = 0;
    uint32_t one = stats_stack_of(0x123);
    for (size_t i = 0; i < 2 * STATS_STACKS; i++)
        hash = t->stack_index[i] == one ? i : hash;
    t->stack_index[hash] = 0;
    uint32_t other = stats_stack_of(0x124);
    t->stack_index[hash] = other;                /* where the first would be */
    t->stacks[other].hash = t->stacks[one].hash; /* and looks like it */
    uint32_t again = stats_stack_of(0x123);
    CHECK(again != other && again != 0, "taken for another");
    const uint64_t call[] = {0x123};
    check_stack(again, call, 1);
    check_number("in its neighbourhood", t->stack_index[(hash + 1) % (2 * STATS_STACKS)], again);
    check_number("and found there", stats_stack_of(0x123), again);
}

static void for_many(void)
{
    enum { MANY = 5000 };
    for (uintptr_t i = 1; i <= MANY; i++) {
        words[8 * 4 + 7] = seen[4].pc = i;
        CHECK(capture(SITE) != 0, "%ju", (uintmax_t)i);
    }
    check_number("stacks", t->stacks_used, MANY);
    check_number("lost", t->lost_stacks, 0);
}

/* ---- the real one */

__attribute__((noinline)) static uint32_t called(void)
{
    uint32_t stack = capture((uintptr_t)__builtin_return_address(0));
    __asm__ volatile("");
    return stack;
}

static void as_the_c_library_sees_it(void)
{
    void *all[64];
    frames = 0;
    t->depth = 6;
    stats_stack_prepare();
    uint32_t stack[2];
    for (volatile int i = 0; i < 2; i++) /* from one place */
        stack[i] = called();
    check_number("the same", stack[0], stack[1]);
    check_number("walks", (uint64_t)walks, 2);
    int n = backtrace(all, 64);
    const stats_stack *s = &t->stacks[stack[0]];
    check_number("depth", s->depth, 6);
    for (int i = 1; i < 6 && i < n; i++) /* all but the call, from here on */
        check_number("frame", t->frames[s->first + (uint32_t)i], (uintptr_t)all[i]);
}

static void prepared_by_a_whole_walk(void)
{
    stats_stack_prepare();
    check_number("walks to the end", (uint64_t)prepared, 1);
}

/* ---- */

#define PROMISE(name, depth, check)                                                                          \
    static void name(const lock_info *lock)                                                                  \
    {                                                                                                        \
        (void)lock;                                                                                          \
        with_tables(depth, check);                                                                           \
    }

PROMISE(a_stack_begins_with_the_call_of_the_program, 32, of_the_program)
PROMISE(a_stack_may_begin_at_once, 32, of_nothing_else)
PROMISE(there_is_room_for_many_stacks, 32, for_many)
PROMISE(without_stacks_the_call_is_known, 1, of_one_call)
PROMISE(stacks_are_as_deep_as_was_asked_for, 3, not_deeper)
PROMISE(where_the_unwinder_ends_so_does_the_stack, 32, beside_the_program)
PROMISE(a_stack_is_found_where_it_was_found_before, 32, by_their_traces)
PROMISE(a_trace_is_of_one_call_at_one_depth, 32, by_their_own_traces)
PROMISE(what_was_in_a_register_is_unwound_again, 32, not_without_slots)
PROMISE(a_return_address_may_be_near_its_place, 32, by_slots_that_are_near)
PROMISE(but_not_farther_away_than_64_words, 32, not_too_far_away)
PROMISE(code_without_tables_has_frame_pointers, 32, of_what_has_no_tables)
PROMISE(wrong_frame_pointers_do_no_harm, 32, but_not_by_wrong_ones)
PROMISE(frame_pointers_to_nowhere_do_no_harm, 32, nor_where_nothing_is)
PROMISE(unwinding_takes_a_share_of_the_time, 32, as_long_as_there_is_time)
PROMISE(without_room_stacks_are_counted, 32, as_long_as_there_is_room)
PROMISE(a_stack_is_not_taken_for_its_neighbour, 32, with_others_at_their_places)
PROMISE(it_is_the_stack_that_the_c_library_sees, 32, as_the_c_library_sees_it)
PROMISE(the_unwinder_is_prepared, 32, prepared_by_a_whole_walk)

static const promise promises[] = {
    {"a_stack_begins_with_the_call_of_the_program", a_stack_begins_with_the_call_of_the_program, NULL,
     "stack"},
    {"a_stack_may_begin_at_once", a_stack_may_begin_at_once, NULL, "stack"},
    {"there_is_room_for_many_stacks", there_is_room_for_many_stacks, NULL, "stack"},
    {"without_stacks_the_call_is_known", without_stacks_the_call_is_known, NULL, "stack"},
    {"stacks_are_as_deep_as_was_asked_for", stacks_are_as_deep_as_was_asked_for, NULL, "stack"},
    {"where_the_unwinder_ends_so_does_the_stack", where_the_unwinder_ends_so_does_the_stack, NULL, "stack"},
    {"a_stack_is_found_where_it_was_found_before", a_stack_is_found_where_it_was_found_before, NULL, "stack"},
    {"a_trace_is_of_one_call_at_one_depth", a_trace_is_of_one_call_at_one_depth, NULL, "stack"},
    {"what_was_in_a_register_is_unwound_again", what_was_in_a_register_is_unwound_again, NULL, "stack"},
    {"a_return_address_may_be_near_its_place", a_return_address_may_be_near_its_place, NULL, "stack"},
    {"but_not_farther_away_than_64_words", but_not_farther_away_than_64_words, NULL, "stack"},
    {"code_without_tables_has_frame_pointers", code_without_tables_has_frame_pointers, NULL, "stack"},
    {"wrong_frame_pointers_do_no_harm", wrong_frame_pointers_do_no_harm, NULL, "stack"},
    {"frame_pointers_to_nowhere_do_no_harm", frame_pointers_to_nowhere_do_no_harm, NULL, "stack"},
    {"unwinding_takes_a_share_of_the_time", unwinding_takes_a_share_of_the_time, NULL, "stack"},
    {"without_room_stacks_are_counted", without_room_stacks_are_counted, NULL, "stack"},
    {"a_stack_is_not_taken_for_its_neighbour", a_stack_is_not_taken_for_its_neighbour, NULL, "stack"},
    {"it_is_the_stack_that_the_c_library_sees", it_is_the_stack_that_the_c_library_sees, NULL, "stack"},
    {"the_unwinder_is_prepared", the_unwinder_is_prepared, NULL, "stack"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
