/* kernel.c - the BPF program and its maps */
#include "service.h"

#include "cli/cli.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" /* the program is one */
#include "hint.skel.h"
#pragma GCC diagnostic pop

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct hint *program;

struct pawl_hint_cpus *hint_load(void)
{
    libbpf_set_print(NULL);
    program = hint__open();
    int error = program != NULL ? hint__load(program) : -errno;
    if (error == 0)
        error = hint__attach(program);
    if (error != 0)
        fail("hint: the kernel takes no BPF program for this: %s%s", strerror(-error),
             geteuid() != 0 ? " (it needs root)" : "");
    return &program->data_cpus->cpus;
}

void hint_unload(void)
{
    hint__destroy(program);
}

/* A second descriptor of the same map, which can't be written through. */
static int read_only(int map)
{
    struct bpf_map_info about;
    __u32 size = sizeof about;
    LIBBPF_OPTS(bpf_get_fd_by_id_opts, options, .open_flags = BPF_F_RDONLY);
    memset(&about, 0, sizeof about);
    if (map < 0 || bpf_obj_get_info_by_fd(map, &about, &size) != 0)
        return -1;
    return bpf_map_get_fd_by_id_opts(about.id, &options);
}

int hint_cpus_file(void)
{
    int file = read_only(bpf_map__fd(program->maps.data_cpus));
    if (file < 0)
        fail("hint: %s", strerror(errno));
    return file;
}

bool hint_sheet_make(hint_sheet *s)
{
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
    s->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pawl_hint", sizeof(uint32_t), sizeof *s->words, 1, &options);
    s->file = read_only(s->map);
    s->words = s->map >= 0 ? mmap(NULL, sizeof *s->words, PROT_READ | PROT_WRITE, MAP_SHARED, s->map, 0)
                           : MAP_FAILED;
    if (s->words != MAP_FAILED && s->file >= 0)
        return true;
    hint_sheet_free(s);
    return false;
}

void hint_sheet_free(hint_sheet *s)
{
    if (s->words != MAP_FAILED)
        munmap(s->words, sizeof *s->words);
    if (s->map >= 0)
        close(s->map);
    if (s->file >= 0)
        close(s->file);
}

void hint_sheet_publish(uint32_t number, const hint_sheet *s)
{
    bpf_map_update_elem(bpf_map__fd(program->maps.sheets), &number, &s->map, BPF_ANY);
}

bool hint_thread_find(uint32_t tid, struct hint_thread *found)
{
    return bpf_map_lookup_elem(bpf_map__fd(program->maps.threads), &tid, found) == 0;
}

bool hint_thread_set(uint32_t tid, const struct hint_thread *thread)
{
    return bpf_map_update_elem(bpf_map__fd(program->maps.threads), &tid, thread, BPF_ANY) == 0;
}

void hint_thread_delete(uint32_t tid)
{
    bpf_map_delete_elem(bpf_map__fd(program->maps.threads), &tid);
}
