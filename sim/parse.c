/* parse.c - machine files: docs/simulation.md describes them
 *
 * A line is a key, its values, and after a # where they come from. Numbers without a source are refused: nobody could
 * tell later which of them were measured.
 */
#include "machine.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CPU, CORE, CLUSTER, SOCKET, MACHINE, UNITS };

static const char *const unit_names[UNITS] = {"cpu", "core", "cluster", "socket", "machine"};
static const char *const distance_names[SIM_DISTANCES] = {"core", "cluster", "socket", "remote"};
const char *const sim_protocol_names[SIM_PROTOCOLS] = {"mesi", "moesi", "mesif"};

typedef enum kind { TIME, DISTANCES, FACTOR, COUNT, BYTES } kind;

static const struct {
    const char *name;
    kind kind;
    size_t offset;
} keys[] = {
#define KEY(name, kind, member) {name, kind, offsetof(sim_machine, member)}
    KEY("cycle", TIME, cycle),           KEY("hit", TIME, hit),
    KEY("atomic", TIME, atomic),         KEY("fence", TIME, fence),
    KEY("pause", TIME, pause),           KEY("clock", TIME, clock),
    KEY("step", TIME, step),             KEY("mersenne", TIME, mersenne),
    KEY("smt", FACTOR, smt),             KEY("stores", COUNT, stores),
    KEY("read", DISTANCES, read),        KEY("write", DISTANCES, write),
    KEY("upgrade", DISTANCES, upgrade),  KEY("invalidation", TIME, invalidation),
    KEY("occupancy", TIME, occupancy),   KEY("memory", TIME, memory),
    KEY("syscall", TIME, syscall),       KEY("futex-wait", TIME, futex_wait),
    KEY("futex-wake", TIME, futex_wake), KEY("wake", TIME, wake),
    KEY("switch", TIME, switching),      KEY("migration", TIME, migration),
    KEY("slice", TIME, slice),           KEY("granularity", TIME, granularity),
    KEY("membarrier", TIME, membarrier), KEY("interrupt", TIME, interrupt),
    KEY("delivery", TIME, delivery),     KEY("line", BYTES, line),
#undef KEY
};

enum { KEYS = sizeof keys / sizeof keys[0], MOST_STORES = 128 };

/* ---- reading */

typedef struct parser {
    sim_machine *machine;
    sim_complaint *complaint;
    const char *start, *at; /* of the line, and in it */
    unsigned line;
    bool needs_source;
    unsigned counts[UNITS]; /* so many in each of its parents; 0: not said */
    int parents[UNITS];
    bool seen[KEYS];
    unsigned seen_at[KEYS], seen_end[KEYS]; /* line and column */
} parser;

static bool complain(parser *p, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool complain(parser *p, unsigned line, unsigned column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->complaint->text, sizeof p->complaint->text, format, arguments);
    va_end(arguments);
    p->complaint->line = line;
    p->complaint->column = column;
    return false;
}

static unsigned column(const parser *p)
{
    return (unsigned)(p->at - p->start) + 1;
}

#define COMPLAIN(p, ...) complain(p, (p)->line, column(p), __VA_ARGS__)

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

static bool at_end(const parser *p)
{
    return *p->at == '\0' || *p->at == '\n' || *p->at == '#';
}

/* The length of the word here; 0 at the end of the line. */
static int word(parser *p)
{
    skip_blanks(p);
    int length = 0;
    while (!isspace((unsigned char)p->at[length]) && p->at[length] != '\0' && p->at[length] != '#')
        length++;
    return length;
}

static int find(const char *const *names, int count, const char *text, int length)
{
    for (int i = 0; i < count; i++)
        if ((int)strlen(names[i]) == length && strncmp(names[i], text, (size_t)length) == 0)
            return i;
    return -1;
}

static bool take_number(parser *p, double *value)
{
    char *end;
    if (word(p) == 0 || !(isdigit((unsigned char)*p->at) || *p->at == '.'))
        return COMPLAIN(p, "a number is missing here");
    *value = strtod(p->at, &end);
    p->at = end;
    return true;
}

