/* slices.c - a thread's slices lie where slice.h says, and follow the rules it gives */
#include "apart.h"
#include "team.h"

#include "../src/fork.h"

#include <string.h>

static void check_apart(int me, void *unused)
{
    (void)me, (void)unused;
    const char *failed = apart_failed();
    CHECK(failed == NULL, "`%s` shares a sector with its neighbours", failed);
}

static void shared_slices_are_apart(const lock_info *unused)
{
    (void)unused;
    check_apart(0, NULL);
    team_run(3, check_apart, NULL);
}

/* The linker makes the table: no slice is missing from it. */
static void slices_are_listed(const lock_info *unused)
{
    (void)unused;
    const void *known[] = {&pawl_element_self, &pawl_hapax_self,  &pawl_hemlock_self,
                           &pawl_nodes_self,   &pawl_random_self, &pawl_tidex_self};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const pawl_slice *s;
        int i = 0;
        while ((s = pawl_slice_at(i)) != NULL && s->address() != known[k])
            i++;
        CHECK(s != NULL, "number %zu of those known is not listed", k);
    }
}

static void a_child_keeps_what_it_may(const lock_info *unused)
{
    (void)unused;
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        memset(s->address(), 1, s->size);
    pawl_fork_thread();
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        for (size_t at = 0; at < s->size; at++)
            CHECK(((char *)s->address())[at] == (s->child == PAWL_KEPT), "`%s` is wrong", s->name);
}

#define SLICES(promise)                                                                                      \
    {                                                                                                        \
        .name = #promise, .check = promise, .subject = "slices"                                              \
    }

static const promise promises[] = {
    SLICES(shared_slices_are_apart),
    SLICES(slices_are_listed),
    SLICES(a_child_keeps_what_it_may),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
