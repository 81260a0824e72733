/* futex.c - futexes in virtual time
 *
 * The kernel's table of futexes is memory, too: every call takes the line of its bucket, so calls for one futex queue up
 * as they do in the kernel.
 */
#include "kernel.h"
#include "watch.h"

#include <errno.h>
#include <linux/futex.h>

enum { BUCKETS = 256, APART = 256 };

static char buckets[BUCKETS][APART] __attribute__((aligned(APART))); /* only their addresses count */
static sim_thread *sleepers[BUCKETS];
uint64_t kernel_calls[PAWL_EVENTS];

void kernel_boot(void)
{
    watch_region(buckets, sizeof buckets, SIM_KERNEL);
}

static unsigned bucket_of(uintptr_t address)
{
    return (unsigned)(address / 4 * 0x9e3779b97f4a7c15u >> 56);
}

/* ---- sleeping */

void kernel_enter(sim_thread *t)
{
    t->look_count = 0;
    sim_charge(t, sim_hardware.syscall);
    sim_sync(t);
    sim_store_drain(t);
}

static void remove_sleeper(sim_thread *t)
{
    for (sim_thread **at = &sleepers[bucket_of(t->futex)]; *at != NULL; at = &(*at)->futex_next)
        if (*at == t) {
            *at = t->futex_next;
            return;
        }
}

static void add_sleeper(sim_thread *t, uintptr_t address)
{
    sim_thread **end = &sleepers[bucket_of(address)];
    while (*end != NULL)
        end = &(*end)->futex_next;
    *end = t;
    t->futex = address;
    t->futex_next = NULL;
}

static void time_out(void *of, unsigned generation)
{
    sim_thread *t = of;
    if (t->state != SIM_BLOCKED || generation != t->resumption)
        return;
    if (t->futex != 0)
        remove_sleeper(t);
    t->futex = 0;
    t->timed_out = true;
    sim_wake(t, sim_now(), NULL);
}

/* Until somebody wakes it, or that time comes. */
void kernel_sleep(sim_thread *t, sim_time when)
{
    t->timed_out = false;
    t->resumption++; /* a timer of an earlier sleep is for nobody now */
    if (when != SIM_NEVER)
        sim_at((when > t->clock ? when : t->clock) + sim_hardware.slack, time_out, t, t->resumption);
    sim_block(t);
}

static long futex_wait(sim_thread *t, uintptr_t address, uint32_t expected, sim_time until, uint32_t bits)
{
    kernel_calls[PAWL_FUTEX_WAITS]++;
    sim_charge(t, sim_hardware.futex_wait); /* before it looks: once it is queued, it may be woken */
    sim_touch(t, (uintptr_t)buckets[bucket_of(address)]);
    sim_sync(t);
    if ((uint32_t)sim_read(address, 4) != expected) {
        kernel_calls[PAWL_FUTEX_WAITS_VOID]++;
        return kernel_fail(EAGAIN);
    }
    t->futex_bits = bits;
    add_sleeper(t, address);
    kernel_sleep(t, until);
    return t->timed_out ? kernel_fail(ETIMEDOUT) : 0;
}

/* Wakes up to `limit` sleepers, or moves them to another futex. */
static int futex_wake(sim_thread *t, uintptr_t address, int limit, uint32_t bits, uintptr_t move_to)
{
    int found = 0;
    sim_touch(t, (uintptr_t)buckets[bucket_of(address)]);
    sim_sync(t);
    for (sim_thread *s = sleepers[bucket_of(address)], *next; s != NULL && found < limit; s = next) {
        next = s->futex_next;
        if (s->futex != address || (s->futex_bits & bits) == 0)
            continue;
        found++;
        remove_sleeper(s);
        s->futex = 0;
        if (move_to != 0) {
            add_sleeper(s, move_to);
        } else {
            sim_charge(t, sim_hardware.futex_wake);
            if (sim_wake(s, t->clock, t->cpu))
                sim_charge(t, sim_hardware.delivery);
        }
    }
    return found;
}

long kernel_futex(const long *a)
{
    sim_thread *t = sim_self();
    uintptr_t address = (uintptr_t)a[0];
    const struct timespec *timeout = (const struct timespec *)a[3];
    kernel_enter(t);
    switch ((int)a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return futex_wait(t, address, (uint32_t)a[2],
                          timeout != NULL ? t->clock + kernel_span(timeout) : SIM_NEVER,
                          FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return futex_wait(t, address, (uint32_t)a[2], timeout != NULL ? kernel_moment(timeout) : SIM_NEVER,
                          (uint32_t)a[5]);
    case FUTEX_WAKE:
        kernel_calls[PAWL_FUTEX_WAKES]++;
        return futex_wake(t, address, (int)a[2], FUTEX_BITSET_MATCH_ANY, 0);
    case FUTEX_WAKE_BITSET:
        kernel_calls[PAWL_FUTEX_WAKES]++;
        return futex_wake(t, address, (int)a[2], (uint32_t)a[5], 0);
    case FUTEX_CMP_REQUEUE:
        if ((uint32_t)sim_read(address, 4) != (uint32_t)a[5])
            return kernel_fail(EAGAIN);
        /* fallthrough */
    case FUTEX_REQUEUE: {
        int woken = futex_wake(t, address, (int)a[2], FUTEX_BITSET_MATCH_ANY, 0);
        return woken + futex_wake(t, address, (int)a[3], FUTEX_BITSET_MATCH_ANY, (uintptr_t)a[4]);
    }
    }
    return kernel_fail(ENOSYS);
}
