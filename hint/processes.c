/* processes.c - the processes with registered threads, each with a sheet
 *
 * A sheet is never given to a second process: children of the first may still have it mapped.
 */
#include "service.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PER_USER = HINT_SHEETS / 4 }; /* processes; root may have all */

typedef struct process {
    pid_t pid; /* 0: free */
    uid_t uid;
    int pidfd;       /* readable once the process has ended */
    int sheet;       /* its file */
    uint64_t serial; /* of the sheet, of all that were made */
    bool published;
    uint32_t tids[PAWL_HINT_SLOTS]; /* of the slots; some may have ended */
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

/* A free place with a sheet for the next process; -1: there is none. */
static int spare = -1;

static bool has_spare(void)
{
    int i = spare < 0 ? find(0) : -1;
    if (i >= 0 && (processes[i].sheet = hint_sheet_make()) >= 0) {
        static uint64_t made;
        processes[i].serial = made++;
        spare = i;
    }
    return spare >= 0;
}

static void publish(uint32_t number)
{
    process *p = &processes[number];
    if (!p->published)
        hint_sheet_publish(number, p->sheet);
    p->published = true;
}

void hint_prepare(void)
{
    if (has_spare())
        publish((uint32_t)spare);
}

/* Its number; or -1. */
static int add(pid_t pid, uid_t uid, int pidfd)
{
    if (!may_have_another(uid) || !has_spare() || !hint_watch(pidfd, (uint32_t)spare))
        return -1;
    int i = spare;
    process *p = &processes[i];
    spare = -1;
    p->pid = pid;
    p->uid = uid;
    p->pidfd = pidfd;
    used++;
    return i;
}

static bool has(uint32_t number, uint32_t tid, struct hint_place *known)
{
    return tid != 0 && hint_thread_find(tid, known) && known->pid == (uint32_t)processes[number].pid &&
           known->sheet == number + 1;
}

static bool is_free(uint32_t number, uint32_t slot)
{
    struct hint_place known;
    return !has(number, processes[number].tids[slot], &known) || known.slot != slot;
}

/* What hint_publish() has to do. */
static struct {
    uint32_t tid, number;
    struct hint_place place;
} next;

static int give_slot(uint32_t number, uint32_t tid, uint32_t *slot)
{
    process *p = &processes[number];
    uint32_t i = 1;
    if (has(number, tid, &next.place))
        i = next.place.slot;
    else
        while (i < PAWL_HINT_SLOTS && !is_free(number, i))
            i++;
    if (i == PAWL_HINT_SLOTS || !hint_thread_fits(tid))
        return PAWL_HINT_FULL;
    p->tids[i] = tid;
    *slot = i;
    next.tid = tid;
    next.number = number;
    next.place = (struct hint_place){(uint32_t)p->pid, number + 1, i, 0};
    return PAWL_HINT_DONE;
}

int hint_join(const struct pawl_hint_request *request, pid_t pid, uid_t uid, uint32_t *slot, uint64_t *serial,
              int *file)
{
    if (pid <= 0 || request->pid != (uint32_t)pid) /* also: it is in another name space for processes */
        return PAWL_HINT_NOT_YOURS;
    int number = find(pid);
    if (number >= 0 && processes[number].uid != uid) { /* children of what it was have its old sheet */
        hint_leave((uint32_t)number);
        number = -1;
    }
    int pidfd = number >= 0 ? processes[number].pidfd : (int)syscall(SYS_pidfd_open, pid, 0);
    int status = PAWL_HINT_NOT_YOURS;
    /* In this order: it lives after the question, so it was the one that was meant. */
    if (pidfd >= 0 && is_of(request->tid, pid, uid) && !has_ended(pidfd)) {
        status = PAWL_HINT_FULL;
        if (number < 0)
            number = add(pid, uid, pidfd);
    }
    if (number >= 0 && status == PAWL_HINT_FULL) {
        *file = processes[number].sheet;
        *serial = processes[number].serial;
        return give_slot((uint32_t)number, request->tid, slot);
    }
    if (number < 0 && pidfd >= 0)
        close(pidfd);
    return status;
}

/* The sheet first: until then, the one of the process that had this number is in its place. */
void hint_publish(void)
{
    process *p = &processes[next.number];
    publish(next.number);
    hint_thread_set(next.tid, &next.place);
    if (!is_of(next.tid, p->pid,
               p->uid)) /* it ended before it was in the table, and nobody else takes it out */
        hint_thread_delete(next.tid);
}

void hint_leave(uint32_t number)
{
    process *p = &processes[number];
    struct hint_place known;
    for (uint32_t i = 1; i < PAWL_HINT_SLOTS; i++) {
        if (has(number, p->tids[i], &known))
            hint_thread_delete(p->tids[i]);
        p->tids[i] = 0;
    }
    close(p->pidfd);
    close(p->sheet);
    p->pid = 0;
    p->published = false;
    used--;
}

void hint_count(uint32_t *count, uint32_t *threads)
{
    *count = used;
    *threads = 0;
    for (uint32_t i = 0; i < HINT_SHEETS; i++)
        for (uint32_t k = 1; processes[i].pid != 0 && k < PAWL_HINT_SLOTS; k++)
            *threads += !is_free(i, k);
}
