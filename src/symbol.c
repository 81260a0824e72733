/* symbol.c - names of functions, without an allocator
 *
 * The dynamic linker knows only what a module exports, and a program exports little. The full table is in the
 * file, unless it was stripped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr1 */
#endif
#include "symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const char *start;
    size_t size;
} image;

static void copy(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

static bool open_image(const char *path, image *i)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *start = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size > 0)
        start = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *i = (image){start, (size_t)about.st_size};
    return start != MAP_FAILED;
}

static bool holds(const image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset;
}

/* The function in a symbol table that covers `where`. */
static bool search(const image *i, const ElfW(Shdr) * table, const ElfW(Shdr) * names, symbol *s)
{
    if (!holds(i, table->sh_offset, table->sh_size) || !holds(i, names->sh_offset, names->sh_size))
        return false;
    const ElfW(Sym) *symbols = (const void *)(i->start + table->sh_offset);
    for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++) {
        const ElfW(Sym) *it = &symbols[k];
        if ((it->st_info & 0xf) != STT_FUNC || s->where - it->st_value >= it->st_size ||
            it->st_name >= names->sh_size)
            continue;
        copy(s->name, sizeof s->name, i->start + names->sh_offset + it->st_name);
        s->offset = s->where - it->st_value;
        return true;
    }
    return false;
}

static void search_file(const char *path, symbol *s)
{
    image i;
    if (!open_image(path, &i))
        return;
    const ElfW(Ehdr) *header = (const void *)i.start;
    if (holds(&i, 0, sizeof *header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_shentsize == sizeof(ElfW(Shdr)) &&
        holds(&i, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr)))) {
        const ElfW(Shdr) *sections = (const void *)(i.start + header->e_shoff);
        for (unsigned k = 0; k < header->e_shnum; k++)
            if (sections[k].sh_type == SHT_SYMTAB && sections[k].sh_link < header->e_shnum &&
                search(&i, &sections[k], &sections[sections[k].sh_link], s))
                break;
    }
    munmap((void *)(uintptr_t)i.start, i.size);
}

/* Where the module of an address is loaded, and its file: "" for the program. False if there is none. */
static bool find_module(const void *address, Dl_info *about, uint64_t *base, const char **name)
{
#ifdef __GLIBC__
    struct link_map *module = NULL;
    if (dladdr1(address, about, (void **)&module, RTLD_DL_LINKMAP) == 0 || module == NULL)
        return false;
    *base = module->l_addr;
    *name = module->l_name != NULL ? module->l_name : "";
    return true;
#else
    if (dladdr(address, about) == 0)
        return false;
    *base = (uint64_t)(uintptr_t)about->dli_fbase; /* of a program that cannot be moved, no symbol matches */
    *name = about->dli_fname;
    return true;
#endif
}

void pawl_symbol_find(const void *address, symbol *s)
{
    Dl_info about;
    uint64_t base;
    const char *name;
    *s = (symbol){.where = (uint64_t)(uintptr_t)address};
    if (!find_module(address, &about, &base, &name)) {
        search_file("/proc/self/exe", s); /* a static program; in others no symbol matches */
        return;
    }
    copy(s->module, sizeof s->module, about.dli_fname != NULL ? about.dli_fname : "");
    s->where -= base;
    search_file(name[0] == '\0' ? "/proc/self/exe" : name, s);
    if (s->name[0] == '\0' && about.dli_sname != NULL) {
        copy(s->name, sizeof s->name, about.dli_sname);
        s->offset = (uint64_t)((uintptr_t)address - (uintptr_t)about.dli_saddr);
    }
}
