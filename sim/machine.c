/* machine.c - from what a machine file says to a machine, and back */
#include "parse.h"

#include <string.h>

const char *const sim_unit_names[UNITS] = {"cpu", "core", "cluster", "socket", "machine"};
const char *const sim_distance_names[SIM_DISTANCES] = {"core", "cluster", "socket", "remote"};
const char *const sim_protocol_names[SIM_PROTOCOLS] = {"mesi", "moesi", "mesif", "migratory"};

const sim_key sim_keys[KEYS] = {
#define KEY(name, kind, member) LEAST(name, kind, member, 0)
#define LEAST(name, kind, member, least)                                                                     \
    {                                                                                                        \
        name, kind, offsetof(sim_machine, member), least                                                     \
    }
    LEAST("cycle", TIME, cycle, 1),
    KEY("hit", TIME, hit),
    KEY("atomic", TIME, atomic),
    KEY("fence", TIME, fence),
    KEY("pause", TIME, pause),
    KEY("look", TIME, look),
    LEAST("clock", TIME, clock, 1),
    KEY("step", TIME, step),
    KEY("mersenne", TIME, mersenne),
    KEY("smt", FACTOR, smt),
    KEY("stores", COUNT, stores),
    KEY("overlap", SHARE, overlap),
    KEY("reach", TIME, reach),
    KEY("read", DISTANCES, read),
    KEY("write", DISTANCES, write),
    KEY("upgrade", DISTANCES, upgrade),
    KEY("invalidation", DISTANCES, invalidation),
    KEY("occupancy", TIME, occupancy),
    KEY("memory", TIME, memory),
    KEY("syscall", TIME, syscall),
    KEY("yield", TIME, yield),
    KEY("futex-wait", TIME, futex_wait),
    KEY("futex-wake", TIME, futex_wake),
    KEY("wake", TIME, wake),
    KEY("stay", SHARE, stay),
    KEY("slack", TIME, slack),
    KEY("switch", TIME, switching),
    KEY("migration", TIME, migration),
    KEY("slice", TIME, slice),
    LEAST("tick", TIME, tick, 1000000),
    KEY("hot", TIME, hot),
    KEY("pull", TIME, pull),
    KEY("membarrier", TIME, membarrier),
    KEY("interrupt", TIME, interrupt),
    KEY("ipi", TIME, ipi),
    KEY("delivery", TIME, delivery),
    KEY("stolen", TIME, stolen),
    KEY("stolen-every", TIME, stolen_every),
    KEY("line", BYTES, line),
#undef KEY
#undef LEAST
};

/* ---- the whole */

static int key_at(size_t offset)
{
    int key = 0;
    while (sim_keys[key].offset != offset)
        key++;
    return key;
}

static bool settle_units(parser *p)
{
    sim_machine *m = p->machine;
    for (int unit = CPU; unit < MACHINE; unit++)
        if (p->counts[unit] == 0 && unit != CLUSTER)
            return sim_complain(p, p->line, 1, "no line says how many %ss there are", sim_unit_names[unit]);
    bool clusters = p->counts[CLUSTER] > 0;
    static const int with[] = {CORE, CLUSTER, SOCKET, MACHINE}, without[] = {CORE, SOCKET, 0, MACHINE};
    for (int unit = CPU; unit < MACHINE; unit++)
        if ((clusters || unit != CLUSTER) && p->parents[unit] != (clusters ? with : without)[unit])
            return sim_complain(p, p->unit_at[unit], p->unit_column[unit],
                                "%ss are in a %s, which leaves something between them out",
                                sim_unit_names[unit], sim_unit_names[p->parents[unit]]);
    m->cpus_per_core = p->counts[CPU];
    m->cores_per_cluster = p->counts[CORE];
    m->clusters_per_socket = clusters ? p->counts[CLUSTER] : 1;
    m->sockets = p->counts[SOCKET];
    double cpus = (double)m->cpus_per_core * m->cores_per_cluster * m->clusters_per_socket * m->sockets,
           some = 1;
    for (int unit = CPU; cpus > SIM_MOST_CPUS && unit < MACHINE; unit++) {
        some *= p->counts[unit] > 0 ? p->counts[unit] : 1;
        if (some > SIM_MOST_CPUS)
            return sim_complain(p, p->unit_at[unit], p->unit_column[unit],
                                "this makes %.0f CPUs of it; at most %d can be simulated", cpus,
                                SIM_MOST_CPUS);
    }
    return true;
}

/* Distances that the machine does not have. */
static void fill_in(const sim_machine *m, sim_time *times)
{
    sim_time next = times[m->clusters_per_socket > 1 ? SIM_SAME_CLUSTER : SIM_SAME_SOCKET];
    if (m->cpus_per_core == 1)
        times[SIM_SAME_CORE] = m->hit < next ? m->hit : next;
    if (m->clusters_per_socket == 1)
        times[SIM_SAME_CLUSTER] = times[SIM_SAME_SOCKET];
    if (m->sockets == 1)
        times[SIM_OTHER_SOCKET] = times[SIM_SAME_SOCKET];
}

void sim_machine_fill_in(sim_machine *m)
{
    for (int key = 0; key < KEYS; key++)
        if (sim_keys[key].kind == DISTANCES)
            fill_in(m, sim_value(m, key));
}

