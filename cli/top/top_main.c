/* top_main.c - `pawl top`: the locks of a running program, every second */
#include "top.h"

#include "cli/grid.h"
#include "cli/json.h"
#include "cli/parse.h"
#include "profile/document.h"
#include "profile/reports.h"
#include "profile/utf8.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 20 };

typedef struct request {
    uint32_t pid;
    bool once, json;
    uint64_t interval_ns;
} request;

static const char *const orders[ORDERS] = {"time waited", "acquisitions", "worst wait"};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case 'p':
        r->pid = (uint32_t)parse_number("--pid", argument, 1, 1 << 22);
        return 0;
    case '1':
        r->once = true;
        return 0;
    case 'j':
        r->json = true;
        return 0;
    case 'i':
        r->interval_ns = parse_duration("--interval", argument);
        return 0;
    case ARGP_KEY_ARG:
        fail("'%s': no argument is expected", argument);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "The process; without it, the only one that there is", 0},
    {"once", '1', NULL, 0, "Show one interval, and end", 0},
    {"json", 'j', NULL, 0, "With --once: write JSON", 0},
    {"interval", 'i', "TIME", 0, "Time between two looks (1s)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc =
        "Show the hottest locks of a program that 'pawl profile' has started, or 'pawl run' with statistics, "
        "every second. "
        "Keys: q quits, s sorts by something else, a number shows who blocks whom on that lock, 0 goes back.",
    .children = common_options};

/* ---- what is shown */

static void print(output *o, top *t, int order, size_t most)
{
    char holder[PLACE_ROOM + 64];
    const char *slash = strrchr(t->live.copy->program, '/');
    fprintf(o->file, "%s (%u) under %s, by %s: %zu lock%s\n",
            slash != NULL ? slash + 1 : t->live.copy->program, (unsigned)t->live.pid, t->live.copy->lock,
            orders[order], t->count, t->count == 1 ? "" : "s");
    grid g = grid_new("rrrrrrll");
    static const char *const titles[] = {"",         "acquired/s", "waits/s", "waited ms/s",
                                         "worst ms", "waiting",    "lock",    "holder"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        grid_add(&g, "%s", titles[i]);
    for (size_t i = 0; i < t->count && i < most; i++) {
        const top_lock *l = &t->locks[i];
        grid_add(&g, "%zu", i + 1);
        grid_add(&g, "%ju", (uintmax_t)l->acquisitions);
        grid_add(&g, "%ju", (uintmax_t)l->waits);
        grid_add(&g, "%.1f", (double)l->waited_ns / 1e6);
        grid_add(&g, "%.1f", (double)l->worst_ns / 1e6);
        grid_add(&g, "%u", (unsigned)l->waiting);
        grid_add(&g, "%s", top_name(t, l));
        grid_add(&g, "%s", top_holder(t, l, holder, sizeof holder));
    }
    grid_print(&g, o->file);
    grid_free(&g);
}

static void print_json(output *o, top *t)
{
    json_t *locks = json_array();
    char holder[PLACE_ROOM + 64], address[32];
    for (size_t i = 0; i < t->count && i < SHOWN; i++) {
        const top_lock *l = &t->locks[i];
        snprintf(address, sizeof address, "0x%jx", (uintmax_t)t->live.copy->locks[l->row].lock);
        json_t *item =
            json_pack("{so ss sI sI sI sI sI sI so}", "name", utf8_json(top_name(t, l)), "address", address,
                      "acquisitions_per_second", (json_int_t)l->acquisitions, "waits_per_second",
                      (json_int_t)l->waits, "waited_ns_per_second", (json_int_t)l->waited_ns, "worst_ns",
                      (json_int_t)l->worst_ns, "waiting", (json_int_t)l->waiting, "owner",
                      (json_int_t)l->owner, "holder", utf8_json(top_holder(t, l, holder, sizeof holder)));
        if (json_array_append_new(locks, item) != 0)
            fail("out of memory");
    }
    output_json(o, json_pack("{si sI so so}", "format", 1, "pid", (json_int_t)t->live.pid, "program",
                             utf8_json(t->live.copy->program), "locks", locks));
}

/* Who blocks whom on the lock at this address. */
static void print_blame(output *o, top *t, uintptr_t lock)
{
    json_t *d = document_new(t->live.copy->program), *item;
    char address[32];
    size_t i;
    snprintf(address, sizeof address, "0x%jx", (uintmax_t)lock);
    document_add_table(d, t->live.copy, t->live.copy->locks, t->live.copy->start_ns, t->taken_ns);
    document_finish(d);
    json_array_foreach (json_object_get(d, "locks"), i, item)
        if (strcmp(text_in(item, "address"), address) == 0)
            profile_text_lock(o, d, i);
    json_decref(d);
}

/* ---- the terminal */

static struct termios before;
static bool entered;
static volatile sig_atomic_t stop;

static void leave(void)
{
    static const char end[] = "\033[?25h\033[?1049l";
    if (!entered)
        return;
    entered = false;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    if (write(STDOUT_FILENO, end, sizeof end - 1) < 0)
        return;
}

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

static void enter(void)
{
    tcgetattr(STDIN_FILENO, &before);
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    static const char begin[] = "\033[?1049h\033[?25l";
    if (write(STDOUT_FILENO, begin, sizeof begin - 1) < 0)
        fail("standard output: %s", strerror(errno));
    entered = true;
    atexit(leave);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
}

/* As many lines and columns as there are, from the top left corner. */
static void show(const char *text)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    output o;
    output_open(&o, NULL);
    fputs("\033[H\033[J", o.file);
    for (int line = 0; *text != '\0' && line < size.ws_row - 1; line++) {
        int length = (int)strcspn(text, "\n");
        int shown = length < size.ws_col ? length : (int)utf8_cut(text, size.ws_col);
        fprintf(o.file, "%.*s\r\n", shown, text);
        text += length + (text[length] == '\n');
    }
    output_close(&o);
}

