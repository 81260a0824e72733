/* copy.c - makes sure that there is one libpawl in a process
 *
 * Two copies (one linked into the program, one into a plugin) have two sets of tables. If both use one lock, a post
 * through one copy does not find a thread that sleeps in the other. Nobody would notice until a wake-up is lost, so
 * each copy checks when it is loaded.
 *
 * Every copy has an ELF note, which needs no symbol that a linker could hide or bind elsewhere. dl_iterate_phdr()
 * shows the notes of one dlmopen() namespace: the others have a C library of their own, and are meant to be apart.
 * The interposer's libraries do not count: their locks lie in pthread_mutex_t, where no other code touches them.
 */
#include "copy.h"

#ifdef PAWL_IN_PTHREAD_MUTEX

typedef int nothing_to_do;

#else

#include "fatal.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#define NAME "Pawl"
enum { TYPE = 1 };

__asm__(".pushsection .note.pawl,\"a\",%note\n"
        ".balign 4\n"
        ".4byte 5, 0, 1\n" /* bytes of the name, bytes of text, TYPE */
        ".asciz \"" NAME "\"\n"
        ".balign 4\n"
        ".popsection");

const char pawl_copy = 1;

typedef struct copies {
    int count;
    const char *file[2];
} copies;

static bool holds_note(const char *at, size_t size)
{
    const char *end = at + size;
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        if (note->n_type == TYPE && note->n_namesz == sizeof NAME && memcmp(name, NAME, sizeof NAME) == 0)
            return true;
        at = name + ((note->n_namesz + 3) & ~3u) + ((note->n_descsz + 3) & ~3u);
        if (at > end)
            return false;
    }
    return false;
}

static int look(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    copies *c = found;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE ||
            !holds_note((const char *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz))
            continue;
        c->file[c->count++] = *object->dlpi_name != '\0' ? object->dlpi_name : "the program";
        break;
    }
    return c->count == 2;
}

__attribute__((constructor(101))) static void see_that_it_is_one(void)
{
    copies found = {0};
    char line[1024];
    dl_iterate_phdr(look, &found);
    if (found.count < 2)
        return;
    snprintf(
        line, sizeof line,
        "pawl: two copies of libpawl in one process, in %.400s and in %.400s: link both with libpawl.so\n",
        found.file[0], found.file[1]);
    pawl_fatal(line);
}

#endif