/* Which distances there are follows from the units. */
static bool has_distance(const sim_machine *m, int distance)
{
    const bool there[SIM_DISTANCES] = {m->cpus_per_core > 1, m->clusters_per_socket > 1, true,
                                       m->sockets > 1};
    return there[distance];
}

static bool settle_distances(parser *p, int key)
{
    sim_machine *m = p->machine;
    sim_time *times = sim_value(m, key);
    for (int d = 0; d < SIM_DISTANCES; d++)
        if (has_distance(m, d) && times[d] == 0)
            return sim_complain(p, p->seen_at[key], p->seen_end[key], "%s: the latency for '%s' is missing",
                                sim_keys[key].name, sim_distance_names[d]);
    fill_in(m, times);
    for (int d = 1; d < SIM_DISTANCES; d++)
        if (times[d] < times[d - 1])
            return sim_complain(p, p->seen_at[key], p->seen_end[key], "%s: '%s' is nearer than '%s'",
                                sim_keys[key].name, sim_distance_names[d], sim_distance_names[d - 1]);
    return true;
}

/* A CPU that is away more than it is there would never get on. */
static bool settle_stolen(parser *p)
{
    const sim_machine *m = p->machine;
    const sim_time least = 1000 * 1000;
    if (m->stolen_every == 0 || (m->stolen_every >= least && m->stolen < m->stolen_every))
        return true;
    int key = key_at(offsetof(sim_machine, stolen_every));
    if (!p->seen[key])
        key = key_at(offsetof(sim_machine, stolen));
    return sim_complain(p, p->seen_at[key], p->seen_end[key],
                        "'stolen-every' must be 0, or 1000 ns or more, and longer than 'stolen'");
}

static bool settle(parser *p)
{
    if (!p->seen_words[NAME])
        return sim_complain(p, p->line, 1, "no line has the machine's name");
    if (!p->seen_words[PROTOCOL])
        return sim_complain(p, p->line, 1, "'protocol' is missing");
    if (!settle_units(p))
        return false;
    for (int key = 0; key < KEYS; key++) {
        if (!p->seen[key])
            return sim_complain(p, p->line, 1, "'%s' is missing", sim_keys[key].name);
        if (sim_keys[key].kind == DISTANCES && !settle_distances(p, key))
            return false;
    }
    return settle_stolen(p);
}

bool sim_machine_parse(const char *text, sim_machine *m, sim_complaint *c)
{
    parser p = {.machine = m, .complaint = c, .line = 1};
    memset(m, 0, sizeof *m);
    return sim_take_lines(&p, text) && settle(&p);
}

bool sim_machine_set(sim_machine *m, const char *line, sim_complaint *c)
{
    parser p = {.machine = m, .complaint = c, .line = 1, .changes = true};
    if (*line == '\0')
        return sim_complain(&p, 1, 1, "nothing to change");
    bool good = sim_take_lines(&p, line);
    for (int key = 0; good && key < KEYS; key++)
        good = sim_keys[key].kind != DISTANCES || settle_distances(&p, key);
    return good && settle_stolen(&p);
}

/* ---- writing */

static void write_time(FILE *to, sim_time t)
{
    fprintf(to, " %.10gns", (double)t / 1e3);
}

static void write_value(FILE *to, const sim_machine *m, int key)
{
    const void *member = sim_value(m, key);
    switch (sim_keys[key].kind) {
    case TIME:
        write_time(to, *(const sim_time *)member);
        return;
    case FACTOR:
    case SHARE:
        fprintf(to, " %g", *(const double *)member);
        return;
    case BYTES:
    case COUNT:
        fprintf(to, " %u", *(const unsigned *)member);
        return;
    case DISTANCES:
        for (int d = 0; d < SIM_DISTANCES; d++) {
            if (!has_distance(m, d))
                continue;
            fprintf(to, " %s", sim_distance_names[d]);
            write_time(to, ((const sim_time *)member)[d]);
        }
    }
}

void sim_machine_write(FILE *to, const sim_machine *m, const char *source_of(const char *key))
{
    const unsigned counts[] = {m->cpus_per_core, m->cores_per_cluster, m->clusters_per_socket, m->sockets};
    fprintf(to, "name %s\ntitle %s\n", m->name, m->title);
    for (int unit = CPU; unit < MACHINE; unit++)
        fprintf(to, "%s %u per %s # %s\n", sim_unit_names[unit], counts[unit], sim_unit_names[unit + 1],
                source_of(sim_unit_names[unit]));
    fprintf(to, "protocol %s # %s\n", sim_protocol_names[m->protocol], source_of("protocol"));
    for (int key = 0; key < KEYS; key++) {
        fputs(sim_keys[key].name, to);
        write_value(to, m, key);
        fprintf(to, " # %s\n", source_of(sim_keys[key].name));
    }
}

unsigned sim_machine_scatter(const sim_machine *m, unsigned i)
{
    unsigned socket = i % m->sockets, cluster = i / m->sockets % m->clusters_per_socket;
    unsigned rest = i / m->sockets / m->clusters_per_socket;
    unsigned core = rest % m->cores_per_cluster, cpu = rest / m->cores_per_cluster % m->cpus_per_core;
    return ((socket * m->clusters_per_socket + cluster) * m->cores_per_cluster + core) * m->cpus_per_core +
           cpu;
}
