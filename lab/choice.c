/* choice.c - see choice.h */
#include "choice.h"
#include "cache.h"
#include "heap.h"
#include <ctype.h>

struct choice {
    uint8_t kind, count, pick;
    /* For a choice of thread: which one, and the state and budgets at that point. */
    uint8_t threads[LAB_SLOTS];
    uint8_t cost;
    uint64_t state;
    struct lab_budget left;
};

static struct choice *choices;
static size_t count, capacity, position;

static struct choice *push(enum lab_choice kind, unsigned options, unsigned pick)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        choices = lab_reallocate(choices, capacity * sizeof *choices);
    }
    struct choice *c = &choices[count++];
    position = count;
    c->kind = (uint8_t)kind;
    c->count = (uint8_t)options;
    c->pick = (uint8_t)pick;
    return c;
}

static unsigned follow(enum lab_choice kind, unsigned options)
{
    const struct choice *c = &choices[position++];
    if (c->count != options && c->count != 0)
        lab_violation(LAB_UNSUPPORTED, "the program behaved differently when run again", 0, NULL, NULL);
    if (c->pick >= options) {
        lab_violation(LAB_UNSUPPORTED, "the replay does not belong to this program", 0, NULL, NULL);
        return 0; /* on the host: the first choice */
    }
    choices[position - 1].kind = (uint8_t)kind;
    return c->pick;
}

unsigned lab_choose(enum lab_choice kind, unsigned options)
{
    if (options <= 1)
        return 0;
    if (position < count)
        return follow(kind, options);
    unsigned pick = lab_run.limits->search == LAB_RANDOM ? lab_random_choose(kind, options) : 0;
    push(kind, options, pick);
    return pick;
}

/* ---- threads -------------------------------------------------------------------------------------------------- */

/* Besides the graph: who sleeps, and who must read the newest stores. Both nearly follow from the graph; where they
 * do not, the states count as different. */
static uint64_t current_state(void)
{
    uint64_t marks = 0;
    for (int i = 0; i < lab_run.threads; i++)
        marks = marks << 3 | (uint64_t)lab_threads[i].state << 1 | lab_threads[i].fresh;
    return lab_mix(lab_run.graph, marks);
}

static bool admit(uint64_t state, unsigned thread, const struct lab_budget *left, int cost)
{
    if (lab_run.limits->no_cache || lab_run.tracing || lab_run.limits->search != LAB_EXHAUSTIVE)
        return true;
    uint64_t packed = (uint64_t)(left->preemptions - cost) | (uint64_t)left->stale << 8 |
                      (uint64_t)left->inserts << 16 | (uint64_t)left->spurious << 24 | (uint64_t)left->timeouts << 32;
    return lab_cache_admit(lab_mix(state, thread), packed);
}

static bool admit_option(const struct choice *c, unsigned i)
{
    return admit(c->state, c->threads[i], &c->left, i > 0 ? c->cost : 0);
}

static struct lab_thread *take(struct lab_thread *const *options, unsigned pick, int cost)
{
    if (pick > 0)
        lab_run.left.preemptions -= cost;
    return options[pick];
}

struct lab_thread *lab_choose_thread(struct lab_thread *const *options, unsigned n, int cost)
{
    if (position < count)
        return take(options, n > 1 ? follow(LAB_CHOOSE_THREAD, n) : 0, cost);
    if (n == 1)
        return admit(current_state(), (unsigned)options[0]->id, &lab_run.left, 0) ? options[0] : NULL;

    unsigned pick = lab_run.limits->search == LAB_RANDOM ? lab_random_thread(options, n) : 0;
    struct choice *c = push(LAB_CHOOSE_THREAD, n, pick);
    c->state = current_state();
    c->left = lab_run.left;
    c->cost = (uint8_t)cost;
    for (unsigned i = 0; i < n; i++)
        c->threads[i] = (uint8_t)options[i]->id;
    while (c->pick < n && !admit_option(c, c->pick))
        c->pick++;
    return c->pick < n ? take(options, c->pick, cost) : NULL;
}

/* ---- executions ----------------------------------------------------------------------------------------------- */

void lab_choices_reset(void)
{
    count = position = 0;
}

void lab_choices_begin(void)
{
    position = 0;
}

void lab_choices_drop(void)
{
    count = 0;
}

bool lab_choices_next(void)
{
    for (; count > 0; count--) {
        struct choice *c = &choices[count - 1];
        while (++c->pick < c->count)
            if (c->kind != LAB_CHOOSE_THREAD || admit_option(c, c->pick))
                return true;
    }
    return false;
}

/* ---- replay: "p3.s2.i0.w0.t0:1A2..." -------------------------------------------------------------------------- */

/* A digit or small letter is a pick, a capital a run of that many zeros. */
static void encode(char *text)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned zeros = 0;
    for (size_t i = 0; i <= count; i++) {
        unsigned pick = i < count ? choices[i].pick : 1;
        if (pick == 0 && zeros < 26 - 1) {
            zeros++;
            continue;
        }
        if (pick == 0)
            zeros++;
        if (zeros)
            *text++ = (char)('A' + zeros - 1);
        zeros = 0;
        if (i < count && pick > 0)
            *text++ = digits[pick];
    }
    *text = '\0';
}

const char *lab_replay_text(const struct lab_limits *l)
{
    static char *text;
    text = lab_reallocate(text, count + 128);
    int n = snprintf(text, 128, "p%d.s%d.i%d.w%d.t%d:", l->preemptions, l->stale, l->inserts, l->spurious, l->timeouts);
    encode(text + n);
    return text;
}

bool lab_replay_parse(const char *text, struct lab_limits *l)
{
    int n = 0;
    if (!text || sscanf(text, "p%d.s%d.i%d.w%d.t%d:%n", &l->preemptions, &l->stale, &l->inserts, &l->spurious,
                        &l->timeouts, &n) < 5 || n == 0)
        return false;
    lab_choices_reset();
    for (text += n; *text; text++) {
        if (isupper((unsigned char)*text))
            for (int zeros = *text - 'A' + 1; zeros > 0; zeros--)
                push(LAB_CHOOSE_STORE, 0, 0);
        else if (isdigit((unsigned char)*text))
            push(LAB_CHOOSE_STORE, 0, (unsigned)(*text - '0'));
        else if (islower((unsigned char)*text))
            push(LAB_CHOOSE_STORE, 0, (unsigned)(*text - 'a') + 10);
        else
            return false;
    }
    return true;
}
