/* nsync.c - Google's nsync_mu and nsync_cv */
#include "bench/queue.h"

#include <nsync.h>

BENCH_PLAIN(mu, nsync_mu, nsync_mu_lock, nsync_mu_unlock)
BENCH_NO_INIT(mu) /* all-zero is unlocked */
BENCH_NO_DESTROY(mu)
BENCH_LOOPS(mu)

BENCH_PLAIN_COND(mu, nsync_cv, nsync_cv_wait, nsync_cv_signal)
BENCH_NO_COND_INIT(mu)
BENCH_QUEUE_LOOPS(mu)

extern const bench_lock bench_set_nsync[];
const bench_lock bench_set_nsync[] = {
    BENCH_LOCK(mu, "nsync", true, BENCH_SLEEPS),
    BENCH_END,
};

extern const bench_queue bench_queues_nsync[];
const bench_queue bench_queues_nsync[] = {
    BENCH_QUEUE(mu, "nsync", true, BENCH_SLEEPS),
    BENCH_QUEUE_END,
};
