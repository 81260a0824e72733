/* fuzz_test.c - random programs: the lab against the axioms, and the cache against plain enumeration */
#include "fuzz.h"
#include "test.h"
#include <string.h>

static uint64_t state;
static struct fuzz_set *collecting;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(state >> 33) % below;
}

void fuzz_add(struct fuzz_set *set, fuzz_outcome o)
{
    if (!fuzz_has(set, o) && set->count < 4096)
        set->all[set->count++] = o;
}

bool fuzz_has(const struct fuzz_set *set, fuzz_outcome o)
{
    for (int i = 0; i < set->count; i++)
        if (set->all[i] == o)
            return true;
    return false;
}

static bool includes(const struct fuzz_set *a, const struct fuzz_set *b)
{
    for (int i = 0; i < b->count; i++)
        if (!fuzz_has(a, b->all[i]))
            return false;
    return true;
}

/* ---- programs ------------------------------------------------------------------------------------------------- */

static struct fuzz_op random_op(int *values, int *slots)
{
    static const int orders[4][5] = {
        [FUZZ_LOAD] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __ATOMIC_SEQ_CST},
        [FUZZ_STORE] = {__ATOMIC_RELAXED, __ATOMIC_RELEASE, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __ATOMIC_SEQ_CST},
        [FUZZ_SWAP] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST},
        [FUZZ_FENCE] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST},
    };
    static const enum fuzz_kind kinds[] = {FUZZ_LOAD, FUZZ_LOAD, FUZZ_LOAD, FUZZ_STORE, FUZZ_STORE,
                                           FUZZ_STORE, FUZZ_SWAP, FUZZ_FENCE, FUZZ_FENCE};
    struct fuzz_op op = {.kind = kinds[draw(9)], .location = (int)draw(FUZZ_LOCATIONS)};
    op.order = orders[op.kind][draw(5)];
    if (op.kind == FUZZ_STORE || op.kind == FUZZ_SWAP)
        op.value = ++*values;
    if (op.kind == FUZZ_LOAD || op.kind == FUZZ_SWAP)
        op.slot = (*slots)++;
    return op;
}

static struct fuzz_program random_program(void)
{
    struct fuzz_program p = {.threads = 2 + (int)draw(2)};
    int values = 0, slots = 0, total = p.threads == 2 ? 4 : 3;
    for (int t = 0; t < p.threads; t++) {
        p.count[t] = 1 + (int)draw((unsigned)total);
        for (int i = 0; i < p.count[t]; i++)
            do
                p.ops[t][i] = random_op(&values, &slots);
            while (slots > FUZZ_READS);
    }
    return p;
}

static void observe(void *unused)
{
    (void)unused;
    fuzz_outcome o = 0;
    fuzz_final();
    for (int i = 0; i < FUZZ_READS + FUZZ_LOCATIONS; i++)
        o |= (fuzz_outcome)fuzz_read[i] << 4 * i;
    fuzz_add(collecting, o);
}

static enum lab_verdict lab_outcomes(struct fuzz_program *p, const struct lab_limits *l, struct fuzz_set *set)
{
    struct lab_program program = {.threads = p->threads, .setup = fuzz_setup, .thread = fuzz_thread,
                                  .finish = observe, .arg = p};
    struct lab_result r;
    set->count = 0;
    collecting = set;
    lab_explore(&program, l, &r);
    return r.verdict == LAB_OK && !r.complete ? LAB_UNSUPPORTED : r.verdict;
}

static void print_program(const struct fuzz_program *p)
{
    static const char *const kinds[] = {"load", "store", "swap", "fence"};
    for (int t = 0; t < p->threads; t++)
        for (int i = 0; i < p->count[t]; i++)
            printf("    T%d %s %c order %d value %d\n", t, kinds[p->ops[t][i].kind], 'x' + p->ops[t][i].location,
                   p->ops[t][i].order, p->ops[t][i].value);
}

/* ---- tests ---------------------------------------------------------------------------------------------------- */

/* Without bounds the lab gives exactly the outcomes that the axioms allow. */
static void agrees_with_the_axioms(int programs)
{
    static struct fuzz_set lab, strict, rc11;
    int wrong = 0, stronger = 0, outcomes = 0;
    struct lab_limits l = LAB_LIMITS;
    l.preemptions = l.stale = l.inserts = 100;
    state = 1;
    for (int i = 0; i < programs; i++) {
        struct fuzz_program p = random_program();
        strict.count = rc11.count = 0;
        axiom_outcomes(&p, true, &strict);
        axiom_outcomes(&p, false, &rc11);
        bool same = lab_outcomes(&p, &l, &lab) == LAB_OK && includes(&lab, &strict) && includes(&strict, &lab);
        stronger += rc11.count > strict.count;
        outcomes += lab.count;
        if (!same && wrong++ < 3) {
            printf("program %d: lab %d outcomes, axioms %d\n", i, lab.count, strict.count);
            print_program(&p);
        }
    }
    check(wrong == 0, "%d random programs against the axioms: %d outcomes, %d programs differ; RC11 allows more in %d",
          programs, outcomes, wrong, stronger);
}

/* Under any bounds the cache hides no outcome. */
static void cache_hides_nothing(int programs)
{
    static struct fuzz_set cached, all;
    int wrong = 0;
    state = 2;
    for (int i = 0; i < programs; i++) {
        struct fuzz_program p = random_program();
        struct lab_limits l = LAB_LIMITS;
        l.preemptions = (int)draw(3);
        l.stale = (int)draw(3);
        l.inserts = (int)draw(2);
        enum lab_verdict a = lab_outcomes(&p, &l, &cached);
        l.no_cache = true;
        enum lab_verdict b = lab_outcomes(&p, &l, &all);
        if ((a != b || !includes(&cached, &all) || !includes(&all, &cached)) && wrong++ < 3)
            print_program(&p);
    }
    check(wrong == 0, "%d random programs under random bounds: the cache hides outcomes of %d", programs, wrong);
}

void fuzz_tests(void)
{
    agrees_with_the_axioms(2000);
    cache_hides_nothing(2000);
}
