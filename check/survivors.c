/* survivors.c - memory orders of which the checker found no need, and why they stay */
#include "survivors.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A site is named by the function it stands in, so that an edit elsewhere in the file does not move it.
 * docs/verification.md tells the stories. */
static const struct {
    const char *lock;
    const char *site; /* the site's text begins with this */
    const char *op, *from, *to;
    const char *reason;
} expected[] = {
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static bool matches(const char *pattern, const char *value)
{
    return pattern == NULL || strncmp(pattern, value, strlen(pattern)) == 0;
}

const char *survivor_reason(const char *lock, const char *site, const char *op, const char *from,
                            const char *to)
{
    for (size_t i = 0; expected[i].reason != NULL; i++)
        if (matches(expected[i].lock, lock) && matches(expected[i].site, site) &&
            matches(expected[i].op, op) && matches(expected[i].from, from) && matches(expected[i].to, to))
            return expected[i].reason;
    return NULL;
}
