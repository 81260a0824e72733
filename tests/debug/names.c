/* names.c - the names of functions in reports: from files that are right, and from some that are not
 *
 * Little of that is exported, so its source is part of this program.
 */
#include "files.h"
#include "harness.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

static int look_up(const void *address, Dl_info *about, void **module, int flags);
#define dladdr1 look_up
#include "../../src/symbol.c"
#undef dladdr1

/* What the dynamic linker says instead of what it knows, if anything. */
static bool says_nothing;
static struct link_map *says;

static int look_up(const void *address, Dl_info *about, void **module, int flags)
{
    if (says_nothing)
        return 0;
    int found = dladdr1(address, about, module, flags);
    if (says != NULL)
        *module = says;
    return found;
}

__attribute__((noinline)) static void named(void)
{
    __asm__ volatile("nop");
}

static const char *at(void)
{
    return (const char *)(uintptr_t)named;
}

static uint64_t base(void)
{
    Dl_info about;
    struct link_map *module;
    CHECK(dladdr1(at(), &about, (void **)&module, RTLD_DL_LINKMAP) != 0, "dladdr1");
    return module->l_addr;
}

/* ---- this program */

static void functions_are_named(const lock_info *unused)
{
    (void)unused;
    symbol s;
    pawl_symbol_find(at() + 1, &s);
    CHECK(strcmp(s.name, "named") == 0 && s.offset == 1 && strstr(s.module, "/debug_names") != NULL,
          "%s+%d in %s", s.name, (int)s.offset, s.module);
    pawl_symbol_find((const char *)(uintptr_t)getenv + 1, &s);
    CHECK(strcmp(s.name, "getenv") == 0 && s.offset == 1 && strstr(s.module, "libc") != NULL, "%s+%d in %s",
          s.name, (int)s.offset, s.module);
    pawl_symbol_find(&s, &s);
    CHECK(s.name[0] == '\0' && s.module[0] == '\0' && s.where == (uintptr_t)&s, "%s in %s", s.name, s.module);
}

/* There the dynamic linker knows nothing, and addresses are those in the file. */
static void functions_of_a_static_program_are_named(const lock_info *unused)
{
    (void)unused;
    symbol s;
    says_nothing = true;
    pawl_symbol_find(at() - base() + 1, &s);
    CHECK(strcmp(s.name, "named") == 0 && s.offset == 1 && s.module[0] == '\0', "%s+%d in %s", s.name,
          (int)s.offset, s.module);
}

static void a_module_without_a_name_is_the_program(const lock_info *unused)
{
    (void)unused;
    static const char *const nameless[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        symbol s;
        says = &(struct link_map){.l_addr = base(), .l_name = (char *)(uintptr_t)nameless[i]};
        pawl_symbol_find(at() + 1, &s);
        CHECK(strcmp(s.name, "named") == 0 && s.offset == 1, "%s+%d", s.name, (int)s.offset);
    }
    symbol s;
    says = &(struct link_map){.l_addr = base(), .l_name = (char[]){"/no/such/file"}};
    pawl_symbol_find(at() + 1, &s);
    CHECK(s.name[0] == '\0', "%s in no file", s.name);
}

