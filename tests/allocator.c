/* allocator.c - locks inside the program's own allocator: they must not allocate, whoever calls them
 *
 * malloc and calloc of this program take a lock of each kind that keeps something per thread. libc allocates when a
 * thread sets a late key, so all early keys are used up before the first thread uses these locks.
 */
#include <pawl.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARENA = 64 << 20, THREADS = 4, ROUNDS = 2000, EARLY_KEYS = 40 };

static char arena[ARENA];
static size_t used;
static pawl_mcs mcs;
static pawl_clh clh;
static pawl_hemlock_overlap overlap;

static void *take(size_t size)
{
    pawl_mcs_ctx in_mcs;
    pawl_clh_ctx in_clh;
    pawl_hemlock_overlap_ctx in_overlap;
    pawl_mcs_lock(&mcs, &in_mcs);
    pawl_clh_lock(&clh, &in_clh);
    pawl_hemlock_overlap_lock(&overlap, &in_overlap);
    size_t at = (used + 15) & ~(size_t)15;
    bool fits = size <= ARENA - at;
    used = fits ? at + size : used;
    pawl_hemlock_overlap_unlock(&overlap, &in_overlap);
    pawl_clh_unlock(&clh, &in_clh);
    pawl_mcs_unlock(&mcs, &in_mcs);
    return fits ? &arena[at] : NULL; /* fresh, so it is zero */
}

void *malloc(size_t size)
{
    return take(size);
}

void *calloc(size_t count, size_t size)
{
    return take(count * size);
}

void *realloc(void *old, size_t size)
{
    char *fresh = take(size);
    if (old != NULL && fresh != NULL)
        memcpy(fresh, old, size); /* what lies behind the old block in the arena is ours to read */
    return fresh;
}

void free(void *p)
{
    (void)p;
}

static void *allocate(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        char *p = malloc(64);
        if (p == NULL || p[0] != 0)
            return (void *)1;
        p[0] = 1; /* a block given out twice is not zero the second time */
    }
    return NULL;
}

int main(void)
{
    alarm(300); /* a recursion or a deadlock is a failure, not a stuck test */
    pthread_key_t key;
    for (int i = 0; i < EARLY_KEYS; i++)
        pthread_key_create(&key, NULL);
    pthread_t threads[THREADS];
    int failed = 0;
    for (int i = 0; i < THREADS; i++)
        failed |= pthread_create(&threads[i], NULL, allocate, NULL) != 0;
    for (int i = 0; i < THREADS && !failed; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed |= result != NULL;
    }
    printf("%d passed, %d failed\n", !failed, failed);
    return failed;
}