static bool take_time(parser *p, sim_time *time)
{
    static const char *const units[] = {"ns", "us", "ms", "cycles"};
    const double picoseconds[] = {1e3, 1e6, 1e9, (double)p->machine->cycle};
    double value;
    if (!take_number(p, &value))
        return false;
    int length = word(p), unit = find(units, 4, p->at, length);
    if (unit < 0)
        return COMPLAIN(p, "a time ends with ns, us, ms or cycles");
    if (unit == 3 && p->machine->cycle == 0)
        return COMPLAIN(p, "'cycle' must come first, so that a cycle has a length");
    if (value * picoseconds[unit] > 1e15)
        return COMPLAIN(p, "a time of more than 1000 s");
    *time = (sim_time)llround(value * picoseconds[unit]);
    p->at += length;
    return true;
}

static bool take_distances(parser *p, sim_time *times)
{
    while (skip_blanks(p), !at_end(p)) {
        int length = word(p), distance = find(distance_names, SIM_DISTANCES, p->at, length);
        if (distance < 0)
            return COMPLAIN(p, "'%.*s': no such distance; there are core, cluster, socket and remote", length, p->at);
        p->at += length;
        if (!take_time(p, &times[distance]))
            return false;
        if (times[distance] == 0)
            return COMPLAIN(p, "a latency of 0");
    }
    return true;
}

static bool take_value(parser *p, int key)
{
    char *member = (char *)p->machine + keys[key].offset;
    double value;
    switch (keys[key].kind) {
    case TIME: return take_time(p, (sim_time *)(void *)member);
    case DISTANCES: return take_distances(p, (sim_time *)(void *)member);
    case FACTOR:
        if (!take_number(p, &value))
            return false;
        if (value < 1 || value > 100)
            return COMPLAIN(p, "%g: must be from 1 to 100", value);
        *(double *)(void *)member = value;
        return true;
    case COUNT:
        if (!take_number(p, &value))
            return false;
        if (value < 1 || value > MOST_STORES || value != floor(value))
            return COMPLAIN(p, "%g: must be a whole number from 1 to %d", value, MOST_STORES);
        *(unsigned *)(void *)member = (unsigned)value;
        return true;
    case BYTES:
        if (!take_number(p, &value))
            return false;
        if (value != 8 && value != 16 && value != 32 && value != 64 && value != 128 && value != 256)
            return COMPLAIN(p, "%g: must be a power of two from 8 to 256", value);
        *(unsigned *)(void *)member = (unsigned)value;
        return true;
    }
    return false;
}

/* ---- units: "core 18 per socket" */

static bool take_unit(parser *p, int unit)
{
    double count;
    skip_blanks(p);
    unsigned at = column(p);
    if (!take_number(p, &count))
        return false;
    if (count != floor(count) || count < 1 || count > SIM_MOST_CPUS)
        return complain(p, p->line, at, "%.0f %ss: there must be 1 to %d", count, unit_names[unit], SIM_MOST_CPUS);
    int length = word(p);
    if (length != 3 || strncmp(p->at, "per", 3) != 0)
        return COMPLAIN(p, "'per' is missing here, and what the %ss are in", unit_names[unit]);
    p->at += length;
    length = word(p);
    int parent = find(unit_names, UNITS, p->at, length);
    if (parent < 0)
        return COMPLAIN(p, "'%.*s': must be core, cluster, socket or machine", length, p->at);
    for (int above = parent, steps = 0; steps < UNITS && above > 0; above = p->parents[above], steps++)
        if (above == unit)
            return COMPLAIN(p, "a cycle: a %s would be farther away than itself", unit_names[unit]);
    if (parent <= unit)
        return COMPLAIN(p, "a %s is not in a %s", unit_names[unit], unit_names[parent]);
    p->counts[unit] = (unsigned)count;
    p->parents[unit] = parent;
    p->at += length;
    return true;
}

/* ---- lines */

static bool take_text(parser *p, char *to, size_t size, bool whole_line)
{
    int length = word(p);
    if (length == 0)
        return COMPLAIN(p, "a name is missing here");
    if (whole_line) {
        while (p->at[length] != '\0' && p->at[length] != '\n' && p->at[length] != '#')
            length++;
        while (isspace((unsigned char)p->at[length - 1]))
            length--;
    }
    if ((size_t)length >= size)
        return COMPLAIN(p, "longer than %zu characters", size - 1);
    snprintf(to, size, "%.*s", length, p->at);
    p->at += length;
    return true;
}

