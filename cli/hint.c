/* hint.c - `pawl hint`: the service that tells waiters whether others want their CPU */
#include "cli.h"
#include "json.h"

#include "hint/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct request {
    const char *path;
    bool foreground, json;
} request;

static const struct argp_option socket_option = {
    "socket", 's', "PATH", 0, "Where the service is reached (" PAWL_HINT_SOCKET ")", 0};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 's':
        if (argument[0] != '/' || strlen(argument) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
            fail("--socket: '%s' is no path from the root, or too long", argument);
        r->path = argument;
        return 0;
    case 'f':
        r->foreground = true;
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case ARGP_KEY_ARG:
        fail("'%s': no argument is expected", argument);
    }
    return ARGP_ERR_UNKNOWN;
}

static request read_request(const struct argp_option *options, const char *doc, int argc, char **argv)
{
    request r = {.path = PAWL_HINT_SOCKET};
    struct argp argp = {.options = options, .parser = parse, .doc = doc, .children = common_options};
    parse_options(&argp, argc, argv, 0, &r);
    return r;
}

/* ---- start */

static int parent = -1; /* a pipe to the process that started the service in the background */

/* systemd, if it waits for that (Type=notify). */
static void tell_systemd(void)
{
    static const char ready[] = "READY=1";
    const char *at = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (at == NULL || strlen(at) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, at, strlen(at));
    if (at[0] == '@')
        to.sun_path[0] = '\0';
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sendto(s, ready, strlen(ready), MSG_NOSIGNAL, (struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(at)));
    if (s >= 0)
        close(s);
}

static void tell_parent(void)
{
    static const char ready = 1;
    tell_systemd();
    if (parent < 0 || write(parent, &ready, 1) != 1)
        return;
    close(parent);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i <= STDERR_FILENO; i++)
        dup2(null, i);
    close(null);
}

static void make_folder(const char *path)
{
    static const char usual[] = PAWL_HINT_SOCKET;
    char folder[sizeof usual];
    if (strcmp(path, usual) != 0)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(usual, '/') - usual), usual);
    mkdir(folder, 0755); /* if it can't be made, the service says so */
}

/* Returns in the service; whoever called `pawl` learns from the pipe how its start ended. */
static void go_to_background(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("hint: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0)
        fail("hint: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        parent = ends[1];
        setsid();
        if (chdir("/") != 0)
            fail("hint: /: %s", strerror(errno));
        return;
    }
    char ready;
    int status;
    close(ends[1]);
    if (read(ends[0], &ready, 1) == 1)
        exit(EXIT_SUCCESS);
    exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT);
}

static int start_main(int argc, char **argv)
{
    const struct argp_option options[] = {
        socket_option, {"foreground", 'f', NULL, 0, "Stay in the foreground until a signal ends it", 0}, {0}};
    request r = read_request(options, "Start the service. Needs root.", argc, argv);
    make_folder(r.path);
    if (!r.foreground)
        go_to_background();
    hint_serve(r.path, tell_parent);
    return EXIT_SUCCESS;
}

/* ---- stop, status */

enum { SLICE_MS = 100, PATIENCE_MS = 5000, MOST_MS = 120000 };

/* Whether the service does nothing: it is stopped, or waits for something else. If it can't be seen, yes. */
static bool is_idle(int connection)
{
    struct ucred service;
    socklen_t size = sizeof service;
    char name[64], stat[512] = "";
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &service, &size) != 0)
        return true;
    snprintf(name, sizeof name, "/proc/%d/stat", (int)service.pid);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, stat, sizeof stat - 1) : -1;
    if (file >= 0)
        close(file);
    stat[length > 0 ? length : 0] = '\0';
    const char *state = strrchr(stat, ')');
    return state == NULL || (state[2] != 'R' && state[2] != 'D');
}

/* Until the service says something, or its end ends the connection. False: it has idled away its time. It may need longer to
 * get a CPU, but one that runs for two minutes is not going to answer. */
static bool await(int connection)
{
    struct pollfd p = {.fd = connection, .events = POLLIN};
    for (int all = 0, idle = 0; idle < PATIENCE_MS && all < MOST_MS; all += SLICE_MS) {
        if (poll(&p, 1, SLICE_MS) > 0)
            return true;
        idle += is_idle(connection) ? SLICE_MS : 0;
    }
    return false;
}

