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
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
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

/* The BPF program knows threads by their numbers in the outermost name space. Those of another mean other threads. */
static void check_numbers_mean_the_same(void)
{
    const uint32_t first = 0xeffffffc; /* of name spaces for process ids (PROC_PID_INIT_INO) */
    struct stat about;
    if (stat("/proc/self/ns/pid", &about) == 0 && (uint32_t)about.st_ino != first)
        fail("hint: it can't be run in a name space for process ids (a container): start it outside");
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
    check_numbers_mean_the_same();
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
    struct hint_beat beat = {version, (uint32_t)(pawl_nanoseconds(CLOCK_MONOTONIC) / 1000000),
                             (uint32_t)libbpf_num_possible_cpus()};
    struct bpf_test_run_opts options;
    memset(&options, 0, sizeof options); /* its padding, too: libbpf looks */
    options.sz = sizeof options;
    options.ctx_in = &beat;
    options.ctx_size_in = sizeof beat;
    bpf_prog_test_run_opts(bpf_program__fd(program->progs.beat), &options);
}

int hint_sheet_make(void)
{
    struct bpf_map_create_opts options;
    memset(&options, 0, sizeof options);
    options.sz = sizeof options;
    options.map_flags = BPF_F_MMAPABLE;
    int file = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pawl_hint", sizeof(uint32_t),
                              sizeof(struct pawl_hint_sheet), 1, &options);
    if (freeze(file))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

void hint_sheet_publish(uint32_t number, int file)
{
    bpf_map_update_elem(bpf_map__fd(program->maps.sheets), &number, &file, BPF_ANY);
}

/* ---- the table of registered threads, which the BPF program reads and empties */

static _Atomic(uint32_t) *tids_of(uint32_t tid)
{
    return (_Atomic(uint32_t) *)program->bss->table.tid[tid % HINT_SETS];
}

/* The place of the thread, or of nobody if `tid` is 0 and `like` would fit there; -1: there is none. */
static int find(uint32_t tid, uint32_t like)
{
    int i = 0;
    while (i < HINT_WAYS && atomic_load_explicit(&tids_of(like)[i], memory_order_relaxed) != tid)
        i++;
    return i < HINT_WAYS ? i : -1;
}

static struct hint_place *place_of(uint32_t tid, int i)
{
    return (struct hint_place *)&program->bss->table.place[tid % HINT_SETS][i];
}

bool hint_thread_find(uint32_t tid, struct hint_place *found)
{
    int i = find(tid, tid);
    if (i >= 0)
        *found = *place_of(tid, i);
    return i >= 0;
}

static uint32_t registered(void)
{
    uint32_t count = 0;
    for (uint32_t set = 0; set < HINT_SETS; set++)
        for (int i = 0; i < HINT_WAYS; i++)
            count += atomic_load_explicit(&tids_of(set)[i], memory_order_relaxed) != 0;
    return count;
}

bool hint_thread_fits(uint32_t tid)
{
    static uint32_t most; /* that can be registered; counted anew only when it may be too many */
    if (most >= HINT_THREADS)
        most = registered();
    return most < HINT_THREADS && (find(tid, tid) >= 0 || find(0, tid) >= 0) && ++most;
}

void hint_thread_set(uint32_t tid, const struct hint_place *place)
{
    int i = find(tid, tid) >= 0 ? find(tid, tid) : find(0, tid);
    if (i < 0)
        return;
    atomic_store_explicit(&tids_of(tid)[i], 0, memory_order_relaxed);
    *place_of(tid, i) = *place;
    atomic_store_explicit(&tids_of(tid)[i], tid, memory_order_release); /* what comes with it */
}

void hint_thread_delete(uint32_t tid)
{
    int i = find(tid, tid);
    if (i >= 0)
        atomic_store_explicit(&tids_of(tid)[i], 0, memory_order_relaxed);
}