static bool take_protocol(parser *p)
{
    int length = word(p), protocol = find(sim_protocol_names, SIM_PROTOCOLS, p->at, length);
    if (protocol < 0)
        return COMPLAIN(p, "'%.*s': must be mesi, moesi or mesif", length, p->at);
    p->machine->protocol = (sim_protocol)protocol;
    p->at += length;
    return true;
}

static int key_of(const char *text, int length)
{
    for (int i = 0; i < KEYS; i++)
        if ((int)strlen(keys[i].name) == length && strncmp(keys[i].name, text, (size_t)length) == 0)
            return i;
    return -1;
}

static bool has_source(parser *p)
{
    skip_blanks(p);
    if (*p->at != '#' && *p->at != '\n' && *p->at != '\0')
        return COMPLAIN(p, "nothing more was expected here");
    const char *text = p->at + (*p->at == '#');
    while (*text == ' ' || *text == '\t')
        text++;
    if (p->needs_source && (*p->at != '#' || *text == '\n' || *text == '\0'))
        return COMPLAIN(p, "no source: add '# assumed', or where the number comes from");
    return true;
}

static bool take_line(parser *p)
{
    int length = word(p);
    if (length == 0)
        return true;
    const char *name = p->at;
    unsigned at = column(p);
    int unit = find(unit_names, MACHINE, name, length), key = key_of(name, length);
    p->at += length;
    bool once = unit < 0 || p->counts[unit] == 0;
    if (key >= 0) {
        once = !p->seen[key];
        p->seen[key] = true;
    }
    if (!once)
        return complain(p, p->line, at, "'%.*s' was there already", length, name);
    if (length == 4 && strncmp(name, "name", 4) == 0)
        return take_text(p, p->machine->name, sizeof p->machine->name, false);
    if (length == 5 && strncmp(name, "title", 5) == 0)
        return take_text(p, p->machine->title, sizeof p->machine->title, true);
    if (length == 8 && strncmp(name, "protocol", 8) == 0)
        return take_protocol(p) && has_source(p);
    if (unit < 0 && key < 0)
        return complain(p, p->line, at, "'%.*s': no such key", length, name);
    if (!(unit >= 0 ? take_unit(p, unit) : take_value(p, key)))
        return false;
    if (key >= 0) {
        p->seen_at[key] = p->line;
        p->seen_end[key] = column(p);
    }
    return has_source(p);
}

/* ---- the whole */

static bool settle_units(parser *p)
{
    sim_machine *m = p->machine;
    for (int unit = CPU; unit < MACHINE; unit++)
        if (p->counts[unit] == 0 && unit != CLUSTER)
            return complain(p, p->line, 1, "no line says how many %ss there are", unit_names[unit]);
    bool clusters = p->counts[CLUSTER] > 0;
    static const int with[] = {CORE, CLUSTER, SOCKET, MACHINE}, without[] = {CORE, SOCKET, 0, MACHINE};
    for (int unit = CPU; unit < MACHINE; unit++)
        if ((clusters || unit != CLUSTER) && p->parents[unit] != (clusters ? with : without)[unit])
            return complain(p, p->line, 1, "%ss are in a %s, which leaves something between them out", unit_names[unit],
                            unit_names[p->parents[unit]]);
    m->cpus_per_core = p->counts[CPU];
    m->cores_per_cluster = p->counts[CORE];
    m->clusters_per_socket = clusters ? p->counts[CLUSTER] : 1;
    m->sockets = p->counts[SOCKET];
    double cpus = (double)m->cpus_per_core * m->cores_per_cluster * m->clusters_per_socket * m->sockets;
    if (cpus > SIM_MOST_CPUS)
        return complain(p, p->line, 1, "%.0f CPUs; at most %d can be simulated", cpus, SIM_MOST_CPUS);
    return true;
}

