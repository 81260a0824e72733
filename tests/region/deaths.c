/* deaths.c - a process is killed at every step of the shared locks, and the others go on
 *
 * The library's source is part of this program, with a call at each of its steps. A victim that comes to the chosen
 * step kills itself there with SIGKILL, on its own, while others compete, or after another one has died. Whether a
 * victim comes to a step may depend on the others; so it gets several tries, and every step must have been hit.
 */
#include <stddef.h>

static void step(const char *name);
#define PAWL_REGION_STEP(name)                                                                               \
    do {                                                                                                     \
        static const char *const listed __attribute__((section("region_steps"), used)) = name;               \
        step(listed);                                                                                        \
    } while (0)

#include "../../src/region.c"
#include "../../src/region_line.c"
#include "../../src/region_lock.c"
#include "../../src/region_seat.c"
#include "../../src/region_table.c"

#include "common.h"

extern const char *const __start_region_steps[], *const __stop_region_steps[];

enum { VISITS = 12, VISITS_AFTER = 6, TRIES = 400, MOST_STEPS = 64, SECONDS = 100 };

/* What the processes share; the lock and what it protects are somewhere in it. */
typedef struct stage {
    _Alignas(256) pawl_robust lock;
    _Atomic(int) inside;
    long a, b; /* equal, except while somebody is inside */
    _Atomic(int) hits, over, go, ready;
    _Atomic(long) inherited;
} stage;

typedef struct part {
    const shared_kind *kind;
    int file;
    const char *dies_at; /* NULL: nowhere */
    bool holds;          /* its first visit lasts until all are to go on */
    bool until_over;     /* else only so many visits */
    unsigned gap;        /* pages mapped first, so that regions lie elsewhere in each process */
} part;

static const char *dies_at;
static stage *here;

static void step(const char *name)
{
    if (dies_at == NULL || strcmp(name, dies_at) != 0)
        return;
    if (here != NULL)
        atomic_fetch_add(&here->hits, 1);
    kill(getpid(), SIGKILL);
}

static void nap(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

static void visit(const part *p, pawl_region *r, stage *s, bool first, uint64_t *random)
{
    int error = p->kind->lock(r, &s->lock);
    CHECK(error == 0 || error == EOWNERDEAD, "lock: %s", strerror(error));
    if (error == EOWNERDEAD) {
        atomic_store(&s->inside, 0);
        s->b = s->a;
        atomic_fetch_add(&s->inherited, 1);
        CHECK(p->kind->consistent(r, &s->lock) == 0, "the new owner cannot say that all is well");
    }
    int other = atomic_exchange(&s->inside, getpid());
    CHECK(other == 0 && s->a == s->b, "process %d is inside, too (%ld, %ld)", other, s->a, s->b);
    s->a++;
    if (first && p->holds) {
        atomic_store(&s->ready, 1);
        while (!atomic_load(&s->go))
            nap(100);
    } else if (draw(random) % 2 == 0) {
        nap((long)(draw(random) % 2500));
    }
    s->b++;
    atomic_store(&s->inside, 0);
    CHECK(p->kind->unlock(r, &s->lock) == 0, "the owner cannot unlock");
}

static void play(void *arg)
{
    const part *p = arg;
    uint64_t random = (uint64_t)getpid() * 1000003;
    CHECK(mmap(NULL, (p->gap + 1) * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
          "mmap");
    pawl_region *r = attached(p->file);
    stage *s = here = pawl_region_memory(r);
    dies_at = p->dies_at;
    int after = 0;
    for (int i = 0; p->until_over ? after < VISITS_AFTER : i < VISITS; i++) {
        after += atomic_load(&s->over);
        visit(p, r, s, i == 0, &random);
    }
    CHECK(pawl_region_detach(r) == 0, "cannot detach");
}

/* Waits for a process, which may hang; true if it was killed at its step. */
static bool joined(pid_t child, const part *p)
{
    int status;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
        if (i > SECONDS * 2000) {
            kill(child, SIGKILL);
            fail("hangs; a process was killed at '%s'", p->dies_at != NULL ? p->dies_at : "no step");
        }
        nap(500);
    }
    CHECK(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && p->dies_at != NULL),
          "status %#x; a process was killed at '%s'", (unsigned)status, p->dies_at);
    return status != 0;
}

