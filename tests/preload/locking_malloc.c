/* locking_malloc.c - an allocator that locks a pthread mutex, so that hidden allocations show
 *
 * A library that allocated while it locks, say at a thread's first lock or last unlock, would come back here and wait
 * for a mutex that its own thread holds.
 */
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the allocator: sizes by powers of two, never given back to the system */

enum { ROOM = 64 * 1024 * 1024, CLASSES = 28 };

typedef struct block {
    alignas(16) struct block *next;
    size_t class;
} block;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static alignas(64) char arena[ROOM];
static size_t used;
static block *free_blocks[CLASSES];
static int inside; /* its only purpose is to be wrong if two are */

static void check(int condition)
{
    if (!condition) {
        static const char text[] = "FAIL locking_malloc\n";
        ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
        (void)written;
        _exit(1);
    }
}

static block *take(size_t class)
{
    block *b = free_blocks[class];
    if (b != NULL) {
        free_blocks[class] = b->next;
        return b;
    }
    size_t size = sizeof(block) + ((size_t)1 << class);
    check(used + size <= ROOM);
    b = (block *)(void *)(arena + used);
    used += (size + 15) & ~(size_t)15;
    b->class = class;
    return b;
}

void *malloc(size_t size)
{
    size_t class = 4;
    while ((size_t)1 << class < size)
        class ++;
    check(class < CLASSES);
    check(pthread_mutex_lock(&mutex) == 0);
    check(inside++ == 0);
    block *b = take(class);
    inside--;
    check(pthread_mutex_unlock(&mutex) == 0);
    return b + 1;
}

void free(void *memory)
{
    if (memory == NULL)
        return;
    block *b = (block *)memory - 1;
    check(pthread_mutex_lock(&mutex) == 0);
    check(inside++ == 0);
    b->next = free_blocks[b->class];
    free_blocks[b->class] = b;
    inside--;
    check(pthread_mutex_unlock(&mutex) == 0);
}

void *calloc(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    return memset(memory, 0, count * size);
}

void *realloc(void *memory, size_t size)
{
    void *other = malloc(size);
    if (memory != NULL) {
        size_t had = (size_t)1 << ((block *)memory - 1)->class;
        memcpy(other, memory, had < size ? had : size);
        free(memory);
    }
    return other;
}

/* 16 is all that this program asks for. */
int posix_memalign(void **memory, size_t alignment, size_t size)
{
    check(alignment <= 16);
    *memory = malloc(size);
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    size_t with = size + alignment; /* glibc's thread-local storage: never freed alone */
    return (void *)(((uintptr_t)malloc(with) + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

/* ---- what allocates */

enum { KEYS = 60, THREADS = 4, ROUNDS = 30 };

static pthread_key_t keys[KEYS];
static pthread_mutex_t others[KEYS];
static bool in_child; /* where those may be held by threads of the parent */

static void lock_other(int k)
{
    check(in_child || pthread_mutex_lock(&others[k]) == 0);
}

static void unlock_other(int k)
{
    check(in_child || pthread_mutex_unlock(&others[k]) == 0);
}

static void end_of_key(void *value)
{
    lock_other(0);
    free(value);
    unlock_other(0);
}

static void *work(void *unused)
{
    char *mine[KEYS];
    for (int i = 0; i < 300; i++) {
        int k = i % KEYS;
        lock_other(k);
        mine[k] = malloc((size_t)(i * 7 % 500));
        unlock_other(k);
        free(mine[k]);
    }
    for (int k = 0; k < KEYS; k++) /* beyond 32 keys glibc allocates */
        check(pthread_setspecific(keys[k], malloc(8)) == 0);
    return unused;
}

static void run_threads(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&t[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        check(pthread_join(t[i], NULL) == 0);
}

/* As allocators do it. */
static void before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&mutex);
}

static void *fork_among_others(void *unused)
{
    for (int i = 0; i < 5; i++) {
        int status, child = fork();
        check(child >= 0);
        if (child == 0) {
            in_child = true;
            run_threads();
            _exit(0);
        }
        check(waitpid(child, &status, 0) == child && status == 0);
    }
    return unused;
}

int main(void)
{
    check(pthread_atfork(before_fork, after_fork, after_fork) == 0);
    for (int k = 0; k < KEYS; k++)
        check(pthread_key_create(&keys[k], end_of_key) == 0);
    for (int i = 0; i < ROUNDS; i++)
        run_threads();
    pthread_t forker;
    check(pthread_create(&forker, NULL, fork_among_others, NULL) == 0);
    for (int i = 0; i < 5; i++)
        run_threads();
    check(pthread_join(forker, NULL) == 0);
    static const char text[] = "1 passed, 0 failed\n";
    check(write(STDOUT_FILENO, text, sizeof text - 1) == sizeof text - 1);
    return 0;
}
