/* nested.c - a signal handler that comes while its own thread holds the lock of a bucket */
#include "nested.h"

#ifdef PAWL_IN_PTHREAD_MUTEX

enum {
    DEPTH = 2,
    LATER = 3
}; /* a handler in a section, and one in the handler's; what they leave is little */

/* Only this thread and its handlers write it, and a handler leaves it as it was, but for what is to be done later. */
static __thread struct {
    pawl_bucket *in[DEPTH];
    struct {
        pawl_later *what;
        void *object;
    } later[LATER];
    uint8_t depth, count;
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

static void catch_up(void)
{
    while (self.count > 0) {
        uint8_t at = --self.count;
        self.later[at].what(self.later[at].object);
    }
}

void pawl_nested_end(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    uint8_t at = self.depth - 1;
    if (at < DEPTH)
        self.in[at] = NULL;
    self.depth = at;
    atomic_signal_fence(memory_order_seq_cst);
    if (PAWL_UNLIKELY(self.count > 0) && at == 0)
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
    for (int i = 0; i < self.count; i++)
        if (self.later[i].what == what && self.later[i].object == object)
            return;
    if (self.count == LATER)
        return; /* a handler that did as much in one section; those it would wake wait for the next unlock */
    uint8_t at = self.count++;
    self.later[at].what = what;
    self.later[at].object = object;
}

#else
typedef int nothing_to_do;
#endif