/* Which distances there are follows from the units. */
static bool settle_distances(parser *p, int key)
{
    sim_machine *m = p->machine;
    sim_time *times = (sim_time *)(void *)((char *)m + keys[key].offset);
    const bool wanted[SIM_DISTANCES] = {m->cpus_per_core > 1, m->clusters_per_socket > 1, true, m->sockets > 1};
    for (int d = 0; d < SIM_DISTANCES; d++)
        if (wanted[d] && times[d] == 0)
            return complain(p, p->seen_at[key], p->seen_end[key], "%s: the latency for '%s' is missing", keys[key].name,
                            distance_names[d]);
    if (times[SIM_SAME_CORE] == 0)
        times[SIM_SAME_CORE] = m->hit;
    if (times[SIM_SAME_CLUSTER] == 0)
        times[SIM_SAME_CLUSTER] = times[SIM_SAME_SOCKET];
    if (times[SIM_OTHER_SOCKET] == 0)
        times[SIM_OTHER_SOCKET] = times[SIM_SAME_SOCKET];
    for (int d = 1; d < SIM_DISTANCES; d++)
        if (times[d] < times[d - 1])
            return complain(p, p->seen_at[key], p->seen_end[key], "%s: '%s' is nearer than '%s'", keys[key].name,
                            distance_names[d], distance_names[d - 1]);
    return true;
}

static bool settle(parser *p)
{
    if (p->machine->name[0] == '\0')
        return complain(p, p->line, 1, "no line has the machine's name");
    if (!settle_units(p))
        return false;
    for (int key = 0; key < KEYS; key++) {
        if (!p->seen[key])
            return complain(p, p->line, 1, "'%s' is missing", keys[key].name);
        if (keys[key].kind == DISTANCES && !settle_distances(p, key))
            return false;
    }
    return p->machine->cycle > 0 || complain(p, p->line, 1, "a cycle of 0");
}

static bool take_lines(parser *p, const char *text)
{
    for (; *text != '\0'; p->line++) {
        p->start = p->at = text;
        if (!take_line(p))
            return false;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return true;
}

bool sim_machine_parse(const char *text, sim_machine *m, sim_complaint *c)
{
    parser p = {.machine = m, .complaint = c, .line = 1, .needs_source = true};
    memset(m, 0, sizeof *m);
    m->protocol = SIM_MESI;
    return take_lines(&p, text) && settle(&p);
}

bool sim_machine_set(sim_machine *m, const char *line, sim_complaint *c)
{
    parser p = {.machine = m, .complaint = c, .line = 1};
    return take_lines(&p, line);
}

/* ---- writing */

static void write_time(FILE *to, sim_time t)
{
    fprintf(to, " %gns", (double)t / 1e3);
}

void sim_machine_write(FILE *to, const sim_machine *m, const char *source)
{
    fprintf(to, "name %s\ntitle %s\n", m->name, m->title);
    fprintf(to, "cpu %u per core # %s\ncore %u per cluster # %s\ncluster %u per socket # %s\nsocket %u per machine # %s\n",
            m->cpus_per_core, source, m->cores_per_cluster, source, m->clusters_per_socket, source, m->sockets, source);
    fprintf(to, "protocol %s # %s\n", sim_protocol_names[m->protocol], source);
    for (int key = 0; key < KEYS; key++) {
        const char *member = (const char *)m + keys[key].offset;
        fprintf(to, "%s", keys[key].name);
        switch (keys[key].kind) {
        case TIME: write_time(to, *(const sim_time *)(const void *)member); break;
        case FACTOR: fprintf(to, " %g", *(const double *)(const void *)member); break;
        case BYTES:
        case COUNT: fprintf(to, " %u", *(const unsigned *)(const void *)member); break;
        case DISTANCES:
            for (int d = 0; d < SIM_DISTANCES; d++) {
                fprintf(to, " %s", distance_names[d]);
                write_time(to, ((const sim_time *)(const void *)member)[d]);
            }
        }
        fprintf(to, " # %s\n", source);
    }
}

unsigned sim_machine_scatter(const sim_machine *m, unsigned i)
{
    unsigned socket = i % m->sockets, cluster = i / m->sockets % m->clusters_per_socket;
    unsigned rest = i / m->sockets / m->clusters_per_socket;
    unsigned core = rest % m->cores_per_cluster, cpu = rest / m->cores_per_cluster % m->cpus_per_core;
    return ((socket * m->clusters_per_socket + cluster) * m->cores_per_cluster + core) * m->cpus_per_core + cpu;
}
