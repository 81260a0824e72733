/* hint.bpf.c - in the kernel: how many threads are ready on each CPU, and which registered threads run
 *
 * This file may be used under the terms of the Apache License 2.0, as the rest of Pawl, or of the GPL, version 2.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "hint_maps.h"

/* Of the kernel's structures, what is used here; libbpf finds out where it is. */
#define KERNEL __attribute__((preserve_access_index))

struct cfs_rq {
    unsigned h_nr_queued, h_nr_runnable;
    struct rq *rq;
} KERNEL;

struct rq {
    unsigned nr_running;
    struct cfs_rq cfs;
    int cpu;
} KERNEL;

struct sched_entity {
    struct cfs_rq *cfs_rq;
} KERNEL;

struct task_struct {
    int pid, tgid;
    struct sched_entity se;
} KERNEL;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(uint32_t));
    __uint(value_size, sizeof(struct pawl_hint_cpus));
} cpus SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, HINT_THREADS);
    __type(key, uint32_t);
    __type(value, struct hint_thread);
} threads SEC(".maps");

/* A bit for each thread's number, modulo its size: set if such a thread may be registered. Most are not, and the search
 * in `threads` takes 50 ns. */
uint64_t filter[HINT_FILTER / 64];

struct sheet_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(uint32_t));
    __uint(value_size, sizeof(struct pawl_hint_sheet));
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, HINT_SHEETS);
    __type(key, uint32_t);
    __array(values, struct sheet_map);
} sheets SEC(".maps");

/* The queue is found from a thread in it. Since 6.12 a thread that sleeps may stay in its queue for a while; it is
 * not ready. */
static void count(struct task_struct *t)
{
    struct rq *queue = t->se.cfs_rq->rq;
    uint32_t cpu = queue->cpu, ready = queue->nr_running;
    if (bpf_core_field_exists(queue->cfs.h_nr_runnable) && bpf_core_field_exists(queue->cfs.h_nr_queued))
        ready -= queue->cfs.h_nr_queued - queue->cfs.h_nr_runnable;
    uint32_t zero = 0;
    struct pawl_hint_cpus *all = bpf_map_lookup_elem(&cpus, &zero);
    if (all != NULL && cpu < PAWL_HINT_CPUS)
        all->cpu[cpu].ready = ready;
}

static int find(struct task_struct *t, struct hint_thread *found)
{
    uint32_t tid = t->pid;
    if ((filter[tid % HINT_FILTER / 64] >> tid % 64 & 1) == 0)
        return 0;
    struct hint_thread *thread = bpf_map_lookup_elem(&threads, &tid);
    if (thread == NULL || thread->pid != (uint32_t)t->tgid)
        return 0;
    *found = *thread;
    return 1;
}

/* A switch may interrupt this for the same thread, which is about to end: so words are exchanged. */
static void mark(const struct hint_thread *thread, uint32_t now)
{
    uint32_t zero = 0;
    void *map = bpf_map_lookup_elem(&sheets, &thread->sheet);
    struct pawl_hint_sheet *sheet = map != NULL ? bpf_map_lookup_elem(map, &zero) : NULL;
    if (sheet == NULL)
        return;
    uint32_t *word = &sheet->words[thread->slot % PAWL_HINT_WORDS];
    uint32_t before = __sync_lock_test_and_set(word, now);
    int change = (now >= PAWL_HINT_ON) - (before >= PAWL_HINT_ON);
    if (change != 0)
        __sync_fetch_and_add(&sheet->words[0], change);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *before, struct task_struct *next)
{
    count(next);
    struct hint_thread thread;
    if (find(before, &thread))
        mark(&thread, PAWL_HINT_OFF);
    if (find(next, &thread))
        mark(&thread, PAWL_HINT_ON + bpf_get_smp_processor_id());
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *t)
{
    count(t);
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *t)
{
    count(t);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
    uint32_t tid = t->pid;
    struct hint_thread thread;
    if (!find(t, &thread))
        return 0;
    bpf_map_delete_elem(&threads, &tid); /* first: then no switch marks it any more */
    mark(&thread, PAWL_HINT_FREE);
    return 0;
}

/* For the service, which may not write to its own maps: they are frozen. */
SEC("syscall")
int beat(struct hint_beat *given)
{
    uint32_t zero = 0;
    struct pawl_hint_cpus *all = bpf_map_lookup_elem(&cpus, &zero);
    if (all == NULL)
        return 0;
    all->magic = PAWL_HINT_MAGIC;
    all->version = given->version;
    all->heartbeat = given->heartbeat;
    return 0;
}

char terms[] SEC("license") = "Dual BSD/GPL";
