/* futex_maps.h - of the kernel's side: what it uses of the kernel's structures, what it keeps, and what it is told
 *
 * Like futex.bpf.c, it may be used under the terms of the Apache License 2.0 or of the GPL, version 2.
 */
#pragma once

/* Of the kernel's structures, what is used; where it is, is found when the program is loaded. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct {
    int pid;
    unsigned int __state;
};
struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, sp;
};
struct sigaction {
    void *sa_handler;
    unsigned long sa_flags;
};
struct k_sigaction {
    struct sigaction sa;
};
struct bpf_iter__task {
    struct task_struct *task;
};
#pragma clang attribute pop

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ATTACH_THREADS);
    __type(key, uint32_t);
    __type(value, struct attach_waiting);
} waiting SEC(".maps");

/* A handler that jumps leaves its wait here for good: the oldest make room. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, ATTACH_SUSPENDED);
    __type(key, struct attach_frame);
    __type(value, struct attach_waiting);
} suspended SEC(".maps");

/* Threads that are about to wake others, with their stacks. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ATTACH_THREADS);
    __type(key, uint32_t);
    __type(value, uint64_t);
} waking SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ATTACH_STACKS);
    __type(key, uint64_t);
    __type(value, uint32_t);
} stacks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ATTACH_WAITS);
    __type(key, struct attach_pair);
    __type(value, struct attach_times);
} waits SEC(".maps");

/* From address to time: shorter waits are not told one by one. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, ATTACH_WAITS);
    __type(key, uint64_t);
    __type(value, uint64_t);
} least SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, ATTACH_RING);
} ring SEC(".maps");

/* A sample is larger than a program's stack. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct attach_sample);
} scratch SEC(".maps");

/* The same for visit(), which may be interrupted by the others. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct attach_sample);
} visited SEC(".maps");

const volatile uint32_t target = 0;                           /* its pid */
const volatile uint64_t namespace_dev = 0, namespace_ino = 0; /* that it counts in; 0: the first one */
const volatile uint64_t range_from[ATTACH_RANGES], range_to[ATTACH_RANGES]; /* of code */

uint32_t started;                        /* all programs are attached: what ended before is not counted */
uint32_t ending;                         /* who still waits is marked */
uint64_t lost_stacks, lost_waits, voids; /* voids: waits that returned at once */
uint64_t execs;                          /* how often it became another program */
