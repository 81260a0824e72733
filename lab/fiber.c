/* fiber.c - see fiber.h */
#define _GNU_SOURCE
#include "fiber.h"
#include "machine.h"
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_FIBERS = 1024, STACK = 256 * 1024, GUARD = 4096, DONOR_STACK = 1024 * 1024 };

struct lab_fiber *lab_current;
static struct lab_fiber fibers[MAX_FIBERS];
static int fiber_count;
static void *host_sp;
static uintptr_t host_thread_pointer;
static char *stacks; /* MAX_FIBERS times STACK, so that an address tells its fiber */

_Noreturn void lab_die(const char *what)
{
    fprintf(stderr, "lab: %s\n", what);
    abort();
}

void *lab_map(size_t size)
{
    static uintptr_t next = 0x1d0000000000; /* no loader or allocator of x86-64 or AArch64 Linux puts things here */
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap((void *)next, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED)
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        lab_die("out of memory");
    next += (size + 0xfffff) & ~(uintptr_t)0xfffff;
    return p;
}

struct donor {
    struct lab_fiber *fiber;
    sem_t ready, never;
};

/* Only the program's own block (the first object listed) counts as the thread's memory; the others are libc's. */
static int find_tls(struct dl_phdr_info *info, size_t size, void *fiber)
{
    (void)size;
    struct lab_fiber *f = fiber;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
            f->tls_low = (uintptr_t)info->dlpi_tls_data;
            f->tls_high = f->tls_low + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void *donate(void *argument)
{
    struct donor *d = argument;
    d->fiber->thread_pointer = lab_thread_pointer();
    dl_iterate_phdr(find_tls, d->fiber);
    sem_post(&d->ready);
    for (;;)
        sem_wait(&d->never);
    return NULL;
}

static void create(int id)
{
    struct lab_fiber *f = &fibers[id];
    f->id = id;
    f->stack_low = (uintptr_t)stacks + (uintptr_t)id * STACK;
    f->stack_high = f->stack_low + STACK;
    mprotect((void *)f->stack_low, GUARD, PROT_NONE);

    struct donor *d = calloc(1, sizeof *d);
    pthread_attr_t attributes;
    pthread_t thread;
    if (!d || pthread_attr_init(&attributes))
        lab_die("out of memory");
    d->fiber = f;
    sem_init(&d->ready, 0, 0);
    sem_init(&d->never, 0, 0);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstack(&attributes, lab_map(DONOR_STACK), DONOR_STACK); /* glibc puts the block on it */
    if (pthread_create(&thread, &attributes, donate, d))
        lab_die("cannot create a thread");
    pthread_attr_destroy(&attributes);
    sem_wait(&d->ready);
}

void lab_fibers_prepare(int count)
{
    if (count > MAX_FIBERS)
        lab_die("too many fibers");
    if (!stacks)
        stacks = lab_map((size_t)MAX_FIBERS * STACK);
    for (; fiber_count < count; fiber_count++)
        create(fiber_count);
}

struct lab_fiber *lab_fiber(int id)
{
    return &fibers[id];
}

struct lab_fiber *lab_fiber_of_stack(uintptr_t address)
{
    uintptr_t offset = address - (uintptr_t)stacks;
    return offset < (uintptr_t)fiber_count * STACK ? &fibers[offset / STACK] : NULL;
}

struct lab_fiber *lab_fiber_of_tls(uintptr_t address)
{
    for (int i = 0; i < fiber_count; i++)
        if (address - fibers[i].tls_low < fibers[i].tls_high - fibers[i].tls_low)
            return &fibers[i];
    return NULL;
}

void lab_fiber_arm(struct lab_fiber *f, void (*entry)(void))
{
    f->sp = lab_context((void *)f->stack_high, entry);
}

void lab_fiber_run(struct lab_fiber *f)
{
    host_thread_pointer = lab_thread_pointer();
    lab_current = f;
    lab_set_thread_pointer(f->thread_pointer);
    lab_switch(&host_sp, f->sp);
}

void lab_fiber_switch(struct lab_fiber *to)
{
    struct lab_fiber *from = lab_current;
    if (to == from)
        return;
    lab_current = to;
    lab_set_thread_pointer(to->thread_pointer);
    lab_switch(&from->sp, to->sp);
}

void lab_fiber_leave(void)
{
    struct lab_fiber *from = lab_current;
    lab_current = NULL;
    lab_set_thread_pointer(host_thread_pointer);
    lab_switch(&from->sp, host_sp);
}
