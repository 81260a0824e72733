/* machine_x86_64.c - context switch, thread pointer and system call for x86-64 Linux */
#define _GNU_SOURCE
#include "machine.h"
#include <asm/prctl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>

__asm__(".text\n"
        ".globl lab_switch\n"
        ".type lab_switch, @function\n"
        "lab_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size lab_switch, . - lab_switch\n");

void *lab_context(void *stack_top, void (*entry)(void))
{
    void **sp = stack_top;
    *--sp = NULL; /* the return address of entry, and what keeps its frame 16-byte aligned */
    *--sp = (void *)(uintptr_t)entry;
    sp -= 6;
    memset(sp, 0, 6 * sizeof *sp);
    return sp;
}

uintptr_t lab_thread_pointer(void)
{
    uintptr_t tp;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(tp)); /* the ABI keeps the base at its own first word */
    return tp;
}

/* A call leaves the return address at the top of the callee's frame. */
uintptr_t lab_frame_end(uintptr_t sp, const void *return_address, uintptr_t stack_end)
{
    for (uintptr_t p = sp; p < stack_end; p += sizeof(void *))
        if (*(const void *const *)p == return_address)
            return p + sizeof(void *);
    return sp;
}

long lab_raw_syscall(long number, const long a[6])
{
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

void lab_set_thread_pointer(uintptr_t tp)
{
    static int user_mode = -1;
    if (user_mode < 0)
        user_mode = getauxval(AT_HWCAP2) >> 1 & 1; /* HWCAP2_FSGSBASE: the kernel lets user code write the base */
    if (user_mode)
        __asm__ volatile("wrfsbase %0" ::"r"(tp) : "memory");
    else
        lab_raw_syscall(SYS_arch_prctl, (const long[6]){ARCH_SET_FS, (long)tp});
}

const void *lab_interrupted_at(const void *context)
{
    return (const void *)(uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}
