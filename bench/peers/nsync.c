/* nsync.c - Google's nsync_mu */
#include "bench/loops.h"

#include <nsync.h>

BENCH_PLAIN(mu, nsync_mu, nsync_mu_lock, nsync_mu_unlock)
BENCH_NO_INIT(mu) /* all-zero is unlocked */
BENCH_NO_DESTROY(mu)
BENCH_LOOPS(mu)

extern const bench_lock bench_set_nsync[];
const bench_lock bench_set_nsync[] = {
    BENCH_LOCK(mu, "nsync", true, BENCH_SLEEPS),
    BENCH_END,
};
