/* symbols.c - from addresses to names and source lines, by the program's own debug information */
#include "fiber.h"
#include "site.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NAMES = 64 };

static struct {
    uintptr_t address;
    size_t size;
    const char *name;
} names[MAX_NAMES];
static int name_count;

void lab_name(const void *p, size_t size, const char *name)
{
    if (name_count == MAX_NAMES)
        return;
    names[name_count].address = (uintptr_t)p;
    names[name_count].size = size;
    names[name_count++].name = name;
}

void lab_names_reset(void)
{
    name_count = 0;
}

static Dwfl *own_process(void)
{
    static Dwfl *dwfl;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    if (!dwfl) {
        dwfl = dwfl_begin(&callbacks);
        if (dwfl) {
            dwfl_linux_proc_report(dwfl, getpid());
            dwfl_report_end(dwfl, NULL, NULL);
        }
    }
    return dwfl;
}

/* ---- source lines --------------------------------------------------------------------------------------------- */

static Dwarf_Word attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word value;
    return dwarf_attr(die, name, &a) && dwarf_formudata(&a, &value) == 0 ? value : 0;
}

/* Every inlined instance around the address adds the line that called it. */
static int add_callers(Dwarf_Die *cu, Dwarf_Addr address, struct lab_frame *frames, int n, int max)
{
    Dwarf_Die *scopes, innermost;
    Dwarf_Files *files;
    int count = dwarf_getscopes(cu, address, &scopes);
    if (count <= 0)
        return n;
    innermost = scopes[0];
    free(scopes);
    count = dwarf_getscopes_die(&innermost, &scopes); /* the enclosing instances, not the abstract ones */
    if (count <= 0)
        return n;
    if (dwarf_getsrcfiles(cu, &files, NULL) == 0)
        for (int i = 0; i < count && n < max && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
            if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
                continue;
            const char *path = dwarf_filesrc(files, attribute(&scopes[i], DW_AT_call_file), NULL, NULL);
            frames[n++] = (struct lab_frame){path ? path : "?", (int)attribute(&scopes[i], DW_AT_call_line),
                                             (int)attribute(&scopes[i], DW_AT_call_column)};
        }
    free(scopes);
    return n;
}

/* clang writes no address index by default; then every compilation unit is asked. */
static Dwarf_Die *unit_at(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *cu = dwfl_module_addrdie(module, address, bias);
    if (cu)
        return cu;
    while ((cu = dwfl_module_nextcu(module, cu, bias)))
        if (dwarf_haspc(cu, address - *bias) > 0)
            return cu;
    return NULL;
}

int lab_frames(const void *pc, struct lab_frame *frames, int max)
{
    Dwarf_Addr address = (uintptr_t)pc - 1, bias; /* the call, not what follows it */
    Dwfl_Module *module = own_process() ? dwfl_addrmodule(own_process(), address) : NULL;
    Dwarf_Die *cu = module ? unit_at(module, address, &bias) : NULL;
    Dwarf_Line *line = cu ? dwarf_getsrc_die(cu, address - bias) : NULL;
    if (!line || max < 1)
        return 0;
    const char *path = dwarf_linesrc(line, NULL, NULL);
    frames[0] = (struct lab_frame){path ? path : "?", 0, 0};
    dwarf_lineno(line, &frames[0].line);
    dwarf_linecol(line, &frames[0].column);
    return add_callers(cu, address - bias, frames, 1, max);
}

/* ---- objects -------------------------------------------------------------------------------------------------- */

/* The symbol of this type that covers the value. By hand, because .bss is not part of any file mapping and the
 * library's own search by address does not find it. */
static const char *find_symbol(int type, uintptr_t value, uintptr_t *offset)
{
    Dwfl_Module *module = own_process() ? dwfl_addrmodule(own_process(), (uintptr_t)&lab_names_reset) : NULL;
    int count = module ? dwfl_module_getsymtab(module) : 0;
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name = dwfl_module_getsym(module, i, &symbol, NULL);
        if (GELF_ST_TYPE(symbol.st_info) != type || value - symbol.st_value >= symbol.st_size)
            continue;
        *offset = value - symbol.st_value;
        return name;
    }
    return NULL;
}

static void format(char *buffer, size_t size, const char *owner, int id, const char *name, uintptr_t offset)
{
    int n = owner ? snprintf(buffer, size, owner, id) : 0;
    if (offset)
        snprintf(buffer + n, size - (size_t)n, "%s+%ju", name, (uintmax_t)offset);
    else
        snprintf(buffer + n, size - (size_t)n, "%s", name);
}

const char *lab_address_text(uintptr_t address, char *buffer, size_t size)
{
    uintptr_t offset = 0;
    const char *name;
    for (int i = 0; i < name_count; i++)
        if (address - names[i].address < names[i].size) {
            format(buffer, size, NULL, 0, names[i].name, address - names[i].address);
            return buffer;
        }
    const struct lab_fiber *f;
    if ((f = lab_fiber_of_stack(address)) != NULL) {
        format(buffer, size, "T%d's ", f->id, "stack", f->stack_high - address);
    } else if ((f = lab_fiber_of_tls(address)) != NULL) {
        name = find_symbol(STT_TLS, address - f->tls_low, &offset);
        format(buffer, size, "T%d's ", f->id, name ? name : "thread-local", name ? offset : address - f->tls_low);
    } else if ((name = find_symbol(STT_OBJECT, address, &offset)) != NULL) {
        format(buffer, size, NULL, 0, name, offset);
    } else {
        snprintf(buffer, size, "0x%jx", (uintmax_t)address);
    }
    return buffer;
}
