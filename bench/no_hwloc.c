/* no_hwloc.c - topology.h and pin.h without hwloc: CPUs have numbers, and nothing is known of what they share */
#include "pin.h"
#include "topology.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

enum { SETS = 64 }; /* the kernel refuses if it has more CPUs than fit */
enum { MOST = SETS * CPU_SETSIZE };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t found[SETS];

/* By the thread that asks first, before it binds itself. */
static void look(void)
{
    if (sched_getaffinity(0, sizeof found, found) != 0)
        CPU_ZERO_S(sizeof found, found);
}

static const cpu_set_t *usable(void)
{
    pthread_once(&once, look);
    return found;
}

bool bench_has_cpu(unsigned cpu)
{
    return cpu < MOST && CPU_ISSET_S(cpu, sizeof found, usable());
}

unsigned bench_count(bench_part part)
{
    return part == BENCH_PUS ? (unsigned)CPU_COUNT_S(sizeof found, usable()) : 0;
}

unsigned bench_cpu_at(unsigned place)
{
    unsigned cpu = 0;
    while (cpu < MOST && (!bench_has_cpu(cpu) || place-- > 0))
        cpu++;
    return cpu;
}

void bench_caches(char *text, size_t size)
{
    (void)size;
    text[0] = '\0';
}

bool bench_pin_works(bench_pin_policy policy)
{
    return policy == BENCH_FREE || policy == BENCH_COMPACT || policy == BENCH_CPUS;
}

int bench_pin_self(const bench_pin *pin, unsigned index, unsigned threads, const unsigned *cpus)
{
    (void)threads;
    if (pin->policy == BENCH_FREE)
        return 0;
    unsigned count = bench_count(BENCH_PUS);
    if (!bench_pin_works(pin->policy) || count == 0)
        return ENODEV;
    unsigned cpu = pin->policy == BENCH_CPUS ? cpus[index] : bench_cpu_at(index % count);
    if (!bench_has_cpu(cpu))
        return ENODEV;
    cpu_set_t set[SETS];
    CPU_ZERO_S(sizeof set, set);
    CPU_SET_S(cpu, sizeof set, set);
    return sched_setaffinity(0, sizeof set, set) == 0 ? 0 : errno;
}
