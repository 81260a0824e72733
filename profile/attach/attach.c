/* attach.c - loads the kernel's side, lets the process run, and fetches what was collected */
#include "attach.h"
#include "collected.h"

#include "cli/cli.h"
#include "src/park/clock.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" /* the program is one */
#include "futex.skel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* ---- the kernel's side */

static char complaint[512]; /* libbpf's last */

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list arguments)
{
    if (level == LIBBPF_WARN && *complaint == '\0') {
        vsnprintf(complaint, sizeof complaint, format, arguments);
        complaint[strcspn(complaint, "\n")] = '\0';
    }
    return 0;
}

static _Noreturn void give_up(const collected *c, int error)
{
    fail("-p %u: the kernel takes no BPF program for this: %s%s%s", (unsigned)c->pid, strerror(error),
         *complaint != '\0' ? ": " : "", complaint);
}

/* Where code is, as a few ranges: what is near belongs together. */
static void set_ranges(struct futex *f, const char *maps)
{
    enum { NEAR = 1 << 24 };
    int used = 0;
    for (const char *line = maps; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        uintmax_t from, to;
        char mode[8], name[8] = "";
        if (sscanf(line, "%jx-%jx %7s %*s %*s %*s %7[^\n]", &from, &to, mode, name) < 3 || mode[2] != 'x' ||
            strncmp(name, "[v", 2) == 0)
            continue;
        bool near = used > 0 && (from - f->rodata->range_to[used - 1] < NEAR || used == ATTACH_RANGES);
        if (!near)
            f->rodata->range_from[used++] = from;
        f->rodata->range_to[used - 1] = to;
    }
}

/* Process ids are counted as in our own namespace; the helper for that is needed only if it is not the first. */
static void set_target(struct futex *f, uint32_t pid)
{
    static const ino_t first = 0xeffffffc;
    struct stat namespace;
    f->rodata->target = pid;
    if (stat("/proc/self/ns/pid", &namespace) == 0 && (uint32_t) namespace.st_ino != first) {
        f->rodata->namespace_dev = namespace.st_dev;
        f->rodata->namespace_ino = namespace.st_ino;
    }
}

static struct futex *load(const collected *c)
{
    libbpf_set_print(keep_complaint);
    struct futex *f = futex__open();
    if (f == NULL)
        give_up(c, errno);
    set_target(f, c->pid);
    set_ranges(f, c->maps);
    bpf_program__set_autoattach(f->progs.visit, false);
    int error = futex__load(f);
    if (error == 0)
        error = futex__attach(f);
    if (error != 0)
        give_up(c, -error);
    return f;
}

/* Threads that wait already: their waits count from now. Or, in the end, those that wait still. */
static bool visit_threads(const collected *c, struct futex *f)
{
    union bpf_iter_link_info which = {.task = {.pid = c->pid}};
    struct bpf_iter_attach_opts options;
    memset(&options, 0, sizeof options); /* its padding, too: libbpf looks */
    options.sz = sizeof options;
    options.link_info = &which;
    options.link_info_len = sizeof which;
    struct bpf_link *link = bpf_program__attach_iter(f->progs.visit, &options);
    int fd = link != NULL ? bpf_iter_create(bpf_link__fd(link)) : -1;
    char none[64];
    while (fd >= 0 && (read(fd, none, sizeof none) > 0 || errno == EAGAIN))
        errno = 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    bpf_link__destroy(link);
    errno = error;
    return fd >= 0;
}

/* ---- while it runs */

typedef struct watching {
    collected *collected;
    struct futex *futex;
} watching;

static int take(void *input, void *data, size_t size)
{
    const watching *w = input;
    const uint64_t *type = data;
    if (*type == ATTACH_SAMPLE && size >= sizeof(struct attach_sample))
        collected_add_sample(w->collected, data);
    if (*type == ATTACH_LONG && size >= sizeof(struct attach_long)) {
        const struct attach_long *e = data;
        collected_add_long(w->collected, e);
        uint64_t least = collected_least(w->collected, e->address);
        if (least > 0)
            bpf_map_update_elem(bpf_map__fd(w->futex->maps.least), &e->address, &least, BPF_ANY);
    }
    return 0;
}

/* Returns why it ended. */
static const char *watch(const attachment *a, collected *c, struct futex *f)
{
    enum { PAUSE_MS = 100 };
    const char *why = NULL;
    watching w = {c, f};
    struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(f->maps.ring), take, &w, NULL);
    if (ring == NULL)
        fail("-p %u: %s", (unsigned)a->pid, strerror(errno));
    while (why == NULL) {
        uint64_t now = pawl_nanoseconds(CLOCK_MONOTONIC), left = PAUSE_MS;
        if (a->for_ns > 0)
            left = c->start_ns + a->for_ns > now ? (c->start_ns + a->for_ns - now) / 1000000 + 1 : 0;
        struct pollfd ended = {.fd = a->process, .events = POLLIN};
        poll(&ended, 1, left < PAUSE_MS ? (int)left : PAUSE_MS);
        ring_buffer__consume(ring);
        why = ended.revents != 0 ? "the process ended" : stopped ? "interrupted" : left == 0 ? "" : NULL;
    }
    f->bss->ending = 1;
    visit_threads(c, f);
    futex__detach(f);
    c->end_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    ring_buffer__consume(ring);
    ring_buffer__free(ring);
    return why;
}

