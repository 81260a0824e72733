/* backend.h - what an instrument does with the accesses of the code under test
 *
 * tsan_abi.c calls the installed back end for every access made on a fiber. Values are zero-extended to 64 bits,
 * orders are __ATOMIC_*, pc is the return address into the code under test.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lab_rmw { LAB_EXCHANGE, LAB_ADD, LAB_SUB, LAB_AND, LAB_OR, LAB_XOR, LAB_NAND };

struct lab_backend {
    void (*plain)(uintptr_t address, size_t size, bool write, const void *pc); /* before the access is made */
    uint64_t (*load)(uintptr_t address, unsigned size, int order, const void *pc);
    void (*store)(uintptr_t address, unsigned size, uint64_t value, int order, const void *pc);
    uint64_t (*rmw)(uintptr_t address, unsigned size, enum lab_rmw op, uint64_t operand, int order, const void *pc);
    bool (*cas)(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired, bool weak, int success,
                int failure, const void *pc);
    void (*fence)(int order, const void *pc);
    void (*enter_function)(uintptr_t sp, const void *return_address);
    void (*leave_function)(void); /* its frame may be gone already: compilers make this a tail call */
    void (*host_write)(uintptr_t address, size_t size); /* instrumented code on the host is about to write */
};

extern const struct lab_backend *lab_backend;

static inline uint64_t lab_apply(enum lab_rmw op, uint64_t old, uint64_t x, unsigned size)
{
    uint64_t mask = size == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * size) - 1;
    switch (op) {
    case LAB_EXCHANGE: return x & mask;
    case LAB_ADD: return (old + x) & mask;
    case LAB_SUB: return (old - x) & mask;
    case LAB_AND: return old & x & mask;
    case LAB_OR: return (old | x) & mask;
    case LAB_XOR: return (old ^ x) & mask;
    case LAB_NAND: return ~(old & x) & mask;
    }
    return 0;
}
