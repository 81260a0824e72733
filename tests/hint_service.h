/* hint_service.h - a service of `pawl hint` that gives all kinds of answers
 *
 * What the library keeps to itself is looked at, so its source is part of the program.
 */
#pragma once

#include "team.h"

#define PAWL_HINT_PAUSE    1
#define PAWL_HINT_PATIENCE patience_us
static long patience_us = 600000000; /* there is no hurry */

#include "../src/park/hint.c"

#include <fcntl.h>
#include <stdio.h>

/* ---- the service */

typedef enum manner {
    GOOD,
    SILENT,
    SHORT,
    OTHER_VERSION,
    REFUSING,
    NO_FILES,
    ONE_FILE,
    OLD_MAP,
    CLOSING
} manner;

enum { SLOT = 5 }; /* of everybody */

static struct {
    int listener;
    int maps[2];
    struct pawl_hint_cpus *cpus;
    struct pawl_hint_sheet *sheet;
    _Atomic(uint32_t) instance, manner, requests, pid, tid;
    int held; /* a connection that is never answered */
} fake;

static void *make_map(size_t size, int *file)
{
    *file = memfd_create("hint", MFD_CLOEXEC);
    CHECK(*file >= 0 && ftruncate(*file, (off_t)size) == 0, "no memory to share");
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
}

static void set_all(uint32_t ready, uint32_t running)
{
    for (int i = 0; i < PAWL_HINT_CPUS; i++)
        atomic_store_explicit(&fake.cpus->cpu[i].ready, ready, memory_order_relaxed);
    for (uint32_t i = 0; i < PAWL_HINT_CPUS; i++)
        atomic_store_explicit(&fake.sheet->cpu[i], i < running ? i + 1 : 0, memory_order_relaxed);
}

static void beat(void)
{
    atomic_store_explicit(&fake.cpus->heartbeat, milliseconds(), memory_order_relaxed);
}

static void make_maps(void)
{
    fake.cpus = make_map(sizeof *fake.cpus, &fake.maps[0]);
    fake.sheet = make_map(sizeof *fake.sheet, &fake.maps[1]);
    fake.cpus->magic = PAWL_HINT_MAGIC;
    fake.cpus->version = PAWL_HINT_VERSION;
    fake.cpus->count = PAWL_HINT_CPUS;
    beat();
}

static void reply(int client, manner how)
{
    struct pawl_hint_reply r = {
        PAWL_HINT_MAGIC, PAWL_HINT_VERSION, PAWL_HINT_DONE, SLOT, fake.instance, 0, 0, 0, 0};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec data = {&r, how == SHORT ? 8 : sizeof r};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    unsigned files = how == NO_FILES ? 0 : how == ONE_FILE ? 1 : 2;
    r.version += how == OTHER_VERSION;
    r.status = how == REFUSING ? PAWL_HINT_FULL : PAWL_HINT_DONE;
    fake.cpus->heartbeat = milliseconds() - (how == OLD_MAP ? 2 * PAWL_HINT_STALE_MS : 0);
    if (files > 0) {
        m.msg_control = room;
        m.msg_controllen = CMSG_SPACE(files * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(files * sizeof(int));
        memcpy(CMSG_DATA(c), fake.maps, files * sizeof(int));
    }
    sendmsg(client, &m, MSG_NOSIGNAL);
}

static void serve(int me, void *unused)
{
    (void)me, (void)unused;
    for (int client; (client = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        struct pawl_hint_request r;
        manner how = (manner)atomic_load(&fake.manner);
        bool whole = recv(client, &r, sizeof r, 0) == sizeof r;
        if (whole && r.what == PAWL_HINT_STOP)
            break;
        atomic_store(&fake.pid, r.pid);
        atomic_store(&fake.tid, r.tid);
        if (how == SILENT)
            fake.held = dup(client);
        atomic_fetch_add(&fake.requests, 1);
        if (whole && how != CLOSING && how != SILENT)
            reply(client, how);
        close(client);
    }
}

/* Its socket is in a folder of its own; `uid` is whose the service seems to be. */
static void begin(uid_t uid)
{
    static char folder[] = "/tmp/pawl-hint-XXXXXX";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    CHECK(mkdtemp(folder) != NULL, "no folder");
    snprintf(at.sun_path, sizeof at.sun_path, "%s/s", folder);
    fake.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool bound = fake.listener >= 0 && bind(fake.listener, (struct sockaddr *)&at, sizeof at) == 0;
    CHECK(seteuid(uid) == 0 && bound && listen(fake.listener, 8) == 0, "no socket: %s", strerror(errno));
    CHECK(seteuid(getuid()) == 0, "still another user");
    fake.instance = 1;
    setenv("PAWL_HINT", at.sun_path, 1);
    find_service();
    CHECK(hint.wanted, "not found");
}

static void end(team_member *team)
{
    answer a;
    char folder[sizeof path];
    ask(PAWL_HINT_STOP, BRIEFLY, &a); /* nobody answers this */
    team_join(team, 1);
    strcpy(folder, path);
    unlink(folder);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
}

static void sleep_often(void)
{
    for (int i = 0; i < SLEEPS; i++)
        pawl_hint_slept();
    pawl_hint_join();
}

#define HINT(check_)                                                                                         \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "hint"                                                  \
    }
