/* futex.bpf.c - in the kernel: who waits in futex(), how long, and who wakes whom
 *
 * The start of a wait is kept for the thread; who wakes it is noted when it is woken; at its end the wait is added to those with
 * the same address, waiter's stack and waker's stack. Most programs have no frame pointers, so a stack can't be
 * unwound here. Its addresses of code are hashed instead, and the first of each hash is sent to be unwound: registers
 * and stack as they are.
 *
 * This file may be used under the terms of the Apache License 2.0, as the rest of Pawl, or of the GPL, version 2.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "futex.h"
#include "futex_maps.h"
#include "futex_stacks.h"

enum {
    SYS_FUTEX = 202,
    SYS_RESTART = 219,
    SYS_SIGRETURN = 15,
    OP_MASK = 127,
    ASLEEP = 1 | 4 /* or stopped in its sleep */
};
/* Of the kernel's own error numbers: the call goes on after a signal; unless a handler runs that does not want it (SYS), or
 * any handler (NOHAND, BLOCK). */
enum {
    WOULD_BLOCK = -11,
    RESTART_SYS = 512,
    RESTART_NOINTR = 513,
    RESTART_NOHAND = 514,
    RESTART_BLOCK = 516
};
enum { HANDLER_RESTARTS = 0x10000000 /* SA_RESTART */ };

static int is_target(void)
{
    struct bpf_pidns_info ids;
    if (namespace_ino == 0)
        return bpf_get_current_pid_tgid() >> 32 == target;
    return bpf_get_ns_current_pid_tgid(namespace_dev, namespace_ino, &ids, sizeof ids) == 0 &&
           ids.tgid == target;
}

/* ---- waits */

static int waits_in(uint32_t op)
{
    return op == 0 /* WAIT */ || op == 6 /* LOCK_PI */ || op == 9 /* WAIT_BITSET */ ||
           op == 11 /* WAIT_REQUEUE_PI */ || op == 13 /* LOCK_PI2 */;
}

static int wakes_in(uint32_t op)
{
    return op == 1 /* WAKE */ || op == 3 /* REQUEUE */ || op == 4 /* CMP_REQUEUE */ ||
           op == 5 /* WAKE_OP */ || op == 7 /* UNLOCK_PI */ || op == 10 /* WAKE_BITSET */ ||
           op == 12 /* CMP_REQUEUE_PI */;
}

static void tell(const struct attach_waiting *w, uint32_t tid, uint64_t now, uint32_t unfinished)
{
    struct attach_long e = {ATTACH_LONG, w->address,   w->waiter,  w->waker, w->start_ns, now,
                            tid,         w->waker_tid, unfinished, 0,        ""};
    bpf_get_current_comm(e.name, sizeof e.name);
    bpf_ringbuf_output(&ring, &e, sizeof e, 0);
}

static void add(const struct attach_waiting *w, uint64_t ns, uint32_t unfinished)
{
    struct attach_pair pair = {w->address, w->waiter, w->waker};
    struct attach_times none = {0};
    struct attach_times *t = bpf_map_lookup_elem(&waits, &pair);
    if (t == NULL) {
        bpf_map_update_elem(&waits, &pair, &none, BPF_NOEXIST); /* another CPU may be first */
        t = bpf_map_lookup_elem(&waits, &pair);
    }
    if (t == NULL) {
        __sync_fetch_and_add(&lost_waits, 1);
        return;
    }
    __sync_fetch_and_add(&t->count, 1);
    __sync_fetch_and_add(&t->total_ns, ns);
    __sync_fetch_and_add(&t->unfinished, unfinished);
    if (ns > t->worst_ns)
        t->worst_ns = ns;
}

static void finish_at(const struct attach_waiting *w, uint32_t tid, uint64_t now, uint32_t unfinished)
{
    uint64_t ns = now - w->start_ns;
    if (!started)
        return;
    uint64_t *shortest = bpf_map_lookup_elem(&least, &w->address);
    add(w, ns, unfinished);
    if (shortest == NULL || ns > *shortest)
        tell(w, tid, now, unfinished);
}

static void finish(const struct attach_waiting *w, uint32_t tid, uint32_t unfinished)
{
    finish_at(w, tid, bpf_ktime_get_ns(), unfinished);
}

/* ---- waits that a handler interrupts */

/* If there is one of this place already, its handler has jumped away: it ended then. */
static void suspend(struct attach_waiting *w, uint32_t tid)
{
    struct attach_frame frame = {w->sp, tid, 0};
    struct attach_waiting *left = bpf_map_lookup_elem(&suspended, &frame);
    if (left != NULL)
        finish_at(left, tid, left->handler_ns, 0);
    w->handler_ns = bpf_ktime_get_ns();
    bpf_map_update_elem(&suspended, &frame, w, BPF_ANY);
    bpf_map_delete_elem(&waiting, &tid);
}

/* A handler returns: what it interrupted goes on with the registers that the kernel has left on the stack. The call is made
 * again, so the program counter points to its instruction, of two bytes. */
static void resume(struct pt_regs *r)
{
    enum {
        SAVED_SP = 160,
        CALL = 2
    }; /* of struct ucontext, which the stack pointer points to; then the program counter */
    struct {
        uint64_t sp, ip;
    } saved;
    if (bpf_probe_read_user(&saved, sizeof saved, (void *)(r->sp + SAVED_SP)) != 0)
        return;
    uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
    struct attach_frame frame = {saved.sp, tid, 0};
    struct attach_waiting *w = bpf_map_lookup_elem(&suspended, &frame);
    if (w == NULL || w->ip != saved.ip + CALL)
        return;
    bpf_map_update_elem(&waiting, &tid, w, BPF_ANY);
    bpf_map_delete_elem(&suspended, &frame);
}