/* Nobody is there but this process: the lock is free, or a dead owner's. */
static void take_stock(const part *p, pawl_region *r, stage *s)
{
    uint32_t owner = atomic_load(&s->lock.owner);
    int expected = (owner & PAWL_SEATS) != 0 && !(owner & RESERVED) ? EOWNERDEAD : 0;
    int error = p->kind->lock(r, &s->lock);
    CHECK(error == expected, "after a death at '%s', lock: %s", p->dies_at, strerror(error));
    if (error == EOWNERDEAD) {
        atomic_store(&s->inside, 0);
        s->b = s->a;
        CHECK(p->kind->consistent(r, &s->lock) == 0, "consistent");
    }
    CHECK(s->inside == 0 && s->a == s->b, "nobody is inside");
    CHECK(p->kind->unlock(r, &s->lock) == 0, "unlock");
    error = p->kind->trylock(r, &s->lock);
    CHECK(error == 0, "after a death at '%s', trylock: %s", p->dies_at, strerror(error));
    CHECK(p->kind->unlock(r, &s->lock) == 0, "unlock");
}

enum { ALONE, AFTER_OWNER, COMPETING, AFTER_WAITER, STAGES };

static void begin_stage(stage *s)
{
    atomic_store(&s->over, 0);
    atomic_store(&s->go, 0);
    atomic_store(&s->ready, 0);
}

/* Returns how many processes were killed. */
static int perform(part p, pawl_region *r, int which)
{
    stage *s = pawl_region_memory(r);
    part victim = p, other = p, first = p;
    int deaths = 0;
    pid_t others[2] = {0};
    begin_stage(s);
    other.dies_at = NULL;
    other.until_over = true;
    first.dies_at = which == AFTER_OWNER ? "unlock: begins" : "line: has arrived";
    if (which == COMPETING || which == AFTER_WAITER)
        for (unsigned i = 0; i < 2; i++) {
            other.gap = p.gap + i + 1;
            other.holds = which == AFTER_WAITER && i == 0;
            others[i] = start(play, &other);
            while (other.holds && !atomic_load(&s->ready))
                nap(100);
        }
    if (which == AFTER_OWNER || which == AFTER_WAITER)
        deaths += joined(start(play, &first), &first);
    pid_t child = start(play, &victim);
    for (int i = 0; which == AFTER_WAITER && i < 40 && kill(child, 0) == 0; i++)
        nap(500); /* how far the victim comes in this time does not matter */
    atomic_store(&s->go, 1);
    deaths += joined(child, &victim);
    atomic_store(&s->over, 1);
    for (int i = 0; i < 2; i++)
        if (others[i] != 0)
            joined(others[i], &victim);
    take_stock(&p, r, s);
    return deaths;
}

static int is_step_of_lock(const char *name)
{
    return strncmp(name, "create:", 7) != 0;
}

/* In some builds the linker leaves gaps. */
static int list_steps(const char **steps, int wanted(const char *name))
{
    int n = 0;
    for (const char *const *s = __start_region_steps; s < __stop_region_steps; s++)
        if (*s != NULL && wanted(*s) && n < MOST_STEPS)
            steps[n++] = *s;
    return n;
}

