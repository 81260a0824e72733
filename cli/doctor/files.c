/* files.c - what the kernel says in files about CPUs and cgroups */
#include "doctor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool read_text(const char *root, const char *path, char *text, size_t size)
{
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
        return false;
    FILE *f = fopen(full, "re");
    if (f == NULL)
        return false;
    size_t length = fread(text, 1, size - 1, f);
    bool good = !ferror(f);
    fclose(f);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return good;
}

unsigned count_in_list(const char *list)
{
    unsigned count = 0;
    while (*list != '\0') {
        unsigned from, to;
        int used = 0;
        if (sscanf(list, "%u-%u%n", &from, &to, &used) != 2 || used == 0) {
            used = 0;
            if (sscanf(list, "%u%n", &from, &used) != 1)
                return 0;
            to = from;
        }
        if (to < from || (list[used] != ',' && list[used] != '\0'))
            return 0;
        count += to - from + 1;
        list += used + (list[used] == ',');
    }
    return count;
}

/* "50000 100000", or "max 100000" */
static double quota_v2(const char *text)
{
    double quota, period;
    return sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : -1;
}

/* "-1" and "100000", or "50000" and "100000"; the first is in `quota`. */
static double quota_v1(const char *root, const char *group, const char *quota)
{
    char path[PATH_MAX], period[32];
    snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
    if (!read_text(root, path, period, sizeof period) || atof(quota) < 0 || atof(period) <= 0)
        return -1;
    return atof(quota) / atof(period);
}

/* The smallest of a group's and of those above it. (In a container, those above may be all that can be seen.) */
static double quota_of(const char *root, char *group, bool v2, char *where, size_t size)
{
    double least = -1;
    for (;;) {
        char path[PATH_MAX], text[64];
        snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", v2 ? "" : "/cpu", group,
                 v2 ? "cpu.max" : "cpu.cfs_quota_us");
        double quota = -1;
        if (read_text(root, path, text, sizeof text))
            quota = v2 ? quota_v2(text) : quota_v1(root, group, text);
        if (quota >= 0 && (least < 0 || quota < least)) {
            least = quota;
            snprintf(where, size, "%s", path);
        }
        char *last = strrchr(group, '/');
        if (last == NULL)
            return least;
        *last = '\0';
    }
}

/* Whether a list such as "cpuacct,cpu" has an entry "cpu". */
static bool has_cpu(const char *controllers)
{
    for (const char *at = controllers; (at = strstr(at, "cpu")) != NULL; at += 3)
        if ((at == controllers || at[-1] == ',') && (at[3] == ',' || at[3] == '\0'))
            return true;
    return false;
}

/* Lines such as "0::/user.slice" (version 2) and "3:cpu,cpuacct:/user.slice" (version 1). */
double cgroup_quota(const char *root, char *where, size_t size)
{
    static char text[16384];
    if (!read_text(root, "/proc/self/cgroup", text, sizeof text))
        return -1;
    double least = -1;
    char *line, *rest = text;
    while ((line = strsep(&rest, "\n")) != NULL) {
        strsep(&line, ":");
        char *controllers = strsep(&line, ":"), *group = line;
        if (controllers == NULL || group == NULL)
            continue;
        if (strcmp(group, "/") == 0)
            *group = '\0';
        bool v2 = *controllers == '\0';
        if (!v2 && !has_cpu(controllers))
            continue;
        char file[PATH_MAX];
        double quota = quota_of(root, group, v2, file, sizeof file);
        if (quota >= 0 && (least < 0 || quota < least)) {
            least = quota;
            snprintf(where, size, "%s", file);
        }
    }
    return least;
}
