/* objects.c - variables of a program's files, by address
 *
 * By hand, because .bss is not part of any file mapping and libdw's own search does not find it. Sorted, because there may be
 * thousands of locks and a hundred thousand symbols.
 */
#include "objects.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct object {
    GElf_Addr at;
    GElf_Xword size;
    const char *name;
    int place; /* in the file's table: of several names, the first */
} object;

struct objects {
    objects *next;
    char *path;
    object *items;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const object *left = a, *right = b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

static int read_module(Dwfl_Module *module, void **user, const char *path, Dwarf_Addr start, void *argument)
{
    (void)user, (void)start;
    objects *o = argument;
    int count = strcmp(path, o->path) == 0 ? dwfl_module_getsymtab(module) : 0;
    if (count <= 0)
        return DWARF_CB_OK;
    o->items = allocate((size_t)count, sizeof *o->items);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr at;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL, NULL);
        if (name != NULL && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0)
            o->items[o->count++] = (object){at, symbol.st_size, name, i};
    }
    qsort(o->items, o->count, sizeof *o->items, by_address);
    return DWARF_CB_ABORT;
}

static objects *objects_of(objects **list, Dwfl *dwfl, const char *path)
{
    for (objects *o = *list; o != NULL; o = o->next)
        if (strcmp(o->path, path) == 0)
            return o;
    objects *o = allocate(1, sizeof *o);
    o->path = strdup(path);
    if (o->path == NULL)
        fail("out of memory");
    o->next = *list;
    *list = o;
    dwfl_getmodules(dwfl, read_module, o, 0);
    return o;
}

const char *objects_find(objects **list, Dwfl *dwfl, const char *path, uint64_t address, uint64_t *within)
{
    const objects *o = objects_of(list, dwfl, path);
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->items[middle].at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 1 && o->items[low - 2].at == o->items[low - 1].at)
        low--;
    for (; low > 0 && low <= o->count && o->items[low - 1].at <= address;
         low++) /* names of one address differ in size */
        if (address - o->items[low - 1].at < o->items[low - 1].size) {
            *within = address - o->items[low - 1].at;
            return o->items[low - 1].name;
        }
    return NULL;
}

void objects_free(objects *list)
{
    while (list != NULL) {
        objects *next = list->next;
        free(list->path);
        free(list->items);
        free(list);
        list = next;
    }
}
