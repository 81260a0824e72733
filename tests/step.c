/* step.c - single-stepping by the processor's trap flag; see step.h */
#include "sanitized.h"
#include "step.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

__thread ucontext_t *step_registers;

#if defined(__x86_64__) && !defined(SANITIZED)

#define TRAP_FLAG ((greg_t)0x100)

static __thread bool (*volatile observer)(int instruction);
static __thread volatile int instructions;

/* Of the kernel's signal sets. */
#define TRAP ((uint64_t)1 << (SIGTRAP - 1))
static uint64_t blocked(void)
{
    uint64_t set;
    memcpy(&set, &step_registers->uc_sigmask, sizeof set);
    return set;
}

/* With SIGTRAP blocked, the next instruction would end the process. So if it is the system call that blocks signals, it is
 * done here, and takes SIGTRAP out. */
static void keep_trap_unblocked(void)
{
    greg_t *r = step_registers->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)r[REG_RIP];
    if (code[0] != 0x0f || code[1] != 0x05 || r[REG_RAX] != SYS_rt_sigprocmask)
        return;
    uint64_t set, before = blocked();
    if (r[REG_RSI] != 0) {
        memcpy(&set, (const void *)r[REG_RSI], sizeof set);
        set = r[REG_RDI] == SIG_BLOCK ? before | set : r[REG_RDI] == SIG_UNBLOCK ? before & ~set : set;
        set &= ~TRAP;
        memcpy(&step_registers->uc_sigmask, &set, sizeof set);
    }
    if (r[REG_RDX] != 0)
        memcpy((void *)r[REG_RDX], &before, sizeof before);
    r[REG_RAX] = 0;
    r[REG_RIP] += 2;
}

static void trapped(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    step_registers = context;
    keep_trap_unblocked();
    if (blocked() & (uint64_t)1 << (SIGUSR1 - 1))
        return;
    if (!observer(instructions++))
        step_registers->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static inline void set_trap_flag(bool on)
{
    uint64_t others = __builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG;
    __builtin_ia32_writeeflags_u64(others | (on ? TRAP_FLAG : 0));
}

const void *step_counter(void)
{
    return (const void *)(uintptr_t)step_registers->uc_mcontext.gregs[REG_RIP];
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

const void *step_counter(void)
{
    return NULL;
}

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
