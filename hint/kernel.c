/* kernel.c - the BPF program and its maps */
#include "service.h"

#include "cli/cli.h"
#include "src/park/clock.h"

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

/* Then everybody could load programs that write to a map whose descriptor they have. */
static void check_others_have_no_programs(void)
{
    FILE *f = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
    int value = f != NULL ? fgetc(f) : EOF;
    if (f != NULL)
        fclose(f);
    if (value == '0')
        fail("hint: kernel.unprivileged_bpf_disabled is 0: every user could write what this publishes");
}

/* From now on no descriptor serves to write to it. The BPF program still can. (A descriptor that is read-only from the
 * start can't be mapped: the kernel takes its mapping for a private one.) */
static bool freeze(int map)
{
    return map >= 0 && bpf_map_freeze(map) == 0;
}

void hint_load(void)
{
    check_others_have_no_programs();
    libbpf_set_print(NULL);
    program = hint__open();
    int error = program != NULL ? hint__load(program) : -errno;
    if (error == 0)
        error = hint__attach(program);
    if (error == 0 && !freeze(hint_cpus_file()))
        error = -errno;
    if (error != 0)
        fail("hint: the kernel takes no BPF program for this: %s%s", strerror(-error),
             geteuid() != 0 ? " (it needs root)" : "");
}

void hint_unload(void)
{
    hint__destroy(program);
}

int hint_cpus_file(void)
{
    return bpf_map__fd(program->maps.cpus);
}

void hint_beat(uint32_t version)
{
    struct hint_beat beat = {version, (uint32_t)(pawl_nanoseconds(CLOCK_MONOTONIC) / 1000000)};
    struct bpf_test_run_opts options;
    memset(&options, 0, sizeof options); /* its padding, too: libbpf looks */
    options.sz = sizeof options;
    options.ctx_in = &beat;
    options.ctx_size_in = sizeof beat;
    bpf_prog_test_run_opts(bpf_program__fd(program->progs.beat), &options);
}

bool hint_sheet_make(hint_sheet *s)
{
    struct bpf_map_create_opts options;
    memset(&options, 0, sizeof options);
    options.sz = sizeof options;
    options.map_flags = BPF_F_MMAPABLE;
    s->words = MAP_FAILED;
    s->file =
        bpf_map_create(BPF_MAP_TYPE_ARRAY, "pawl_hint", sizeof(uint32_t), sizeof *s->words, 1, &options);
    if (freeze(s->file))
        s->words = mmap(NULL, sizeof *s->words, PROT_READ, MAP_SHARED, s->file, 0);
    if (s->words != MAP_FAILED)
        return true;
    hint_sheet_free(s);
    return false;
}

void hint_sheet_free(hint_sheet *s)
{
    if (s->words != MAP_FAILED)
        munmap(s->words, sizeof *s->words);
    if (s->file >= 0)
        close(s->file);
}

void hint_sheet_publish(uint32_t number, const hint_sheet *s)
{
    bpf_map_update_elem(bpf_map__fd(program->maps.sheets), &number, &s->file, BPF_ANY);
}

bool hint_thread_find(uint32_t tid, struct hint_thread *found)
{
    return bpf_map_lookup_elem(bpf_map__fd(program->maps.threads), &tid, found) == 0;
}

bool hint_thread_set(uint32_t tid, const struct hint_thread *thread)
{
    uint64_t *bits = &program->bss->filter[tid % HINT_FILTER / 64];
    __atomic_store_n(bits, *bits | (uint64_t)1 << tid % 64, __ATOMIC_RELAXED);
    return bpf_map_update_elem(bpf_map__fd(program->maps.threads), &tid, thread, BPF_ANY) == 0;
}

void hint_no_thread_left(void)
{
    for (int i = 0; i < HINT_FILTER / 64; i++)
        __atomic_store_n(&program->bss->filter[i], 0, __ATOMIC_RELAXED);
}

void hint_thread_delete(uint32_t tid)
{
    bpf_map_delete_elem(bpf_map__fd(program->maps.threads), &tid);
}
