/* name.c - what an address is called, as far as the dynamic linker knows */
#include "name.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

stats_name stats_name_of(uintptr_t address)
{
    Dl_info info;
    struct link_map *map;
    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || info.dli_fname == NULL)
        return (stats_name){0};
    stats_name name = {.module = info.dli_fname, .offset = address - map->l_addr};
    if (info.dli_sname != NULL) {
        name.symbol = info.dli_sname;
        name.within = address - (uintptr_t)info.dli_saddr;
    }
    return name;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

stats_place_text stats_place(uintptr_t address, uintptr_t seek)
{
    stats_place_text place;
    stats_name name = stats_name_of(seek);
    if (name.module == NULL)
        snprintf(place.text, sizeof place.text, "0x%jx", (uintmax_t)address);
    else if (name.symbol == NULL)
        snprintf(place.text, sizeof place.text, "%s+0x%jx", base(name.module), (uintmax_t)name.offset);
    else
        snprintf(place.text, sizeof place.text, "%s+0x%jx (%s+0x%jx)", name.symbol, (uintmax_t)name.within,
                 base(name.module), (uintmax_t)name.offset);
    return place;
}

/* Its file is called libpawl-<lock>.so. */
const char *stats_lock_name(void)
{
    static char lock[64];
    Dl_info info;
    if (dladdr(lock, &info) == 0 || info.dli_fname == NULL)
        return "?";
    const char *file = base(info.dli_fname), *dash = strchr(file, '-');
    snprintf(lock, sizeof lock, "%s", dash != NULL ? dash + 1 : file);
    char *dot = strchr(lock, '.');
    if (dot != NULL)
        *dot = '\0';
    return lock;
}