static int count_lines(const char *path)
{
    int n = 0;
    FILE *f = fopen(path, "r");
    CHECK(f != NULL, "no %s", path);
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static void names_cost_nothing_that_lasts(const lock_info *unused)
{
    (void)unused;
    symbol s;
    pawl_symbol_find(at(), &s);
    int lines = count_lines("/proc/self/maps"), file = next_file();
    for (int i = 0; i < 50; i++)
        pawl_symbol_find(at(), &s);
    CHECK(count_lines("/proc/self/maps") < lines + 10 && next_file() == file,
          "a mapping, or a file, is left");
}

static void a_long_name_is_cut(const lock_info *unused)
{
    (void)unused;
    char to[] = "12345678";
    copy(to, 4, "abcdefgh");
    CHECK(strcmp(to, "abc") == 0 && to[4] == '5', "%s", to);
    copy(to, 4, "x");
    CHECK(strcmp(to, "x") == 0, "%s", to);
}

/* ---- other files */

/* A file with two tables: 16 bytes at 0x1000 and 0x2000 are `one` and `two`, of the first; `two` is `late` in the
 * second, and `more` at 0x3000 is there only. 0x4000 is no function. */
typedef struct file {
    ElfW(Ehdr) header;
    ElfW(Shdr) section[4];
    ElfW(Sym) first[3], second[2];
    char names[32];
} file;

static const char names[] = "\0one\0two\0late\0more\0data";

static ElfW(Sym) make_symbol(const char *name, unsigned value, int type)
{
    unsigned at_name = 1;
    while (strcmp(names + at_name, name) != 0)
        at_name += (unsigned)strlen(names + at_name) + 1;
    return (ElfW(Sym)){.st_name = at_name, .st_value = value, .st_size = 16, .st_info = (unsigned char)type};
}

static file make_file(void)
{
    file f = {
        .header = {.e_ident = ELFMAG,
                   .e_shoff = offsetof(file, section),
                   .e_shentsize = sizeof f.section[0],
                   .e_shnum = 4},
        .section = {{.sh_type = SHT_STRTAB},
                    {.sh_type = SHT_STRTAB, .sh_offset = offsetof(file, names), .sh_size = sizeof f.names},
                    {.sh_type = SHT_SYMTAB,
                     .sh_link = 1,
                     .sh_offset = offsetof(file, first),
                     .sh_size = sizeof f.first},
                    {.sh_type = SHT_SYMTAB,
                     .sh_link = 1,
                     .sh_offset = offsetof(file, second),
                     .sh_size = sizeof f.second}},
        .first = {make_symbol("data", 0x4000, STT_OBJECT), make_symbol("one", 0x1000, STT_FUNC),
                  make_symbol("two", 0x2000, STT_FUNC)},
        .second = {make_symbol("late", 0x2000, STT_FUNC), make_symbol("more", 0x3000, STT_FUNC)},
    };
    memcpy(f.names, names, sizeof names);
    return f;
}

/* The name that the first `size` bytes of the file give to that address. */
static const char *name_in(const file *f, size_t size, uint64_t where)
{
    static symbol s;
    char path[64];
    int fd = memfd_create("file", 0);
    CHECK(fd >= 0 && write(fd, f, size) == (ssize_t)size, "no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    s = (symbol){.where = where};
    search_file(path, &s);
    close(fd);
    return s.name;
}

static void is_named(const file *f, uint64_t where, const char *name)
{
    const char *found = name_in(f, sizeof *f, where);
    CHECK(strcmp(found, name) == 0, "%#llx is '%s' instead of '%s'", (unsigned long long)where, found, name);
}

static void the_first_table_that_has_it_names_a_function(const lock_info *unused)
{
    (void)unused;
    file f = make_file();
    is_named(&f, 0x1000, "one");
    is_named(&f, 0x100f, "one");
    is_named(&f, 0x1010, "");
    is_named(&f, 0x0fff, "");
    is_named(&f, 0x2000, "two");
    is_named(&f, 0x3000, "more");
    is_named(&f, 0x4000, "");
}

static void what_is_no_elf_file_names_nothing(const lock_info *unused)
{
    (void)unused;
    file f = make_file();
    image i;
    symbol s = {0};
    CHECK(!open_image("/no/such/file", &i), "a file that is not there");
    search_file("/no/such/file", &s);
    CHECK(s.name[0] == '\0', "%s in no file", s.name);
    CHECK(*name_in(&f, 0, 0x1000) == '\0', "an empty file");
    CHECK(*name_in(&f, sizeof f.header - 1, 0x1000) == '\0', "half a header");
    CHECK(*name_in(&f, offsetof(file, first) - 1, 0x1000) == '\0', "not all sections");
    f.header.e_ident[1]++;
    is_named(&f, 0x1000, "");
    f = make_file();
    f.header.e_shentsize--;
    is_named(&f, 0x1000, "");
}

static void tables_beyond_the_end_are_left_alone(const lock_info *unused)
{
    (void)unused;
    file f = make_file();
    f.section[2].sh_offset = sizeof f;
    is_named(&f, 0x1000, "");
    is_named(&f, 0x2000, "late");
    f = make_file();
    f.section[2].sh_link = 4;
    is_named(&f, 0x2000, "late");
    f = make_file();
    f.section[1].sh_size = sizeof f;
    is_named(&f, 0x1000, "");
    f = make_file();
    f.first[1].st_name = sizeof f.names;
    is_named(&f, 0x1000, "");
    is_named(&f, 0x2000, "two");
}

#define NAMES(check_)                                                                                        \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "names"                                                 \
    }

static const promise promises[] = {
    NAMES(functions_are_named),
    NAMES(functions_of_a_static_program_are_named),
    NAMES(a_module_without_a_name_is_the_program),
    NAMES(names_cost_nothing_that_lasts),
    NAMES(a_long_name_is_cut),
    NAMES(the_first_table_that_has_it_names_a_function),
    NAMES(what_is_no_elf_file_names_nothing),
    NAMES(tables_beyond_the_end_are_left_alone),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
