/* survivors.c - memory orders that the checker found no need for, and why they stay */
#include "survivors.h"
#include "subjects.h"

#include <stdio.h>

/* Sites have no line numbers, so that edits elsewhere in a file do not matter. The first entry that a survivor begins
 * with explains it; docs/verification.md tells the stories. */
static const struct {
    const char *lock, *site, *op, *from, *reason;
} rows[] = {
    {"capacitor", "semaphore.h", "load", "acquire", "the inner lock orders; the semaphore alone needs it"},
    {"capacitor", "wait.h<semaphore.h", "", "", "the inner lock orders; the semaphore alone needs it"},
    {"capacitor", "wait.h<capacitors.h", "", "", "the inner lock orders; kept as in the semaphore"},
    {"capacitor", "wait.h<capacitor.h", "rmw", "release", "the inner lock orders; kept as in the semaphore"},
    {"capacitor_lifo", "lifo.h<capacitors.h", "cas", "release",
     "a trylock that backs out has nothing to publish; unlock needs it"},
    {"hapax_vw2", "hapax_vw2.h<hapax_vw2.h<hapax_vw2.h", "cas", "acquire",
     "C11 wants success no weaker than failure"},
    {"hemlock_chain", "hemlock_chain.h<hemlock_chain.h<hemlock_chain.h<hemlock_chain.h", "cas", "release",
     "putting back what it took itself; arrival, the same code, needs it"},
    {"twa_hapax", "wait.h<twa_hapax.h", "store", "release",
     "of the slot: a waiter that misses a call finds out at its next recheck, 1024 looks later"},
    {"twa_hapax", "twa_hapax.h<twa_hapax.h<twa_hapax.h", "load", "acquire",
     "of the slot: a waiter that misses a call finds out at its next recheck, 1024 looks later"},
    {"mcs", "nodes.c<nodes.c", "store", "release", "the lock of a pool that nobody else uses any more"},
    {"mcs", "fence.c", "store", "release", "the lab's nap is a fence for those that rely on it, too"},
    {"mcs", "fence.c", "load", "acquire", "the lab's nap is a fence for those that rely on it, too"},
    {"reciprocating", "reciprocating.h<reciprocating.h<locks.def", "rmw", "acq_rel",
     "of an owner that gives the lock away: its next swap acquires; lock, the same code, needs it"},
    {"mutex_shared", "region_lock.c", "failed cas", "acquire",
     "a request that comes during unlock: if it is missed, the head is passed once more and asks again"},
    {"mutex_shared", "region_line.c", "rmw", "seq_cst",
     "of an arrival: only hapax_shared, the same code, looks whether somebody is in line"},
    {"hapax_shared", "region_lock.c", "load", "acquire",
     "the heir's name: nobody barges past the first in line; mutex_shared, the same code, needs it"},
    {"hapax_shared", "region_lock.c", "failed cas", "acquire",
     "the heir's name: nobody barges past the first in line"},
    {"hapax_shared", "region_line.c", "cas", "release",
     "the heir's name: nobody barges past the first in line; mutex_shared, the same code, needs it"},
    {"mutex_shared", "region_word.h<region_word.h<region_line.c", "cas", "acquire",
     "of a head that slept on the word and was not woken: the kernel's look at it orders"},
    {"hapax_shared", "region_line.c", "load", "acquire",
     "of the last in line: matters if it came between trylock's looks, of which the first is ordered, too"},
    {"hapax_shared", "region_word.h<region_word.h<region_line.c", "cas", "acquire",
     "of a head that slept on the word and was not woken: the kernel's look at it orders"},
    {"pawl_", "cond.c<cond.c<cond.c", "store", "release", "the same code, where a lock orders as well"},
    {"pawl_", "cond.c<cond.c", "store", "release",
     "counting one more waiter, or passing a broadcast on: the same code, where a lock orders as well"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int tried[ROWS];     /* locks that the row may be about, in this run */
static int explained[ROWS]; /* survivors */

/* Copies a site without ":12:34". How many functions of wait.h are inlined in one another does not matter, either. */
static void without_lines(const char *site, char *plain, size_t size)
{
    static const char wait[] = "wait.h<wait.h";
    size_t n = 0;
    for (; *site != '\0' && n + 1 < size; site++) {
        if (n >= sizeof wait - 1 && memcmp(plain + n - (sizeof wait - 1), wait, sizeof wait - 1) == 0)
            n -= strlen("<wait.h");
        if (*site == ':') {
            site += strspn(site, ":0123456789") - 1;
            continue;
        }
        plain[n++] = *site;
    }
    plain[n] = '\0';
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

const char *survivor_reason(const char *lock, const char *site, const char *op, const char *from)
{
    char plain[256];
    without_lines(site, plain, sizeof plain);
    for (size_t i = 0; i < ROWS; i++)
        if (begins(lock, rows[i].lock) && begins(plain, rows[i].site) && begins(op, rows[i].op) &&
            begins(from, rows[i].from)) {
            explained[i]++;
            return rows[i].reason;
        }
    return NULL;
}

/* ---- rows that explain nothing any more */

void survivors_tried(const char *lock)
{
    for (size_t i = 0; i < ROWS; i++)
        tried[i] += begins(lock, rows[i].lock);
}

/* How many locks the row may be about. */
static int locks_of(size_t row)
{
    int count = begins("semaphore", rows[row].lock);
    for (int i = 0; i < check_lock_count; i++)
        count += begins(check_lock_at(i)->name, rows[row].lock);
    return count;
}

void survivors_stale(void (*tell)(const char *row, void *arg), void *arg)
{
    char text[256];
    for (size_t i = 0; i < ROWS; i++)
        if (explained[i] == 0 && tried[i] == locks_of(i)) {
            snprintf(text, sizeof text, "%s %s: %s %s", rows[i].lock, rows[i].site, rows[i].op, rows[i].from);
            tell(text, arg);
        }
}