/* ---- afterwards */

static void fetch_waits(collected *c, struct futex *f)
{
    int fd = bpf_map__fd(f->maps.waits);
    struct attach_pair key, *before = NULL;
    struct attach_times times;
    while (bpf_map_get_next_key(fd, before, &key) == 0) {
        if (bpf_map_lookup_elem(fd, &key, &times) == 0)
            collected_add_pair(c, &key, &times);
        before = &key;
    }
}

static void add_pair(collected *c, const struct attach_waiting *w, uint64_t end_ns, uint64_t unfinished)
{
    uint64_t ns = end_ns > w->start_ns ? end_ns - w->start_ns : 0;
    collected_add_pair(c, &(struct attach_pair){w->address, w->waiter, 0},
                       &(struct attach_times){1, ns, ns, unfinished});
}

/* Waits that have not ended: as long as they were watched. */
static void fetch_waiting(collected *c, struct futex *f)
{
    int fd = bpf_map__fd(f->maps.waiting);
    uint32_t tid, *before = NULL;
    struct attach_waiting w;
    for (; bpf_map_get_next_key(fd, before, &tid) == 0; before = &tid) {
        if (bpf_map_lookup_elem(fd, &tid, &w) != 0 || w.start_ns >= c->end_ns || !w.seen)
            continue;
        add_pair(c, &w, c->end_ns, 1);
        collected_add_long(c, &(struct attach_long){.type = ATTACH_LONG,
                                                    .address = w.address,
                                                    .waiter = w.waiter,
                                                    .start_ns = w.start_ns,
                                                    .end_ns = c->end_ns,
                                                    .waiter_tid = tid,
                                                    .unfinished = 1});
    }
}

/* Waits that a handler has interrupted and not gone back to: it still runs, or it has jumped away. */
static void fetch_suspended(collected *c, struct futex *f)
{
    int fd = bpf_map__fd(f->maps.suspended);
    struct attach_frame frame, *before = NULL;
    struct attach_waiting w;
    for (; bpf_map_get_next_key(fd, before, &frame) == 0; before = &frame)
        if (bpf_map_lookup_elem(fd, &frame, &w) == 0)
            add_pair(c, &w, w.handler_ns, 0);
}

static void add_notes(json_t *document, const collected *c)
{
    json_t *notes = json_array();
    if (c->execs > 0)
        json_array_append_new(notes,
                              json_string("the process became another program meanwhile: places before that "
                                          "have wrong names"));
    json_array_append_new(
        notes, json_string("attached: only waits that slept in the kernel are seen. How often locks were "
                           "acquired without, and how long they were held, is not known"));
    json_array_append_new(
        notes,
        json_string("a wait is shown with the thread that ended it; of a mutex, it is the one that had "
                    "held it, mostly"));
    if (strstr(c->maps, "/libpawl-") != NULL)
        json_array_append_new(
            notes, json_string("the program has Pawl's locks under it, which sleep in a table of their own: "
                               "'pawl top' knows more"));
    if (json_object_set_new(document, "notes", notes) != 0)
        fail("out of memory");
}

/* The newest maps that there are: libraries may have been loaded meanwhile. */
static void renew_maps(collected *c)
{
    char *now = attach_maps(c->pid);
    if (now != NULL) {
        free(c->maps);
        c->maps = now;
    }
}

/* What was read by its number may be another process's. */
static void check_alive(const attachment *a)
{
    if (poll(&(struct pollfd){.fd = a->process, .events = POLLIN}, 1, 0) > 0)
        fail("-p %u: has ended already", (unsigned)a->pid);
}

void attach_run(const attachment *a, json_t *document)
{
    struct sigaction ask = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &ask, NULL); /* first: to load takes a while */
    sigaction(SIGTERM, &ask, NULL);
    collected *c = allocate(1, sizeof *c);
    c->pid = a->pid;
    c->maps = attach_maps(a->pid);
    if (c->maps == NULL)
        fail("-p %u: %s", (unsigned)a->pid, strerror(errno != 0 ? errno : ESRCH));
    attach_program(c->pid, c->program);
    struct futex *f = load(c);
    check_alive(a);
    f->bss->started = 1;
    c->start_ns = pawl_nanoseconds(CLOCK_MONOTONIC);
    if (!visit_threads(c, f))
        give_up(c, errno);
    const char *why = watch(a, c, f);
    fetch_waits(c, f);
    fetch_waiting(c, f);
    fetch_suspended(c, f);
    c->lost_stacks = f->bss->lost_stacks;
    c->lost_waits = f->bss->lost_waits;
    c->voids = f->bss->voids;
    c->execs = f->bss->execs;
    close(a->process);
    futex__destroy(f);
    renew_maps(c);
    json_object_set_new(document, "attached", json_true());
    json_object_set_new(document, "elapsed_ns", json_integer((json_int_t)(c->end_ns - c->start_ns)));
    json_object_set_new(document, "end", json_string(why));
    add_notes(document, c);
    document_add_collected(document, c, a->depth);
    collected_free(c);
    free(c);
}
