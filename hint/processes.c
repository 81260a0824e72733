/* processes.c - the processes with registered threads, each with a sheet
 *
 * A sheet is never given to a second process: children of the first may still have it mapped.
 */
#include "service.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PER_USER = HINT_SHEETS / 4 }; /* processes; root may have all */

typedef struct process {
    pid_t pid; /* 0: free */
    uid_t uid;
    int pidfd; /* readable once the process has ended */
    hint_sheet sheet;
    uint32_t tids[PAWL_HINT_WORDS]; /* of the slots; what the BPF program has freed may still be here */
} process;

static process processes[HINT_SHEETS];
static unsigned used; /* of these */

/* The thread is one of this process, and both are the user's. */
static bool is_of(uint32_t tid, pid_t pid, uid_t uid)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/task/%u", (int)pid, (unsigned)tid);
    return stat(path, &about) == 0 && about.st_uid == uid;
}

static bool has_ended(int pidfd)
{
    return poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 0) != 0;
}

static int find(pid_t pid)
{
    for (int i = 0; i < HINT_SHEETS; i++)
        if (processes[i].pid == pid)
            return i;
    return -1;
}

static bool may_have_another(uid_t uid)
{
    int count = 0;
    for (int i = 0; i < HINT_SHEETS; i++)
        count += processes[i].pid != 0 && processes[i].uid == uid;
    return uid == 0 || count < PER_USER;
}

/* Its number; or -1. */
static int add(pid_t pid, uid_t uid, int pidfd)
{
    int i = may_have_another(uid) ? find(0) : -1;
    if (i < 0)
        return -1;
    process *p = &processes[i];
    if (!hint_sheet_make(&p->sheet))
        return -1;
    if (!hint_watch(pidfd, (uint32_t)i)) {
        hint_sheet_free(&p->sheet);
        return -1;
    }
    p->pid = pid;
    p->uid = uid;
    p->pidfd = pidfd;
    used++;
    return i;
}

/* The word may not have been written yet since the thread came. */
static bool is_free(process *p, uint32_t slot)
{
    struct hint_thread known;
    if (p->tids[slot] == 0)
        return true;
    return atomic_load_explicit(&p->sheet.words->words[slot], memory_order_relaxed) == PAWL_HINT_FREE &&
           !(hint_thread_find(p->tids[slot], &known) && known.pid == (uint32_t)p->pid && known.slot == slot);
}

static int give_slot(uint32_t number, uint32_t tid, uint32_t *slot)
{
    process *p = &processes[number];
    struct hint_thread known;
    if (hint_thread_find(tid, &known) && known.pid == (uint32_t)p->pid && known.sheet == number) {
        *slot = known.slot;
        return PAWL_HINT_DONE;
    }
    uint32_t i = 1;
    while (i < PAWL_HINT_WORDS && !is_free(p, i))
        i++;
    if (i == PAWL_HINT_WORDS || !hint_thread_set(tid, &(struct hint_thread){(uint32_t)p->pid, number, i}))
        return PAWL_HINT_FULL;
    p->tids[i] = tid;
    *slot = i;
    return PAWL_HINT_DONE;
}

int hint_join(const struct pawl_hint_request *request, pid_t pid, uid_t uid, uint32_t *slot, int *file,
              int *fresh)
{
    *fresh = -1;
    if (pid <= 0 || request->pid != (uint32_t)pid) /* also: it is in another name space for processes */
        return PAWL_HINT_NOT_YOURS;
    int number = find(pid);
    int pidfd = number >= 0 ? processes[number].pidfd : (int)syscall(SYS_pidfd_open, pid, 0);
    int status = PAWL_HINT_NOT_YOURS;
    /* In this order: it lives after the question, so it was the one that was meant. */
    if (pidfd >= 0 && is_of(request->tid, pid, uid) && !has_ended(pidfd)) {
        status = PAWL_HINT_FULL;
        if (number < 0)
            number = *fresh = add(pid, uid, pidfd);
    }
    if (number >= 0 && status == PAWL_HINT_FULL) {
        *file = processes[number].sheet.file;
        return give_slot((uint32_t)number, request->tid, slot);
    }
    if (number < 0 && pidfd >= 0)
        close(pidfd);
    return status;
}

void hint_publish(int fresh)
{
    hint_sheet_publish((uint32_t)fresh, &processes[fresh].sheet);
}

void hint_leave(uint32_t number)
{
    process *p = &processes[number];
    struct hint_thread known;
    for (uint32_t i = 1; i < PAWL_HINT_WORDS; i++) {
        if (p->tids[i] != 0 && hint_thread_find(p->tids[i], &known) && known.pid == (uint32_t)p->pid)
            hint_thread_delete(p->tids[i]);
        p->tids[i] = 0;
    }
    close(p->pidfd);
    hint_sheet_free(&p->sheet);
    p->pid = 0;
    if (--used == 0)
        hint_no_thread_left();
}

void hint_count(uint32_t *count, uint32_t *threads)
{
    *count = used;
    *threads = 0;
    for (int i = 0; i < HINT_SHEETS; i++)
        for (uint32_t k = 1; processes[i].pid != 0 && k < PAWL_HINT_WORDS; k++)
            *threads += !is_free(&processes[i], k);
}
