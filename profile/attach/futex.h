/* futex.h - what the kernel's side and this side of an attached profile share */
#pragma once

#include <stdint.h>

enum {
    ATTACH_CHUNK = 1024,  /* of a stack, aligned: it is there, or it is not */
    ATTACH_STACK = 8192,  /* bytes of a stack that are read */
    ATTACH_HASHED = 4096, /* of them, those that tell stacks apart */
    ATTACH_STACKS = 4096, /* different stacks that are kept */
    ATTACH_WAITS = 1 << 15,
    ATTACH_THREADS = 1 << 15,
    ATTACH_SUSPENDED = 1 << 12,
    ATTACH_RANGES = 4,
    ATTACH_RING = 1 << 24, /* bytes */
    ATTACH_REGISTERS = 17, /* of x86-64, as DWARF numbers them; the last is the program counter */
    ATTACH_SP = 7,
    ATTACH_PC = 16,
};

/* A stack is called by a number, the hash of all addresses of code on it. 0: not known. */

/* A thread that waits now. */
struct attach_waiting {
    uint64_t start_ns, address;
    uint64_t waiter, waker; /* stacks */
    uint64_t sp, ip;        /* of the call */
    uint64_t handler_ns;    /* of a suspended one: when the handler began */
    uint32_t waker_tid;
    uint32_t restarts; /* a signal came: which of the kernel's errors for a call that may go on; or 0 */
    uint32_t seen;     /* in the end: it still waits */
    uint32_t unused;
};

/* A wait that a handler has interrupted, and that goes on when the handler returns. Handlers may wait, too. */
struct attach_frame {
    uint64_t sp;
    uint32_t tid, unused;
};

struct attach_pair {
    uint64_t address, waiter, waker;
};

struct attach_times {
    uint64_t count, total_ns, worst_ns;
    uint64_t unfinished; /* of them, those that did not end before the thread or the profile did */
};

/* What the ring brings: a stack that was not seen before, or a long wait. */
enum { ATTACH_SAMPLE = 1, ATTACH_LONG = 2 };

struct attach_sample {
    uint64_t type;
    uint64_t stack;
    uint64_t registers[ATTACH_REGISTERS];
    uint64_t base; /* of `bytes`; at most a chunk below the stack pointer */
    uint64_t size;
    uint8_t bytes[ATTACH_STACK];
};

struct attach_long {
    uint64_t type;
    uint64_t address, waiter, waker;
    uint64_t start_ns, end_ns;
    uint32_t waiter_tid, waker_tid;
    uint32_t unfinished, unused;
    char name[16];
};
