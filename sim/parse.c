/* parse.c - machine files: docs/simulation.md describes them
 *
 * A line is a key, its values, and after a # where they come from. Numbers without a source are refused: nobody could
 * tell later which of them were measured.
 */
#include "parse.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool sim_complain(parser *p, unsigned line, unsigned column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->complaint->text, sizeof p->complaint->text, format, arguments);
    va_end(arguments);
    for (char *c = p->complaint->text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') /* a file that is no text must not steer the terminal */
            *c = '?';
    p->complaint->line = line;
    p->complaint->column = column;
    return false;
}

static unsigned column(const parser *p)
{
    return (unsigned)(p->at - p->start) + 1;
}

#define COMPLAIN(p, ...) sim_complain(p, (p)->line, column(p), __VA_ARGS__)

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

static bool take_long_enough(parser *p, const sim_key *key, sim_time *time)
{
    skip_blanks(p);
    unsigned at = column(p);
    if (!take_time(p, time))
        return false;
    if (*time < key->least)
        return sim_complain(p, p->line, at, "%s: at least %g ns", key->name, (double)key->least / 1e3);
    return true;
}

static bool take_distances(parser *p, sim_time *times)
{
    while (skip_blanks(p), !at_end(p)) {
        int length = word(p), distance = find(sim_distance_names, SIM_DISTANCES, p->at, length);
        if (distance < 0)
            return COMPLAIN(p, "'%.*s': no such distance; there are core, cluster, socket and remote", length,
                            p->at);
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
    void *member = sim_value(p->machine, key);
    double value;
    switch (sim_keys[key].kind) {
    case TIME:
        return take_long_enough(p, &sim_keys[key], (sim_time *)member);
    case DISTANCES:
        return take_distances(p, (sim_time *)member);
    case FACTOR:
        if (!take_number(p, &value))
            return false;
        if (value < 1 || value > 100)
            return COMPLAIN(p, "%g: must be from 1 to 100", value);
        *(double *)member = value;
        return true;
    case SHARE:
        if (!take_number(p, &value))
            return false;
        if (value > 1)
            return COMPLAIN(p, "%g: must be from 0 to 1", value);
        *(double *)member = value;
        return true;
    case COUNT:
        if (!take_number(p, &value))
            return false;
        if (value < 1 || value > MOST_STORES || value != floor(value))
            return COMPLAIN(p, "%g: must be a whole number from 1 to %d", value, MOST_STORES);
        *(unsigned *)member = (unsigned)value;
        return true;
    case BYTES:
        if (!take_number(p, &value))
            return false;
        if (value != 8 && value != 16 && value != 32 && value != 64 && value != 128 && value != 256)
            return COMPLAIN(p, "%g: must be a power of two from 8 to 256", value);
        *(unsigned *)member = (unsigned)value;
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
        return sim_complain(p, p->line, at, "%.0f %ss: there must be 1 to %d", count, sim_unit_names[unit],
                            SIM_MOST_CPUS);
    int length = word(p);
    if (length != 3 || strncmp(p->at, "per", 3) != 0)
        return COMPLAIN(p, "'per' is missing here, and what the %ss are in", sim_unit_names[unit]);
    p->at += length;
    length = word(p);
    int parent = find(sim_unit_names, UNITS, p->at, length);
    if (parent < 0)
        return COMPLAIN(p, "'%.*s': must be core, cluster, socket or machine", length, p->at);
    for (int above = parent, steps = 0; steps < UNITS && above > 0; above = p->parents[above], steps++)
        if (above == unit)
            return COMPLAIN(p, "a cycle: a %s would be farther away than itself", sim_unit_names[unit]);
    if (parent <= unit)
        return COMPLAIN(p, "a %s is not in a %s", sim_unit_names[unit], sim_unit_names[parent]);
    p->counts[unit] = (unsigned)count;
    p->unit_at[unit] = p->line;
    p->unit_column[unit] = at;
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
        return COMPLAIN(p, "'%.*s': must be mesi, moesi, mesif or migratory", length, p->at);
    p->machine->protocol = (sim_protocol)protocol;
    p->at += length;
    return true;
}

static int key_of(const char *text, int length)
{
    for (int i = 0; i < KEYS; i++)
        if ((int)strlen(sim_keys[i].name) == length && strncmp(sim_keys[i].name, text, (size_t)length) == 0)
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
    if (!p->changes && (*p->at != '#' || *text == '\n' || *text == '\0'))
        return COMPLAIN(p, "no source: add '# assumed', or where the number comes from");
    return true;
}

static bool take_line(parser *p)
{
    static const char *const words[WORDS] = {"name", "title", "protocol"};
    int length = word(p);
    if (length == 0)
        return !p->changes || COMPLAIN(p, "nothing to change");
    const char *name = p->at;
    unsigned at = column(p);
    int unit = find(sim_unit_names, MACHINE, name, length), key = key_of(name, length);
    p->at += length;
    int word_of = find(words, WORDS, name, length);
    bool *seen = key >= 0 ? &p->seen[key] : word_of >= 0 ? &p->seen_words[word_of] : NULL;
    if ((seen != NULL && *seen) || (unit >= 0 && p->counts[unit] > 0))
        return sim_complain(p, p->line, at, "'%.*s' was there already", length, name);
    if (seen != NULL)
        *seen = true;
    switch (word_of) {
    case NAME:
        return take_text(p, p->machine->name, sizeof p->machine->name, false);
    case TITLE:
        return take_text(p, p->machine->title, sizeof p->machine->title, true);
    case PROTOCOL:
        return take_protocol(p) && has_source(p);
    }
    if (unit >= 0 && p->changes)
        return sim_complain(p, p->line, at, "how many there are cannot be changed");
    if (unit < 0 && key < 0)
        return sim_complain(p, p->line, at, "'%.*s': no such key", length, name);
    if (!(unit >= 0 ? take_unit(p, unit) : take_value(p, key)))
        return false;
    if (key >= 0) {
        p->seen_at[key] = p->line;
        p->seen_end[key] = column(p);
    }
    return has_source(p);
}

bool sim_take_lines(parser *p, const char *text)
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
