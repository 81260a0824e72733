/* words.h - a time as people read it */
#pragma once

#include <stdint.h>
#include <stdio.h>

typedef struct duration {
    char text[24];
} duration;

static inline duration in_words(uint64_t ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    duration d;
    int u = 0;
    while (u < 3 && (double)ns < units[u].ns)
        u++;
    double value = (double)ns / units[u].ns;
    snprintf(d.text, sizeof d.text, "%.*f %s", u == 3 || value >= 100 ? 0 : 1, value, units[u].name);
    return d;
}
