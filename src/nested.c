/* nested.c - a signal handler that comes while its own thread holds the lock of a bucket */
#include "nested.h"

#ifdef PAWL_IN_PTHREAD_MUTEX

#include "fatal.h"
#include "park/futex.h"

#include <errno.h>
#include <sys/mman.h>

enum { DEPTH = 2 };             /* a handler in a section, and one in the handler's */
enum { BETWEEN_TRIES = 50000 }; /* nanoseconds */

/* On a page of its own: a handler can get one, at any time, and none is too many. */
typedef struct task {
    struct task *before;
    pawl_later *what;
    void *object;
} task;

/* Only this thread and its handlers write it, and a handler leaves it as it was, but for what is to be done later. */
static __thread struct {
    pawl_bucket *in[DEPTH];
    _Atomic(task *) later;
    uint8_t depth;
} self __attribute__((tls_model("initial-exec")));

/* The place first, so that a handler takes the next one; before the lock, so that there is no instant in which the
 * thread has it and does not know. */
void pawl_nested_begin(pawl_bucket *b)
{
    uint8_t at = self.depth++;
    atomic_signal_fence(memory_order_seq_cst);
    if (at < DEPTH)
        self.in[at] = b;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Each of them once, whoever comes in between: a handler may take what is left, or leave more. */
static void catch_up(void)
{
    int before = errno;
    task *t;
    while ((t = atomic_exchange_explicit(&self.later, NULL, memory_order_relaxed)) != NULL)
        while (t != NULL) {
            task now = *t;
            munmap(t, sizeof *t);
            now.what(now.object);
            t = now.before;
        }
    errno = before;
}

void pawl_nested_end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    uint8_t at = self.depth - 1;
    if (at < DEPTH)
        self.in[at] = NULL;
    self.depth = at;
    atomic_signal_fence(memory_order_seq_cst);
    if (PAWL_UNLIKELY(atomic_load_explicit(&self.later, memory_order_relaxed) != NULL) && at == 0)
        catch_up();
}

bool pawl_nested_in(const volatile void *key)
{
    if (PAWL_LIKELY(self.depth == 0))
        return false;
    const pawl_bucket *b = pawl_bucket_of(key);
    for (int i = 0; i < DEPTH && i < self.depth; i++)
        if (self.in[i] == b)
            return true;
    return false;
}

void pawl_nested_later(pawl_later *what, void *object)
{
    task *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        pawl_fatal("pawl: out of memory in a signal handler\n");
    t->what = what;
    t->object = object;
    while (!atomic_compare_exchange_weak_explicit(&self.later, &t->before, t, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

int pawl_nested_take(pawl_try *take, void *lock, int clock, const struct timespec *deadline)
{
    while (!take(lock)) {
        struct timespec now;
        clock_gettime(clock, &now);
        if (deadline != NULL && !pawl_is_before(&now, deadline))
            return ETIMEDOUT;
        pawl_nap(BETWEEN_TRIES);
    }
    return 0;
}

#else
typedef int nothing_to_do;
#endif