/* ---- calls */

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *r, long id)
{
    if ((id != SYS_FUTEX && id != SYS_SIGRETURN) || !is_target())
        return 0;
    if (id == SYS_SIGRETURN) {
        resume(r);
        return 0;
    }
    uint32_t op = r->si & OP_MASK, tid = (uint32_t)bpf_get_current_pid_tgid();
    if (wakes_in(op)) {
        uint64_t stack = stack_of(r);
        bpf_map_update_elem(&waking, &tid, &stack, BPF_ANY);
    } else if (waits_in(op)) {
        struct attach_waiting *before = bpf_map_lookup_elem(&waiting, &tid);
        if (before != NULL && before->restarts && before->address == r->di) {
            before->restarts = 0;
            return 0;
        }
        if (before != NULL)
            finish(before, tid, 0);
        struct attach_waiting w = {.address = r->di, .waiter = stack_of(r), .sp = r->sp, .ip = r->ip};
        w.start_ns = bpf_ktime_get_ns();
        if (bpf_map_update_elem(&waiting, &tid, &w, BPF_ANY) != 0)
            __sync_fetch_and_add(&lost_waits, 1);
    }
    return 0;
}

/* Runs in the thread that wakes. */
SEC("tp_btf/sched_waking")
int BPF_PROG(wake, struct task_struct *woken)
{
    uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), other = (uint32_t)woken->pid;
    struct attach_waiting *w = bpf_map_lookup_elem(&waiting, &other);
    uint64_t *stack = w != NULL ? bpf_map_lookup_elem(&waking, &tid) : NULL;
    if (stack != NULL) {
        w->waker = *stack;
        w->waker_tid = tid;
    }
    return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *r, long result)
{
    if (r->orig_ax != SYS_FUTEX && r->orig_ax != SYS_RESTART)
        return 0;
    uint32_t op = r->si & OP_MASK, tid = (uint32_t)bpf_get_current_pid_tgid();
    if (wakes_in(op))
        bpf_map_delete_elem(&waking, &tid);
    struct attach_waiting *w = waits_in(op) ? bpf_map_lookup_elem(&waiting, &tid) : NULL;
    if (w == NULL || w->address != r->di)
        return 0;
    if (result <= -RESTART_SYS && result >= -RESTART_BLOCK) {
        w->restarts = (uint32_t)-result;
        return 0;
    }
    if (result == WOULD_BLOCK)
        __sync_fetch_and_add(&voids, 1);
    else
        finish(w, tid, 0);
    bpf_map_delete_elem(&waiting, &tid);
    return 0;
}

/* Runs in the thread, after its call was left as if to be restarted. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(handle, int signal, void *info, struct k_sigaction *action)
{
    uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
    struct attach_waiting *w = bpf_map_lookup_elem(&waiting, &tid);
    if (w == NULL || w->restarts == 0 || (uint64_t)action->sa.sa_handler <= 1 /* default, ignored */)
        return 0;
    if (w->restarts == RESTART_NOINTR ||
        (w->restarts == RESTART_SYS && (action->sa.sa_flags & HANDLER_RESTARTS) != 0)) {
        suspend(w, tid);
        return 0;
    }
    finish(w, tid, 0);
    bpf_map_delete_elem(&waiting, &tid);
    return 0;
}

/* A thread that is killed, or that is no more because another one calls exec(), never leaves its call. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(die)
{
    uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
    struct attach_waiting *w = bpf_map_lookup_elem(&waiting, &tid);
    struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
    if (w != NULL && (r->orig_ax == SYS_FUTEX || r->orig_ax == SYS_RESTART))
        finish(w, tid, 1);
    bpf_map_delete_elem(&waiting, &tid);
    bpf_map_delete_elem(&waking, &tid);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(become)
{
    if (is_target())
        __sync_fetch_and_add(&execs, 1);
    return 0;
}

/* ---- threads that wait already, and those that wait still: each is visited once */

struct visit {
    struct attach_sample *sample;
    struct task_struct *task;
};

static long copy_chunk(uint32_t i, void *input)
{
    struct visit *v = input;
    struct attach_sample *s = v->sample;
    uint32_t at = (i * ATTACH_CHUNK) & (ATTACH_STACK - ATTACH_CHUNK);
    if (bpf_copy_from_user_task(&s->bytes[at], ATTACH_CHUNK, (void *)(s->base + at), v->task, 0) != 0)
        return 1;
    s->size = at + ATTACH_CHUNK;
    return 0;
}

SEC("iter.s/task")
int visit(struct bpf_iter__task *context)
{
    uint32_t zero = 0, tid;
    struct task_struct *task = context->task;
    struct attach_sample *s = bpf_map_lookup_elem(&visited, &zero);
    if (task == NULL || s == NULL || (task->__state & ASLEEP) == 0)
        return 0;
    struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(task);
    if (r->orig_ax != SYS_FUTEX || !waits_in(r->si & OP_MASK))
        return 0;
    tid = (uint32_t)task->pid;
    if (ending) {
        struct attach_waiting *w = bpf_map_lookup_elem(&waiting, &tid);
        if (w != NULL && w->address == r->di)
            w->seen = 1;
        return 0;
    }
    begin(s, r);
    struct visit v = {s, task};
    bpf_loop(ATTACH_STACK / ATTACH_CHUNK, copy_chunk, &v, 0);
    struct attach_waiting w = {.address = r->di,
                               .waiter = number_of(s, r),
                               .start_ns = bpf_ktime_get_ns(),
                               .sp = r->sp,
                               .ip = r->ip};
    bpf_map_update_elem(&waiting, &tid, &w, BPF_NOEXIST);
    return 0;
}

/* The kernel lends what reads a user's memory to such programs only. */
char terms[] SEC("license") = "GPL";
