/* debug_stack.c - call stacks, each kept once
 *
 * A program takes locks in few places. So their stacks are kept for ever, and others hold pointers to them.
 */
#include "debug_stack.h"

#include <string.h>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <execinfo.h>
#endif

#define CHUNK   (256 * 1024) /* bytes taken from the system at a time */
#define BUCKETS 4096
#define OWN     8 /* more than the frames of libpawl in a stack */

static debug_stack *stacks[BUCKETS];

void *pawl_debug_memory(size_t size)
{
    static char *chunk;
    static size_t left;
    size = (size + 15) & ~(size_t)15;
    if (left < size) {
        void *more = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED)
            return NULL;
        chunk = more;
        left = CHUNK;
    }
    void *memory = chunk;
    chunk += size;
    left -= size;
    return memory;
}

static unsigned hash(void *const *frames, int depth)
{
    uint64_t h = 0;
    for (int i = 0; i < depth; i++)
        h = (h ^ (uint64_t)(uintptr_t)frames[i]) * 0x9E3779B97F4A7C15u;
    return (unsigned)(h >> 52) % BUCKETS;
}

static const debug_stack *keep(void *const *frames, int depth)
{
    debug_stack **bucket = &stacks[hash(frames, depth)];
    for (debug_stack *s = *bucket; s != NULL; s = s->next)
        if (s->depth == depth && memcmp(s->frame, frames, (size_t)depth * sizeof *frames) == 0)
            return s;
    debug_stack *s = pawl_debug_memory(sizeof *s);
    if (s == NULL)
        return NULL;
    s->depth = depth;
    memcpy(s->frame, frames, (size_t)depth * sizeof *frames);
    s->next = *bucket;
    *bucket = s;
    return s;
}

const debug_stack *pawl_debug_stack_here(const void *caller)
{
#ifdef __GLIBC__
    void *frames[OWN + DEBUG_FRAMES];
    int depth = backtrace(frames, OWN + DEBUG_FRAMES), first = 0;
    for (int i = 0; i < depth && i < OWN; i++)
        if (frames[i] == caller)
            first = i;
    depth -= first;
    return keep(frames + first, depth < DEBUG_FRAMES ? depth : DEBUG_FRAMES);
#else
    void *frame = (void *)(uintptr_t)caller; /* other C libraries do not walk the stack */
    return keep(&frame, 1);
#endif
}

void pawl_debug_stack_prepare(void)
{
#ifdef __GLIBC__
    void *frame[1];
    backtrace(frame, 1);
#endif
}
