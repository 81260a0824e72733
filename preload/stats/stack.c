/* stack.c - call stacks, each kept once
 *
 * Unwinding by .eh_frame takes microseconds, so a stack is looked for first where it was found before: a trace says at
 * which addresses of the thread's stack its return addresses were. If the call comes from the same place at the same
 * depth and all of them are still there, it is the same stack. That takes a few nanoseconds.
 *
 * Traces and stacks are never changed once they are published, and never freed. The unwinder is libgcc's, linked
 * statically: it allocates nothing, and finds unwind tables without a lock where glibc has _dl_find_object(). Code without unwind
 * tables, such as a JIT's, is followed by its frame pointers.
 */
#include "stats.h"
#include "count.h"

#include "src/park/clock.h"

#include <pawl/detail/atomic.h>

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

enum {
    OWN = 10,             /* more than the frames of this library in a stack */
    ALLOWANCE = 50000000, /* nanoseconds of unwinding that a process may always use, */
    ALLOWANCE_SHARE = 16, /* and one in so many of its time */
    FARTHEST = 1 << 30,   /* bytes from one end of a stack to the other */
#ifdef __x86_64__
    FRAME_POINTER = 6, /* its number in unwind tables */
#else
    FRAME_POINTER = 29,
#endif
};

/* ---- stacks */

static uint64_t hash_of(const uint64_t *frames, int depth)
{
    uint64_t h = (uint64_t)depth;
    for (int i = 0; i < depth; i++)
        h = stats_mix(h ^ frames[i]);
    return h | 1;
}

static bool is_stack(const stats_stack *s, uint64_t hash, const uint64_t *frames, int depth)
{
    return atomic_load_explicit(&s->hash, memory_order_relaxed) == hash && s->depth == depth &&
           memcmp(&stats_tables->frames[s->first], frames, (size_t)depth * sizeof *frames) == 0;
}

static uint32_t add_stack(uint64_t hash, const uint64_t *frames, int depth)
{
    stats_table *t = stats_tables;
    uint32_t first = stats_take(&t->frames_used, (uint32_t)depth, STATS_FRAMES);
    uint32_t place = first != 0 ? stats_take(&t->stacks_used, 1, STATS_STACKS) : 0;
    if (place == 0) {
        stats_add_shared(&t->lost_stacks, 1);
        return 0;
    }
    memcpy(&t->frames[first], frames, (size_t)depth * sizeof *frames);
    stats_stack *s = &t->stacks[place];
    s->first = first;
    s->depth = (uint16_t)depth;
    s->generation = (uint16_t)stats_maps_of(frames, depth);
    atomic_store_explicit(&s->hash, hash, memory_order_relaxed);
    atomic_store_explicit(&s->ready, 1, memory_order_release);
    return place;
}

static uint32_t keep(const uint64_t *frames, int depth)
{
    enum { NEIGHBOURHOOD = 64 };
    stats_table *t = stats_tables;
    uint64_t hash = hash_of(frames, depth);
    uint32_t mine = 0;
    for (size_t i = 0; i < NEIGHBOURHOOD; i++) {
        stats_id *slot = &t->stack_index[(size_t)(hash + i) % (2 * STATS_STACKS)];
        uint32_t place = atomic_load_explicit(slot, memory_order_acquire);
        if (place == 0) {
            if (mine == 0 && (mine = add_stack(hash, frames, depth)) == 0)
                return 0;
            if (atomic_compare_exchange_strong_explicit(slot, &place, mine, memory_order_release,
                                                        memory_order_acquire))
                return mine;
        }
        if (is_stack(&t->stacks[place], hash, frames, depth))
            return place;
    }
    stats_add_shared(&t->lost_stacks, 1);
    return 0;
}

uint32_t stats_stack_of(uintptr_t site)
{
    uint64_t frame = site;
    return keep(&frame, 1);
}

/* ---- unwinding */

typedef struct walk {
    uintptr_t site;
    int wanted, own, depth; /* own: frames of this library that were passed */
    uint64_t frames[STATS_DEPTH];
    uintptr_t at[STATS_DEPTH]; /* where each was found */
    uintptr_t end;             /* of the last frame's callee: CFA */
    uintptr_t frame_pointer;
} walk;

