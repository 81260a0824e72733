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
    unsigned h_nr_queued, h_nr_runnable; /* since 6.14 */
    unsigned h_nr_delayed;               /* before     */
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

struct hint_table table;

/* Of the thread that runs on each CPU: its sheet, or 0. Each in a line of its own. */
struct {
    uint32_t sheet, unused[15];
} here[PAWL_HINT_CPUS];

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
static __always_inline void count(struct task_struct *t)
{
    struct rq *queue = t->se.cfs_rq->rq;
    uint32_t cpu = queue->cpu, ready = queue->nr_running;
    if (bpf_core_field_exists(queue->cfs.h_nr_runnable) && bpf_core_field_exists(queue->cfs.h_nr_queued))
        ready -= queue->cfs.h_nr_queued - queue->cfs.h_nr_runnable;
    else if (bpf_core_field_exists(queue->cfs.h_nr_delayed))
        ready -= queue->cfs.h_nr_delayed;
    uint32_t zero = 0;
    struct pawl_hint_cpus *all = bpf_map_lookup_elem(&cpus, &zero);
    if (all != NULL && cpu < PAWL_HINT_CPUS)
        all->cpu[cpu].ready = ready;
}

static uint32_t *find_tid(uint32_t tid, struct hint_place **place)
{
    uint32_t set = tid % HINT_SETS;
    for (int i = 0; i < HINT_WAYS; i++)
        if (table.tid[set][i] == tid) {
            *place = &table.place[set][i];
            return &table.tid[set][i];
        }
    return NULL;
}

static struct hint_place *find(struct task_struct *t)
{
    struct hint_place *place;
    return t->pid != 0 && find_tid(t->pid, &place) != NULL && place->pid == (uint32_t)t->tgid ? place : NULL;
}

static struct pawl_hint_sheet *sheet_of(uint32_t number)
{
    uint32_t zero = 0, index = number - 1;
    void *map = bpf_map_lookup_elem(&sheets, &index);
    return map != NULL ? bpf_map_lookup_elem(map, &zero) : NULL;
}

/* Interrupts are off: so nobody else writes a CPU's words, or those of a thread that it switches to. */
static void enter(const struct hint_place *place, uint32_t cpu)
{
    struct pawl_hint_sheet *sheet = sheet_of(place->sheet);
    if (sheet == NULL)
        return;
    uint32_t *last = &sheet->thread[place->slot % PAWL_HINT_SLOTS];
    sheet->cpu[cpu] = place->slot;
    if (*last != cpu + 1)
        *last = cpu + 1;
}

static void leave(uint32_t number, uint32_t cpu)
{
    struct pawl_hint_sheet *sheet = sheet_of(number);
    if (sheet != NULL)
        sheet->cpu[cpu] = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *before, struct task_struct *next)
{
    uint32_t cpu = bpf_get_smp_processor_id();
    if (cpu >= PAWL_HINT_CPUS)
        return 0;
    count(next);
    const struct hint_place *place = find(next);
    uint32_t was = here[cpu].sheet, is = place != NULL ? place->sheet : 0;
    if (was != is)
        here[cpu].sheet = is;
    if (was != 0 && was != is)
        leave(was, cpu);
    if (place != NULL)
        enter(place, cpu);
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

/* Whatever switches come in between: the last word is this one's. */
static void forget(uint32_t number, uint32_t pid)
{
    struct hint_place *place;
    uint32_t *tid = find_tid(number, &place);
    if (tid == NULL || place->pid != pid)
        return;
    struct pawl_hint_sheet *sheet = sheet_of(place->sheet);
    uint32_t slot = place->slot % PAWL_HINT_SLOTS;
    *(volatile uint32_t *)tid = 0;
    if (sheet != NULL)
        sheet->thread[slot] = 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
    forget(t->pid, t->tgid);
    return 0;
}

/* Another program; if another than the first thread began it, that thread has the first one's number now. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t, int number)
{
    forget(number, t->tgid);
    forget(t->pid, t->tgid);
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
    all->count = given->count;
    all->heartbeat = given->heartbeat;
    return 0;
}

char terms[] SEC("license") = "Dual BSD/GPL";