static void draw(top *t, int order, uintptr_t lock)
{
    output o;
    output_open(&o, NULL);
    if (lock == 0)
        print(&o, t, order, SHOWN);
    else
        print_blame(&o, t, lock);
    fflush(o.file);
    show(o.text);
    fclose(o.file);
    free(o.text);
}

/* A key that is pressed in that time; 0 if none is, or the process ends; 'q' after a signal. */
static char key_within(const top *t, int keyboard, uint64_t ns)
{
    struct pollfd events[] = {{.fd = keyboard, .events = POLLIN}, {.fd = t->process, .events = POLLIN}};
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    sigset_t ours, others;
    char key = 0;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    /* Or ppoll() sleeps through one that comes after `stop` was tested. */
    sigprocmask(SIG_BLOCK, &ours, &others);
    if (!stop && ppoll(events, 2, &time, &others) > 0 && events[0].revents != 0 &&
        read(keyboard, &key, 1) <= 0)
        key = 'q'; /* the terminal is gone */
    sigprocmask(SIG_SETMASK, &others, NULL);
    return stop ? 'q' : key;
}

/* What the last look has found. */
static top_state watch(top *t, uint64_t interval_ns)
{
    int order = BY_WAIT;
    uintptr_t lock = 0;
    size_t number = 0;
    top_state state = TOP_SEEN;
    enter();
    for (char key = 0; key != 'q';) {
        state = top_look(t, order);
        if (state == TOP_ENDED || state == TOP_LOST)
            break;
        if (state == TOP_REPLACED)
            lock = number = 0; /* that was the other program's */
        if (state != TOP_STARTING)
            draw(t, order, lock);
        else if (t->misses == 1)
            show("It has become another program, which is starting.\n");
        key = key_within(t, STDIN_FILENO, state == TOP_STARTING ? TOP_STEP_NS : interval_ns);
        if (key == 0)
            number = 0;
        if (key == 's')
            order = (order + 1) % ORDERS;
        if (key >= '0' && key <= '9') {
            number = number * 10 + (size_t)(key - '0'); /* "12" is typed within an interval */
            lock = number > 0 && number <= t->count ? t->live.copy->locks[t->locks[number - 1].row].lock : 0;
        }
    }
    leave();
    return state;
}

/* An interval of one program, which may be the next. */
static top_state look_once(top *t, uint64_t interval_ns)
{
    top_state state = TOP_REPLACED;
    while (state == TOP_REPLACED || state == TOP_STARTING) {
        key_within(t, -1, state == TOP_STARTING ? TOP_STEP_NS : interval_ns);
        state = top_look(t, BY_WAIT);
    }
    return state;
}

int top_main(int argc, char **argv)
{
    request r = {.interval_ns = 1000000000};
    parse_options(&argp, argc, argv, 0, &r);
    if (r.json && !r.once)
        fail("--json: only with --once");
    if (!r.once && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        fail("not a terminal; --once shows one interval");
    const char *terminal = getenv("TERM");
    if (!r.once && (terminal == NULL || *terminal == '\0' || strcmp(terminal, "dumb") == 0))
        fail("TERM='%s': no terminal to draw on; --once shows one interval",
             terminal != NULL ? terminal : "");
    top t = top_open(r.pid);
    top_state state = r.once ? look_once(&t, r.interval_ns) : watch(&t, r.interval_ns);
    if (state == TOP_LOST)
        fail("-p %u: has become a program without tables", (unsigned)t.live.pid);
    if (r.once) {
        if (state == TOP_ENDED)
            fail("-p %u: it has ended", (unsigned)t.live.pid);
        output o;
        output_open(&o, NULL);
        if (r.json)
            print_json(&o, &t);
        else
            print(&o, &t, BY_WAIT, SHOWN);
        output_close(&o);
    }
    top_close(&t);
    return EXIT_SUCCESS;
}