/* The connection, on which the answer has come; -1 if nobody is there. */
static int ask(const char *path, uint32_t what, struct pawl_hint_reply *reply)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 60}; /* for its turn, if many ask at once */
    struct pawl_hint_request request = {PAWL_HINT_MAGIC, PAWL_HINT_VERSION, what, 0, 0};
    strcpy(to.sun_path, path);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
        if (errno != ENOENT && errno != ECONNREFUSED)
            fail("hint: %s: %s", path, errno == EAGAIN ? "the service does not answer" : strerror(errno));
        close(s);
        return -1;
    }
    if (send(s, &request, sizeof request, MSG_NOSIGNAL) != sizeof request || !await(s) ||
        recv(s, reply, sizeof *reply, 0) != sizeof *reply || reply->magic != PAWL_HINT_MAGIC)
        fail("hint: %s: the service does not answer", path);
    return s;
}

static int stop_main(int argc, char **argv)
{
    const struct argp_option options[] = {socket_option, {0}};
    request r = read_request(options, "Stop the service. Programs go on without it.", argc, argv);
    struct pawl_hint_reply reply;
    int s = ask(r.path, PAWL_HINT_STOP, &reply);
    if (s < 0)
        fail("hint: no service runs at '%s'", r.path);
    if (reply.status == PAWL_HINT_FORBIDDEN)
        fail("hint: only root and the user who started the service may stop it");
    if (reply.status != PAWL_HINT_DONE)
        fail("hint: the service has another version (%u, not %d): stop it with the pawl that started it",
             (unsigned)reply.version, PAWL_HINT_VERSION);
    if (!await(s) || recv(s, &reply, sizeof reply, 0) != 0) /* the end of its process ends the connection */
        fail("hint: the service has not ended yet");
    close(s);
    return EXIT_SUCCESS;
}

/* Others are told that the service runs, and no more. */
static bool may_know(int connection)
{
    struct ucred service;
    socklen_t size = sizeof service;
    return geteuid() == 0 || (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &service, &size) == 0 &&
                              service.uid == geteuid());
}

static int status_main(int argc, char **argv)
{
    const struct argp_option options[] = {socket_option, {"json", 'j', NULL, 0, "Write JSON", 0}, {0}};
    request r =
        read_request(options, "Show whether the service runs. Exit status 1 if it does not.", argc, argv);
    struct pawl_hint_reply reply = {0};
    int s = ask(r.path, PAWL_HINT_STATUS, &reply);
    bool runs = s >= 0, told = runs && reply.status == PAWL_HINT_DONE && may_know(s);
    if (runs)
        close(s);
    output o;
    output_open(&o, NULL);
    if (r.json)
        output_json(&o, json_pack("{sb ss si si so so}", "runs", runs, "socket", r.path, "version",
                                  (int)reply.version, "pid", (int)reply.pid, "processes",
                                  told ? json_integer(reply.processes) : json_null(), "threads",
                                  told ? json_integer(reply.threads) : json_null()));
    else if (!runs)
        fprintf(o.file, "no service runs at %s\n", r.path);
    else if (!told)
        fprintf(o.file, "version %u runs at %s, process %u\n", (unsigned)reply.version, r.path,
                (unsigned)reply.pid);
    else
        fprintf(o.file, "version %u runs at %s, process %u: %u threads of %u processes are registered\n",
                (unsigned)reply.version, r.path, (unsigned)reply.pid, (unsigned)reply.threads,
                (unsigned)reply.processes);
    output_close(&o);
    return runs ? EXIT_SUCCESS : EXIT_BAD_NEWS;
}

static const command commands[] = {
    {"start", "Start the service", start_main},
    {"stop", "Stop the service", stop_main},
    {"status", "Show whether it runs", status_main},
    {NULL, NULL, NULL},
};

int hint_main(int argc, char **argv)
{
    static const command_set hint = {
        .kind = "command",
        .usage = "COMMAND [ARGUMENT...]",
        .doc = "A service that lets waiting threads know whether others want their CPU: they look longer, or "
               "sleep at once.",
        .commands = commands,
    };
    return dispatch(&hint, argc, argv);
}
