/* parse.c - reads what people type */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t parse_number(const char *what, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : (end = "?", 0);
    if (*end != '\0')
        fail("%s '%s': not a whole number", what, text);
    if (errno == ERANGE || value < least || value > most)
        fail("%s '%s': must be from %llu to %llu", what, text, (unsigned long long)least,
             (unsigned long long)most);
    return value;
}

static const struct {
    const char *name;
    double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"", 1e9}};

enum { UNITS = sizeof units / sizeof units[0] };

const char *time_text(uint64_t ns, char *room)
{
    int u = 0;
    while ((double)ns < units[u].ns && u < UNITS - 2)
        u++;
    snprintf(room, TIME_ROOM, "%.10g%s", (double)ns / units[u].ns, units[u].name);
    return room;
}

void parse_shard(const char *what, const char *text, uint64_t *part, uint64_t *parts)
{
    char first[16];
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash == text || (size_t)(slash - text) >= sizeof first)
        fail("%s '%s': must be K/N, such as 1/4", what, text);
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    *parts = parse_number(what, slash + 1, 1, 1000000);
    *part = parse_number(what, first, 1, *parts);
}

uint64_t parse_time(const char *what, const char *text, uint64_t least, uint64_t most)
{
    char from[TIME_ROOM], to[TIME_ROOM];
    /* strtod() would also take hexadecimal, infinities and signs. */
    size_t digits = strspn(text, "0123456789.");
    char *end = (char *)text;
    double value = digits > 0 ? strtod(text, &end) : 0;
    for (int i = 0; end == text + digits && digits > 0 && i < UNITS; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        double ns = value * units[i].ns;
        if (ns < (double)least || ns > (double)most)
            fail("%s '%s': must be from %s to %s", what, text, time_text(least, from), time_text(most, to));
        return (uint64_t)(ns + 0.5);
    }
    fail("%s '%s': not a time, such as 2s or 500ms", what, text);
}

uint64_t parse_duration(const char *what, const char *text)
{
    return parse_time(what, text, 1000000, 3600000000000);
}

static const struct {
    const char *name;
    pawl_policy policy;
} policies[] = {{"spin", PAWL_WAIT_SPIN}, {"yield", PAWL_WAIT_YIELD}, {"park", PAWL_WAIT_PARK}};

enum { POLICIES = sizeof policies / sizeof policies[0] };

pawl_policy parse_policy(const char *what, const char *text)
{
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policies[i].name, text) == 0)
            return policies[i].policy;
    fail("%s '%s': must be spin, yield or park", what, text);
}

const char *policy_name(pawl_policy policy)
{
    for (int i = 0; i < POLICIES; i++)
        if (policies[i].policy == policy)
            return policies[i].name;
    return "?";
}

void check_environment(void)
{
    const char *wait = getenv("PAWL_WAIT");
    if (wait != NULL)
        parse_policy("PAWL_WAIT", wait);
    const char *hint = getenv("PAWL_HINT");
    if (hint != NULL && *hint != '/' && strcmp(hint, "off") != 0)
        fail("PAWL_HINT: '%s' is neither 'off' nor the path of a socket", hint);
    const char *timeslice = getenv("PAWL_TIMESLICE");
    if (timeslice != NULL && strcmp(timeslice, "off") != 0)
        fail("PAWL_TIMESLICE: '%s' is not 'off'", timeslice);
}

void parse_list(const char *what, const char *text, void (*each)(const char *item, void *input), void *input)
{
    char *items = strdup(text), *rest = items, *item;
    if (items == NULL)
        fail("out of memory");
    while ((item = strsep(&rest, ",")) != NULL) {
        if (*item == '\0')
            fail("%s '%s': %s", what, text, *text == '\0' ? "empty list" : "empty item in the list");
        each(item, input);
    }
    free(items);
}

/* Levenshtein's distance, for names of less than 64 characters; longer ones are far away. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= sizeof row / sizeof row[0])
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < shorter ? replace : shorter;
        }
    }
    return row[n];
}

const char *did_you_mean(const char *text, const char *(*name)(const void *names, size_t i),
                         const void *names, size_t count)
{
    static char hint[96];
    size_t best = 1 + strlen(text) / 3; /* farther away it would be a guess */
    hint[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(text, name(names, i));
        if (d > best || (d == best && hint[0] != '\0'))
            continue;
        best = d;
        snprintf(hint, sizeof hint, "; did you mean '%s'?", name(names, i));
    }
    return hint;
}
