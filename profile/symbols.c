/* symbols.c - what an address is called, by libdw: debug information also from separate files, and inlined functions */
#include "symbols.h"
#include "demangle.h"
#include "jit.h"
#include "mappings.h"
#include "objects.h"
#include "utf8.h"

#include "cli/cli.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct symbols {
    const char *maps;
    size_t size;
    mappings mappings;
    Dwfl *dwfl; /* NULL until it is needed */
    objects *objects;
    jit *jit;
};

/* Reading debug information takes long, so only on demand. */
Dwfl *symbols_dwfl(symbols *s)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    if (s->dwfl != NULL || s->size == 0)
        return s->dwfl;
    FILE *text = fmemopen((void *)s->maps, s->size, "r");
    if (text == NULL)
        fail("out of memory");
    s->dwfl = dwfl_begin(&callbacks);
    if (s->dwfl == NULL)
        fail("libdw: %s", dwfl_errmsg(-1));
    dwfl_linux_proc_maps_report(s->dwfl, text);
    dwfl_report_end(s->dwfl, NULL, NULL);
    fclose(text);
    return s->dwfl;
}

symbols *symbols_new(const char *maps, size_t size, uint32_t pid)
{
    symbols *s = allocate(1, sizeof *s);
    s->maps = maps;
    s->size = size;
    s->mappings = mappings_read(maps, size);
    s->jit = jit_new(pid);
    return s;
}

void symbols_free(symbols *s)
{
    if (s == NULL)
        return;
    if (s->dwfl != NULL)
        dwfl_end(s->dwfl);
    objects_free(s->objects);
    mappings_free(&s->mappings);
    jit_free(s->jit);
    free(s);
}

static void set(json_t *frame, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(frame, key, value) != 0)
        fail("out of memory");
}

static json_t *add(json_t *frames)
{
    json_t *frame = json_object();
    if (json_array_append_new(frames, frame) != 0)
        fail("out of memory");
    return frame;
}

static void set_function(json_t *frame, const char *name)
{
    char *plain = demangle(name);
    set(frame, "function", utf8_json(plain));
    free(plain);
}

/* ---- by debug information */

static Dwarf_Word attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word value;
    return dwarf_attr(die, name, &a) != NULL && dwarf_formudata(&a, &value) == 0 ? value : 0;
}

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) != NULL ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) != NULL)
        name = dwarf_formstring(&a);
    return name != NULL ? name : dwarf_diename(die);
}

/* clang writes no address index by default; then every compilation unit is asked. */
static Dwarf_Die *unit_at(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *cu = dwfl_module_addrdie(module, address, bias);
    if (cu != NULL)
        return cu;
    while ((cu = dwfl_module_nextcu(module, cu, bias)) != NULL)
        if (dwarf_haspc(cu, address - *bias) > 0)
            return cu;
    return NULL;
}

/* The function around the address and all it is inlined into, innermost first. */
static int instances(Dwarf_Die *cu, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *at, innermost;
    *scopes = NULL;
    if (dwarf_getscopes(cu, address, &at) <= 0)
        return 0;
    innermost = at[0];
    free(at);
    return dwarf_getscopes_die(&innermost, scopes); /* the enclosing instances, not the abstract ones */
}

static void set_line(json_t *frame, const char *file, int line)
{
    if (file == NULL || line <= 0)
        return;
    set(frame, "file", utf8_json(file));
    set(frame, "line", json_integer(line));
}

static bool add_by_debug_info(Dwfl_Module *module, Dwarf_Addr address, json_t *frames)
{
    Dwarf_Addr bias;
    Dwarf_Die *cu = unit_at(module, address, &bias), *scopes;
    Dwarf_Line *at = cu != NULL ? dwarf_getsrc_die(cu, address - bias) : NULL;
    const char *file = at != NULL ? dwarf_linesrc(at, NULL, NULL) : NULL;
    int line = 0, count = cu != NULL ? instances(cu, address - bias, &scopes) : 0;
    bool found = false;
    Dwarf_Files *files;
    if (count <= 0)
        return false;
    if (at != NULL)
        dwarf_lineno(at, &line);
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name = linkage_name(&scopes[i]);
        if ((tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) || name == NULL)
            continue;
        json_t *frame = add(frames);
        set_function(frame, name);
        set_line(frame, file, line);
        found = true;
        if (tag == DW_TAG_subprogram)
            break;
        set(frame, "inlined", json_true());
        bool known = dwarf_getsrcfiles(cu, &files, NULL) == 0;
        file = known ? dwarf_filesrc(files, attribute(&scopes[i], DW_AT_call_file), NULL, NULL) : NULL;
        line = (int)attribute(&scopes[i], DW_AT_call_line);
    }
    free(scopes);
    return found;
}

