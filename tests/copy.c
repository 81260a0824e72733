/* copy.c - how two copies of libpawl in one process are found, among files that we make up */
#include "harness.h"

#include "../src/fatal.h"

#include <link.h>

static char said[1024];

static void note_fatal(const char *line)
{
    strcpy(said, line);
}

static int iterate(int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument);

#define pawl_fatal      note_fatal
#define dl_iterate_phdr iterate
#include "../src/copy.c"

/* ---- notes */

typedef struct note {
    ElfW(Nhdr) header;
    char name[8], text[8];
} note;

#define NOTE(type, name, size)                                                                               \
    {                                                                                                        \
        {(size), 8, (type)}, name, "text"                                                                    \
    }

static note notes[] = {NOTE(3, "GNU", 4), NOTE(TYPE, "Pawl", 5), NOTE(3, "GNU", 4)};
static note others[] = {NOTE(3, "GNU", 4), NOTE(TYPE + 1, "Pawl", 5), NOTE(TYPE, "Paw", 4),
                        NOTE(TYPE, "Pavl", 5)};

/* As they lie in a file: without gaps. */
static size_t pack(const note *from, int count, char *to)
{
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        size_t name = (from[i].header.n_namesz + 3) & ~3u;
        memcpy(to + size, &from[i].header, sizeof from[i].header);
        memcpy(to + size + sizeof from[i].header, from[i].name, name);
        memcpy(to + size + sizeof from[i].header + name, from[i].text, from[i].header.n_descsz);
        size += sizeof from[i].header + name + from[i].header.n_descsz;
    }
    return size;
}

static _Alignas(4) char with[256], without[256];

static void a_note_is_found_among_others(const lock_info *unused)
{
    (void)unused;
    size_t size = pack(notes, 3, with);
    CHECK(holds_note(with, size), "not found");
    size_t first = pack(notes, 1, with);
    CHECK(!holds_note(with, first) && !holds_note(with, first + sizeof(ElfW(Nhdr)) - 1), "beyond the end");
    CHECK(!holds_note(with, first - 1), "the first is longer than all of them");
    CHECK(!holds_note(with, 0), "nothing is there");
    CHECK(!holds_note(without, pack(others, 4, without)), "another one");
}

/* ---- files */

static const char *names[] = {"", "liba.so", "libb.so", "libc.so"};
static const bool *has_copy; /* by file */
static int files, visited;

static int iterate(int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument)
{
    size_t size = pack(notes, 3, with), other = pack(others, 4, without);
    int result = 0;
    for (visited = 0; visited < files && result == 0; visited++) {
        const char *text = has_copy[visited] ? with : without;
        size_t length = has_copy[visited] ? size : other;
        const ElfW(Phdr) segments[] = {
            {.p_type = PT_LOAD, .p_vaddr = (uintptr_t)with - 4096, .p_memsz = size},
            {.p_type = PT_NOTE, .p_vaddr = (uintptr_t)without - 4096, .p_memsz = other},
            {.p_type = PT_NOTE, .p_vaddr = (uintptr_t)text - 4096, .p_memsz = length},
            {.p_type = PT_NOTE, .p_vaddr = (uintptr_t)text - 4096, .p_memsz = length},
        };
        struct dl_phdr_info file = {
            .dlpi_addr = 4096, .dlpi_name = names[visited], .dlpi_phdr = segments, .dlpi_phnum = 4};
        result = visit(&file, sizeof file, argument);
    }
    return result;
}

static void expect(const bool *copies, int count, const char *wanted)
{
    has_copy = copies;
    files = count;
    said[0] = '\0';
    see_that_it_is_one();
    if (wanted == NULL)
        CHECK(said[0] == '\0', "%s", said);
    else
        CHECK(strncmp(said, "pawl: ", 6) == 0 && strstr(said, wanted) != NULL, "said: %s", said);
}

static void two_copies_are_named(const lock_info *unused)
{
    (void)unused;
    expect((const bool[]){false, false, false}, 3, NULL);
    expect((const bool[]){true, false, false}, 3, NULL);
    expect((const bool[]){false, false, true}, 3, NULL);
    expect((const bool[]){true, false, true}, 3, "in the program and in libb.so");
    expect((const bool[]){false, true, true}, 3, "in liba.so and in libb.so");
    expect((const bool[]){true, true, true, true}, 4, "in the program and in liba.so");
    CHECK(visited == 2, "looks for more than two");
}

static const promise promises[] = {
    {.name = "a_note_is_found_among_others", .check = a_note_is_found_among_others, .subject = "copy"},
    {.name = "two_copies_are_named", .check = two_copies_are_named, .subject = "copy"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
