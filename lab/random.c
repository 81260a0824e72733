/* random.c - sampling executions beyond what can be enumerated
 *
 * Every second execution is scheduled by PCT (Burckhardt et al., ASPLOS 2010): random priorities, the highest runs,
 * and at d - 1 random points the running thread drops to the lowest. A bug that needs d ordering constraints is hit
 * with probability at least 1/(n k^(d-1)). The others are random walks, which find what needs many switches. How
 * often a load is stale varies between executions too, from never to half of the time.
 */
#include "choice.h"

enum { MAX_CHANGES = 16 };

static uint64_t seed, state;
static int change_points;
static unsigned changes[MAX_CHANGES];
static int priority[LAB_SLOTS], lowest;
static unsigned stale_chance; /* in 16 */
static bool walk;

static uint64_t draw(void)
{
    state += 0x9e3779b97f4a7c15;
    return lab_mix(state, 0);
}

void lab_random_reset(uint64_t s, int points)
{
    seed = s;
    change_points = points < 0 ? 0 : points > MAX_CHANGES ? MAX_CHANGES : points;
}

void lab_random_begin(uint64_t execution, unsigned longest)
{
    state = lab_mix(seed, execution);
    walk = execution & 1;
    stale_chance = (const unsigned[]){0, 1, 4, 8}[draw() & 3];
    for (int i = 0; i < LAB_SLOTS; i++)
        priority[i] = i;
    for (int i = LAB_SLOTS - 1; i > 0; i--) {
        int j = (int)(draw() % (unsigned)(i + 1)), p = priority[i];
        priority[i] = priority[j];
        priority[j] = p;
    }
    lowest = 0;
    for (int i = 0; i < change_points; i++)
        changes[i] = (unsigned)(draw() % (longest + 1));
}

unsigned lab_random_choose(enum lab_choice kind, unsigned count)
{
    if (kind == LAB_CHOOSE_STORE && draw() % 16 >= stale_chance)
        return 0;
    return (unsigned)(draw() % count);
}

unsigned lab_random_thread(struct lab_thread *const *options, unsigned count)
{
    if (walk)
        return draw() % 4 ? 0 : (unsigned)(draw() % count);
    for (int i = 0; i < change_points; i++)
        if (changes[i] == lab_run.steps)
            priority[options[0]->id] = --lowest;
    unsigned best = 0;
    for (unsigned i = 1; i < count; i++)
        if (priority[options[i]->id] > priority[options[best]->id])
            best = i;
    return best;
}