static void others_survive(const shared_kind *kind)
{
    const char *steps[MOST_STEPS];
    int count = list_steps(steps, is_step_of_lock), deaths = 0;
    CHECK(count >= 24, "only %d steps", count);
    part p = {.kind = kind, .file = new_file()};
    pawl_region *r = new_region(p.file, sizeof(stage));
    stage *s = pawl_region_memory(r);
    for (size_t pass = 0; pass < scaled(14); pass++)
        for (int i = 0; i < count; i++) {
            p.dies_at = steps[i];
            int before = atomic_load(&s->hits);
            for (int which = 0; which < STAGES; which++, p.gap = (p.gap + 1) % 16)
                deaths += perform(p, r, which);
            for (int tries = 0; atomic_load(&s->hits) == before; tries++) {
                CHECK(tries < TRIES, "nobody came to '%s'", steps[i]);
                deaths += perform(p, r, tries % STAGES);
            }
        }
    printf("%s: %d steps, %d processes killed at one\n", kind->name, count, deaths);
}

static void mutex_survives_a_death_at_every_step(const lock_info *none)
{
    (void)none;
    others_survive(&mutex_kind);
}

static void hapax_survives_a_death_at_every_step(const lock_info *none)
{
    (void)none;
    others_survive(&hapax_kind);
}

/* ---- at any instruction */

static void kill_at_random(const shared_kind *kind)
{
    enum { PROCESSES = 4 };
    part p = {.kind = kind, .file = new_file(), .until_over = true};
    pawl_region *r = new_region(p.file, sizeof(stage));
    stage *s = pawl_region_memory(r);
    pid_t child[PROCESSES];
    uint64_t random = 1;
    begin_stage(s);
    for (unsigned i = 0; i < PROCESSES; i++, p.gap++)
        child[i] = start(play, &p);
    for (size_t n = 0; n < scaled(600); n++) {
        int i = (int)(draw(&random) % PROCESSES);
        nap((long)(draw(&random) % 4000));
        kill(child[i], SIGKILL);
        dies(child[i]);
        child[i] = start(play, &p);
    }
    atomic_store(&s->over, 1);
    p.dies_at = NULL;
    for (int i = 0; i < PROCESSES; i++)
        joined(child[i], &p);
    take_stock(&p, r, s);
}

static void mutex_survives_random_deaths(const lock_info *none)
{
    (void)none;
    kill_at_random(&mutex_kind);
}

static void hapax_survives_random_deaths(const lock_info *none)
{
    (void)none;
    kill_at_random(&hapax_kind);
}

/* ---- while a region is made */

static int is_step_of_creation(const char *name)
{
    return !is_step_of_lock(name);
}

static void create_and_die(void *arg)
{
    pawl_region *r;
    const part *p = arg;
    dies_at = p->dies_at;
    pawl_region_create(&r, p->file, 4096);
}

static void half_a_region_is_none(const lock_info *none)
{
    (void)none;
    const char *steps[MOST_STEPS];
    int count = list_steps(steps, is_step_of_creation);
    pawl_region *r = new_region(new_file(), 1);
    CHECK(count >= 4 && pawl_region_detach(r) == 0, "%d steps", count);
    for (int i = 0; i < count; i++) {
        part p = {.file = new_file(), .dies_at = steps[i]};
        dies(start(create_and_die, &p));
        int error = pawl_region_attach(&r, p.file);
        CHECK(error == EAGAIN, "'%s', attach: %s", steps[i], pawl_region_error(error));
        error = pawl_region_create(&r, p.file, 4096);
        CHECK(error == EEXIST, "'%s', create: %s", steps[i], pawl_region_error(error));
        close(p.file);
    }
}

static const promise promises[] = {
    {"survives_a_death_at_every_step", mutex_survives_a_death_at_every_step, NULL, "mutex_shared"},
    {"survives_a_death_at_every_step", hapax_survives_a_death_at_every_step, NULL, "hapax_shared"},
    {"survives_random_deaths", mutex_survives_random_deaths, NULL, "mutex_shared"},
    {"survives_random_deaths", hapax_survives_random_deaths, NULL, "hapax_shared"},
    {"half_of_one_is_none", half_a_region_is_none, NULL, "region"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