/* ---- by symbols */

static void set_module(json_t *frame, Dwfl_Module *module, Dwarf_Addr address)
{
    GElf_Addr bias = 0;
    char offset[32];
    const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    dwfl_module_getelf(module, &bias);
    snprintf(offset, sizeof offset, "0x%jx", (uintmax_t)(address - bias));
    set(frame, "module", utf8_json(name != NULL ? name : "?"));
    set(frame, "offset", utf8_json(offset));
}

static void add_by_symbol(Dwfl_Module *module, Dwarf_Addr address, json_t *frames)
{
    GElf_Off within;
    GElf_Sym symbol;
    json_t *frame = add(frames);
    const char *name = dwfl_module_addrinfo(module, address, &within, &symbol, NULL, NULL, NULL);
    if (name != NULL && *name != '\0')
        set_function(frame, name);
}

static void find_frames(symbols *s, Dwarf_Addr call, json_t *frames)
{
    size_t before = json_array_size(frames);
    Dwfl_Module *module = symbols_dwfl(s) != NULL ? dwfl_addrmodule(s->dwfl, call) : NULL;
    if (module == NULL) {
        json_t *frame = add(frames);
        char raw[32];
        const char *name = jit_name(s->jit, call);
        snprintf(raw, sizeof raw, "0x%jx", (uintmax_t)call + 1);
        if (name != NULL)
            set_function(frame, name);
        set(frame, "offset", utf8_json(raw));
        return;
    }
    if (!add_by_debug_info(module, call, frames))
        add_by_symbol(module, call, frames);
    for (size_t i = before; i < json_array_size(frames); i++)
        set_module(json_array_get(frames, i), module, call);
}

/* What is known of a place in a file holds for all processes that map it. */
void symbols_frames(symbols *s, uint64_t address, json_t *frames)
{
    static json_t *known;
    Dwarf_Addr call = address - 1; /* the return address itself may belong to the next function */
    const mapping *m = mappings_find(&s->mappings, call);
    if (m == NULL || call >= m->to || m->path[0] != '/') {
        find_frames(s, call, frames);
        return;
    }
    char key[PATH_MAX + 32];
    snprintf(key, sizeof key, "%jx %s", (uintmax_t)call - m->from + m->offset, m->path);
    if (known == NULL)
        known = json_object();
    json_t *found = json_object_get(known, key);
    if (found == NULL) {
        found = json_array();
        find_frames(s, call, found);
        if (json_object_set_new(known, key, found) != 0)
            fail("out of memory");
    }
    if (json_array_extend(frames, found) != 0)
        fail("out of memory");
}

/* ---- data */

bool symbols_data(symbols *s, uint64_t address, char *name, size_t size)
{
    enum { LARGEST = 1 << 28 }; /* .bss, which follows the file's mappings */
    const mapping *m = mappings_find(&s->mappings, address);
    if (m == NULL || address > m->to + LARGEST || m->path[0] != '/' || symbols_dwfl(s) == NULL)
        return false;
    uint64_t within;
    const char *found = objects_find(&s->objects, s->dwfl, m->path, address, &within);
    if (found == NULL)
        return false;
    char *plain = demangle(found);
    int n = snprintf(name, size, "%s", plain);
    if (within != 0 && n > 0 && (size_t)n < size)
        snprintf(name + n, size - (size_t)n, "+0x%jx", (uintmax_t)within);
    name[utf8_cut(name, size - 1)] = '\0';
    free(plain);
    return true;
}