/* The slot of a return address is at the end of the callee's frame, or near it if it was in a register first. */
static uintptr_t find_slot(uintptr_t from, uintptr_t end, uintptr_t pc)
{
    enum { WORDS = 64 };
    for (uintptr_t at = end - sizeof pc, i = 0; at >= from && i < WORDS; at -= sizeof pc, i++)
        if (*(uintptr_t *)at == pc)
            return at;
    return 0;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    walk *w = argument;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(context), end = (uintptr_t)_Unwind_GetCFA(context);
    if (w->depth == 0 && pc != w->site) {
        w->end = end;
        return ++w->own < OWN ? _URC_NO_REASON : _URC_END_OF_STACK;
    }
    if (pc == 0 || end < w->end)
        return _URC_END_OF_STACK;
    w->at[w->depth] = w->end != 0 ? find_slot(w->end, end, pc) : 0;
    w->frames[w->depth++] = pc;
    w->end = end;
    w->frame_pointer = (uintptr_t)_Unwind_GetGR(context, FRAME_POINTER);
    return w->depth < w->wanted ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Where unwinding ended there may be frame pointers. A wrong one must do no harm: it is the kernel that reads. */
static void follow_frame_pointers(walk *w)
{
    struct {
        uintptr_t next, pc;
    } frame;
    while (w->depth > 0 && w->depth < w->wanted) {
        uintptr_t at = w->frame_pointer;
        struct iovec here = {&frame, sizeof frame}, there = {(void *)at, sizeof frame};
        if (at < w->end || at - w->end > FARTHEST || at % sizeof at != 0 ||
            process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof frame || frame.pc < 4096)
            return;
        w->at[w->depth] = at + sizeof at;
        w->frames[w->depth++] = frame.pc;
        w->end = at + 2 * sizeof at;
        w->frame_pointer = frame.next;
    }
}

static bool may_unwind(void)
{
    stats_table *t = stats_tables;
    uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC);
    if (stats_get(&t->unwound_ns) <= ALLOWANCE + (now - t->start_ns) / ALLOWANCE_SHARE)
        return true;
    stats_add_shared(&t->cut_stacks, 1);
    return false;
}

/* ---- traces */

static bool is_there(const stats_trace *t, uintptr_t site, uintptr_t base)
{
    if (t->site != site || t->base != base)
        return false;
    const uint64_t *frames = &stats_tables->frames[stats_tables->stacks[t->stack].first];
    for (uint32_t i = 0; i < t->depth; i++)
        if (*(uintptr_t *)(base + t->at[i]) != frames[i])
            return false;
    return true;
}

static void add_trace(stats_id *slot, const walk *w, uintptr_t base, uint32_t stack)
{
    for (int i = 0; i < w->depth; i++)
        if (w->at[i] < base || w->at[i] - base > FARTHEST)
            return;
    uint32_t place = stats_take(&stats_tables->traces_used, 1, STATS_TRACES);
    if (place == 0)
        return;
    stats_trace *t = &stats_tables->traces[place];
    t->site = w->site;
    t->base = base;
    t->stack = stack;
    t->depth = (uint32_t)w->depth;
    for (int i = 0; i < w->depth; i++)
        t->at[i] = (uint32_t)(w->at[i] - base);
    atomic_store_explicit(slot, place, memory_order_release);
}

__attribute__((noinline)) static uint32_t unwind(stats_id *slot, uintptr_t site, uintptr_t base)
{
    if (!may_unwind())
        return stats_stack_of(site);
    uint64_t start = pawl_nanoseconds(CLOCK_THREAD_CPUTIME_ID); /* not the time that other programs take */
    int before = errno;
    walk w;
    w.site = site;
    w.wanted = (int)stats_tables->depth;
    w.own = w.depth = 0;
    w.end = w.frame_pointer = 0;
    _Unwind_Backtrace(step, &w);
    follow_frame_pointers(&w);
    uint32_t stack = w.depth > 0 ? keep(w.frames, w.depth) : stats_stack_of(site);
    if (stack != 0 && w.depth > 0)
        add_trace(slot, &w, base, stack);
    stats_add_shared(&stats_tables->unwound_ns, pawl_nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    errno = before;
    return stack;
}

uint32_t stats_stack_here(const void *call)
{
    uintptr_t site = (uintptr_t)call, base = (uintptr_t)__builtin_frame_address(0);
    if (stats_tables->depth <= 1)
        return stats_stack_of(site);
    stats_id *slot = &stats_tables->trace_index[(size_t)stats_mix(site ^ stats_mix(base)) % STATS_TRACES];
    uint32_t place = atomic_load_explicit(slot, memory_order_acquire);
    if (PAWL_LIKELY(place != 0) && PAWL_LIKELY(is_there(&stats_tables->traces[place], site, base)))
        return stats_tables->traces[place].stack;
    return unwind(slot, site, base);
}

static _Unwind_Reason_Code ignore(struct _Unwind_Context *context, void *argument)
{
    (void)context, (void)argument;
    return _URC_NO_REASON;
}

/* The unwinder's first call prepares tables of its own. */
void stats_stack_prepare(void)
{
    _Unwind_Backtrace(ignore, NULL);
}
