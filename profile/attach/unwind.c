/* unwind.c - the stack of a thread from its registers and a copy of its stack, by libdw */
#include "collected.h"

#include "cli/cli.h"

#include <elfutils/libdwfl.h>
#include <string.h>

typedef struct unwinding {
    const struct attach_sample *sample;
    uint64_t *frames;
    size_t count, most;
} unwinding;

static unwinding now; /* libdw is told once where to ask, for all stacks of a process */

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
    if (*thread != NULL)
        return 0;
    *thread = argument;
    return dwfl_pid(dwfl);
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *argument)
{
    (void)dwfl, (void)argument;
    const struct attach_sample *s = now.sample;
    if (address < s->base || address - s->base > s->size - sizeof *result || s->size < sizeof *result)
        return false;
    memcpy(result, &s->bytes[address - s->base], sizeof *result);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    (void)argument;
    Dwarf_Word registers[ATTACH_REGISTERS];
    for (int i = 0; i < ATTACH_REGISTERS; i++)
        registers[i] = now.sample->registers[i];
    return dwfl_thread_state_registers(thread, 0, ATTACH_REGISTERS, registers);
}

static int take_frame(Dwfl_Frame *frame, void *argument)
{
    (void)argument;
    Dwarf_Addr pc;
    bool activation;
    if (now.count == now.most || !dwfl_frame_pc(frame, &pc, &activation) || pc == 0)
        return DWARF_CB_ABORT;
    now.frames[now.count++] = pc;
    return DWARF_CB_OK;
}

size_t unwind(symbols *s, uint32_t pid, const struct attach_sample *sample, uint64_t *frames, size_t most)
{
    static const Dwfl_Thread_Callbacks callbacks = {
        .next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers};
    Dwfl *dwfl = symbols_dwfl(s);
    now = (unwinding){sample, frames, 0, most};
    if (dwfl != NULL &&
        (dwfl_pid(dwfl) == (pid_t)pid || dwfl_attach_state(dwfl, NULL, (pid_t)pid, &callbacks, &now)))
        dwfl_getthread_frames(dwfl, (pid_t)pid, take_frame, NULL);
    if (now.count == 0)
        frames[now.count++] = sample->registers[ATTACH_PC];
    return now.count;
}
