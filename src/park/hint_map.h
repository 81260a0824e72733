/* hint_map.h - what the service of `pawl hint` publishes, and how a process asks for it (docs/hint.md)
 *
 * Shared by the BPF program that writes it, the service, and libpawl, which maps it read-only. Each number of the
 * version stands for all of this file.
 */
#pragma once

#include <stdint.h>

#define PAWL_HINT_SOCKET "/run/pawl/hint.sock"

enum {
    PAWL_HINT_MAGIC = 0x6c776170, /* "pawl" */
    PAWL_HINT_VERSION = 2,
    PAWL_HINT_CPUS = 1024,    /* of others nothing is known                                     */
    PAWL_HINT_SLOTS = 1024,   /* of a sheet; the first is nobody's                              */
    PAWL_HINT_BEAT_MS = 250,  /* between two heartbeats                                         */
    PAWL_HINT_STALE_MS = 1000 /* after one, in which the service is believed to be alive        */
};

#ifdef __bpf__
typedef uint32_t pawl_hint_word;
#else
typedef _Atomic(uint32_t) pawl_hint_word;
#endif

/* For everybody: how many threads are ready on each CPU, with the one that runs. */
struct pawl_hint_cpus {
    pawl_hint_word magic;
    pawl_hint_word version;   /* 0 once the service has stopped    */
    pawl_hint_word heartbeat; /* CLOCK_MONOTONIC in milliseconds   */
    pawl_hint_word count;     /* CPUs that there may be             */
    pawl_hint_word unused[12];
    struct {
        pawl_hint_word ready;
        pawl_hint_word unused[15]; /* each CPU writes its own line */
    } cpu[PAWL_HINT_CPUS];
};

/* For a process: which of its registered threads run. A thread is known by its slot, 1 or more. It runs if cpu[c] is its
 * slot, where c is the CPU of thread[slot]: each CPU writes its own word, so nothing has to be atomic. */
struct pawl_hint_sheet {
    pawl_hint_word cpu[PAWL_HINT_CPUS]; /* the slot of the thread that runs there; 0: none of this process */
    pawl_hint_word
        thread[PAWL_HINT_SLOTS]; /* 1 + the CPU where it ran last; 0: nobody has this slot          */
};

/* One SOCK_SEQPACKET message each way. */
enum { PAWL_HINT_JOIN = 1, PAWL_HINT_STATUS, PAWL_HINT_STOP };

struct pawl_hint_request {
    uint32_t magic, version;
    uint32_t what;
    uint32_t pid, tid; /* PAWL_HINT_JOIN: the caller's own */
};

enum {
    PAWL_HINT_DONE,
    PAWL_HINT_BAD_VERSION,
    PAWL_HINT_BAD_REQUEST,
    PAWL_HINT_NOT_YOURS, /* the thread is not of the caller's process, as the service sees it */
    PAWL_HINT_FULL,
    PAWL_HINT_FORBIDDEN
};

/* With PAWL_HINT_JOIN: two descriptors, of the CPUs and of the sheet. */
struct pawl_hint_reply {
    uint32_t magic, version;
    uint32_t status;
    uint32_t slot;               /* of the thread, in the sheet                     */
    uint64_t instance;           /* of service and sheet: another with each of them  */
    uint32_t processes, threads; /* registered; PAWL_HINT_STATUS, for root          */
    uint32_t pid;                /* the service's                                   */
    uint32_t unused;
};
