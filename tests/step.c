/* step.c - single-stepping by the processor's trap flag; see step.h */
#include "sanitized.h"
#include "step.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

__thread ucontext_t *step_registers;

#if defined(__x86_64__) && !defined(SANITIZED)

#define TRAP_FLAG ((greg_t)0x100)

static __thread bool (*volatile observer)(int instruction);
static __thread volatile int instructions;

static void trapped(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    step_registers = context;
    if (!observer(instructions++))
        step_registers->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static inline void set_trap_flag(bool on)
{
    uint64_t others = __builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG;
    __builtin_ia32_writeeflags_u64(others | (on ? TRAP_FLAG : 0));
}

bool step_possible(void)
{
    return true;
}

int step_through(void (*fn)(void *arg), void *arg, bool (*between)(int instruction))
{
    struct sigaction trap = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &trap, NULL);
    observer = between;
    instructions = 0;
    set_trap_flag(true);
    fn(arg);
    set_trap_flag(false);
    return instructions;
}

#else

bool step_possible(void)
{
    return false;
}

int step_through(void (*fn)(void *arg), void *arg, bool (*between)(int instruction))
{
    (void)fn, (void)arg, (void)between;
    abort();
}

#endif
