/* step.c - single-stepping by the processor's trap flag; see step.h */
#include "step.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__x86_64__) && !defined(SANITIZED)

static void (*volatile observer)(int instruction);
static volatile int instructions;

static void trapped(int signal)
{
    (void)signal;
    observer(instructions++);
}

bool step_possible(void)
{
    return true;
}

static inline void set_trap_flag(bool on)
{
    enum { TRAP_FLAG = 0x100 };
    uint64_t flags = __builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG;
    __builtin_ia32_writeeflags_u64(flags | (on ? TRAP_FLAG : 0));
}

int step_through(void (*fn)(void *arg), void *arg, void (*between)(int instruction))
{
    struct sigaction trap = {.sa_handler = trapped}, before;
    observer = between;
    instructions = 0;
    sigaction(SIGTRAP, &trap, &before);
    set_trap_flag(true);
    fn(arg);
    set_trap_flag(false);
    sigaction(SIGTRAP, &before, NULL);
    return instructions;
}

#else

bool step_possible(void)
{
    return false;
}

int step_through(void (*fn)(void *arg), void *arg, void (*between)(int instruction))
{
    (void)fn, (void)arg, (void)between;
    abort();
}

#endif
