/* service.c - answers the processes that ask, and lets them know that it lives
 *
 * It never waits for anybody but the kernel: whoever connects and says nothing is dropped when CLIENTS others have come.
 */
#include "service.h"

#include "cli/cli.h"
#include "src/park/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 64, BACKLOG = 128 };
enum { LISTENER, SIGNALS, CLIENT, PROCESS }; /* kinds of events; the number is above */

static struct {
    int epoll, listener, signals;
    int clients[CLIENTS]; /* or -1 */
    unsigned next;        /* of these */
    uint64_t instance;
    bool stopped;
} service;

static bool watch(int file, uint32_t kind, uint32_t number)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uint64_t)number << 32 | kind};
    return epoll_ctl(service.epoll, EPOLL_CTL_ADD, file, &e) == 0;
}

bool hint_watch(int pidfd, uint32_t number)
{
    return watch(pidfd, PROCESS, number);
}

/* ---- answers */

static void send_reply(int client, const struct pawl_hint_reply *reply, const int *files)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec data = {(void *)reply, sizeof *reply};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (files != NULL) {
        m.msg_control = room;
        m.msg_controllen = sizeof room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(2 * sizeof(int));
        memcpy(CMSG_DATA(c), files, 2 * sizeof(int));
    }
    sendmsg(client, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int join(int client, const struct pawl_hint_request *request, const struct ucred *peer,
                struct pawl_hint_reply *reply)
{
    int files[2] = {hint_cpus_file(), -1};
    uint64_t serial = 0;
    int status = hint_join(request, peer->pid, peer->uid, &reply->slot, &serial, &files[1]);
    if (status == PAWL_HINT_DONE) {
        reply->instance += serial; /* a process that has become another user's has another sheet */
        send_reply(client, reply, files);
        hint_publish();
    }
    return status;
}

static bool rules(const struct ucred *peer)
{
    return peer->uid == 0 || peer->uid == geteuid();
}

static void answer(int client, const struct pawl_hint_request *request, ssize_t size)
{
    struct pawl_hint_reply reply = {
        PAWL_HINT_MAGIC, PAWL_HINT_VERSION, PAWL_HINT_DONE, 0, service.instance, 0, 0, (uint32_t)getpid(), 0};
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (size != sizeof *request || request->magic != PAWL_HINT_MAGIC ||
        getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        reply.status = PAWL_HINT_BAD_REQUEST;
    else if (request->version != PAWL_HINT_VERSION)
        reply.status = PAWL_HINT_BAD_VERSION;
    else if (request->what == PAWL_HINT_JOIN) {
        reply.status = (uint32_t)join(client, request, &peer, &reply);
        if (reply.status == PAWL_HINT_DONE)
            return;
    } else if (request->what == PAWL_HINT_STATUS) {
        if (rules(&peer))
            hint_count(&reply.processes, &reply.threads);
    } else if (request->what != PAWL_HINT_STOP)
        reply.status = PAWL_HINT_BAD_REQUEST;
    else if (!rules(&peer))
        reply.status = PAWL_HINT_FORBIDDEN;
    else
        service.stopped = true;
    send_reply(client, &reply, NULL);
}

/* ---- clients */

static void drop(unsigned number)
{
    if (service.clients[number] >= 0)
        close(service.clients[number]);
    service.clients[number] = -1;
}

/* False if it has said nothing yet. One that has stopped the service stays connected until the service has ended. */
static bool serve(unsigned number)
{
    struct pawl_hint_request request = {0};
    ssize_t size = recv(service.clients[number], &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EAGAIN)
        return false;
    if (size > 0)
        answer(service.clients[number], &request, size);
    if (!service.stopped)
        drop(number);
    return true;
}

static void welcome(void)
{
    int client = accept4(service.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
        if (errno != EAGAIN &&
            errno != ECONNABORTED) /* no descriptor, no memory: whoever asks has to wait, this not to spin */
            usleep(10000);
        return;
    }
    unsigned number = service.next++ % CLIENTS;
    drop(number);
    service.clients[number] = client;
    if (!serve(number) && !watch(client, CLIENT, number))
        drop(number);
}

/* ---- life */

static void run(void)
{
    uint64_t next = 0;
    while (!service.stopped) {
        uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC) / 1000000;
        if (now >= next) {
            hint_beat(PAWL_HINT_VERSION);
            hint_prepare();
            next = now + PAWL_HINT_BEAT_MS;
        }
        struct epoll_event e;
        if (epoll_wait(service.epoll, &e, 1, (int)(next - now)) != 1)
            continue;
        uint32_t number = (uint32_t)(e.data.u64 >> 32);
        switch ((uint32_t)e.data.u64) {
        case LISTENER:
            welcome();
            break;
        case SIGNALS:
            service.stopped = true;
            break;
        case CLIENT:
            serve(number);
            break;
        case PROCESS:
            hint_leave(number);
            break;
        }
    }
}

/* Whoever asks has 2 ms of patience. A short time slice lets this run before others' slices are over, and no longer than
 * they (Linux since 6.12; 0.1 ms is the shortest). */
static void hurry(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = 100000;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* Held as long as the service lives: a second one finds it, and a killed one leaves nothing but files behind. */
static void lock(const char *path)
{
    char name[sizeof((struct sockaddr_un *)NULL)->sun_path + 8];
    snprintf(name, sizeof name, "%s.lock", path);
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        fail("hint: %s: %s", name, strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) != 0)
        fail("hint: a service runs already at '%s'", path);
}

/* What is removed there must be the socket of a service that was killed. */
static void check_place(const char *path)
{
    struct stat about;
    if (lstat(path, &about) == 0 && !S_ISSOCK(about.st_mode))
        fail("hint: '%s' is there, and is no socket", path);
}

static void listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(at.sun_path, path);
    unlink(path);
    service.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0111); /* everybody may connect */
    bool bound = service.listener >= 0 && bind(service.listener, (struct sockaddr *)&at, sizeof at) == 0;
    umask(mask);
    if (!bound || listen(service.listener, BACKLOG) != 0)
        fail("hint: %s: %s", path, strerror(errno));
}

static void catch_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    service.signals = signalfd(-1, &set, SFD_CLOEXEC);
}

void hint_serve(const char *path, void (*ready)(void))
{
    struct rlimit files = {2 * HINT_SHEETS + 256, 2 * HINT_SHEETS + 256};
    setrlimit(RLIMIT_NOFILE, &files); /* two for each process */
    check_place(path);
    lock(path);
    catch_signals();
    memset(service.clients, -1, sizeof service.clients);
    hint_load();
    service.instance = pawl_nanoseconds(CLOCK_REALTIME);
    hint_beat(PAWL_HINT_VERSION);
    hint_prepare();
    hurry();
    listen_at(path);
    service.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (service.epoll < 0 || service.signals < 0 || !watch(service.listener, LISTENER, 0) ||
        !watch(service.signals, SIGNALS, 0))
        fail("hint: %s", strerror(errno));
    ready();
    run();
    unlink(path);
    hint_beat(0); /* for those who have it mapped */
    hint_unload();
}
