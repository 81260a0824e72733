/* tsan_abi.c - the entry points that gcc and clang call when compiling with -fsanitize=thread
 *
 * On a fiber everything goes to the back end. On the host (setup code, or a lock used outside an exploration) the
 * access is simply made. Inline assembly and libc's own accesses are not instrumented: nobody sees those.
 */
#include "backend.h"
#include "fiber.h"
#include "machine.h"
#include <stdlib.h>
#include <string.h>

const struct lab_backend *lab_backend;

#define PC __builtin_return_address(0)

static void plain(const volatile void *p, size_t size, bool write, const void *pc)
{
    if (lab_current)
        lab_backend->plain((uintptr_t)p, size, write, pc);
    else if (write && lab_backend)
        lab_backend->host_write((uintptr_t)p, size);
}

static void host_write(const volatile void *p, size_t size)
{
    if (lab_backend)
        lab_backend->host_write((uintptr_t)p, size);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    if (lab_current)
        lab_backend->enter_function(LAB_CALLER_SP, caller);
}

void __tsan_func_exit(void)
{
    if (lab_current)
        lab_backend->leave_function();
}

#define PLAIN(name, size, write)                                                                                     \
    void __tsan_##name##size(void *p)                                                                                \
    {                                                                                                                \
        plain(p, size, write, PC);                                                                                   \
    }
#define PLAIN_SIZES(name, write)                                                                                     \
    PLAIN(name, 1, write) PLAIN(name, 2, write) PLAIN(name, 4, write) PLAIN(name, 8, write) PLAIN(name, 16, write)

PLAIN_SIZES(read, false)
PLAIN_SIZES(write, true)
PLAIN_SIZES(unaligned_read, false)
PLAIN_SIZES(unaligned_write, true)
PLAIN_SIZES(volatile_read, false) /* volatile is not atomic */
PLAIN_SIZES(volatile_write, true)
PLAIN_SIZES(unaligned_volatile_read, false)
PLAIN_SIZES(unaligned_volatile_write, true)
PLAIN_SIZES(read_write, true)
PLAIN_SIZES(unaligned_read_write, true)

void __tsan_read_range(void *p, size_t size)
{
    plain(p, size, false, PC);
}

void __tsan_write_range(void *p, size_t size)
{
    plain(p, size, true, PC);
}

void __tsan_vptr_read(void **p)
{
    plain(p, sizeof *p, false, PC);
}

void __tsan_vptr_update(void **p, void *value)
{
    (void)value;
    plain(p, sizeof *p, true, PC);
}

void *__tsan_memset(void *p, int byte, size_t size)
{
    plain(p, size, true, PC);
    return memset(p, byte, size);
}

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    plain(from, size, false, PC);
    plain(to, size, true, PC);
    return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    plain(from, size, false, PC);
    plain(to, size, true, PC);
    return memmove(to, from, size);
}

/* gcc marks some orders with bits above the value (HLE, __sync); a consume is an acquire everywhere. */
static int order_of(int raw)
{
    int order = raw & 7;
    return order == __ATOMIC_CONSUME ? __ATOMIC_ACQUIRE : order;
}

static bool cas(volatile void *p, unsigned size, uint64_t *expected, uint64_t desired, bool weak, int success,
                int failure, const void *pc)
{
    return lab_backend->cas((uintptr_t)p, size, expected, desired, weak, order_of(success), order_of(failure), pc);
}

#define RMW(bits, type, name, op)                                                                                    \
    type __tsan_atomic##bits##_##name(volatile type *p, type x, int order)                                           \
    {                                                                                                                \
        if (lab_current)                                                                                             \
            return (type)lab_backend->rmw((uintptr_t)p, bits / 8, op, x, order_of(order), PC);                       \
        host_write(p, bits / 8);                                                                                     \
        type old = *p;                                                                                               \
        *p = (type)lab_apply(op, old, x, bits / 8);                                                                  \
        return old;                                                                                                  \
    }

/* `expected` is the caller's plain object. It is almost always a local, but its undo matters if not: hence the
 * announcement before it is overwritten. */
#define CAS(bits, type, name, weak)                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type x, int success,         \
                                                      int failure)                                                   \
    {                                                                                                                \
        uint64_t seen = *expected;                                                                                   \
        bool done;                                                                                                   \
        if (lab_current) {                                                                                           \
            done = cas(p, bits / 8, &seen, x, weak, success, failure, PC);                                           \
        } else {                                                                                                     \
            host_write(p, bits / 8);                                                                                 \
            type old = *p;                                                                                           \
            done = old == *expected;                                                                                 \
            seen = old;                                                                                              \
            if (done)                                                                                                \
                *p = x;                                                                                              \
        }                                                                                                            \
        if (!done) {                                                                                                 \
            plain(expected, bits / 8, true, PC);                                                                     \
            *expected = (type)seen;                                                                                  \
        }                                                                                                            \
        return done;                                                                                                 \
    }

#define ATOMICS(bits, type)                                                                                          \
    type __tsan_atomic##bits##_load(const volatile type *p, int order)                                               \
    {                                                                                                                \
        return lab_current ? (type)lab_backend->load((uintptr_t)p, bits / 8, order_of(order), PC) : *p;              \
    }                                                                                                                \
    void __tsan_atomic##bits##_store(volatile type *p, type x, int order)                                            \
    {                                                                                                                \
        if (lab_current) {                                                                                           \
            lab_backend->store((uintptr_t)p, bits / 8, x, order_of(order), PC);                                      \
            return;                                                                                                  \
        }                                                                                                            \
        host_write(p, bits / 8);                                                                                     \
        *p = x;                                                                                                      \
    }                                                                                                                \
    RMW(bits, type, exchange, LAB_EXCHANGE)                                                                          \
    RMW(bits, type, fetch_add, LAB_ADD)                                                                              \
    RMW(bits, type, fetch_sub, LAB_SUB)                                                                              \
    RMW(bits, type, fetch_and, LAB_AND)                                                                              \
    RMW(bits, type, fetch_or, LAB_OR)                                                                                \
    RMW(bits, type, fetch_xor, LAB_XOR)                                                                              \
    RMW(bits, type, fetch_nand, LAB_NAND)                                                                            \
    CAS(bits, type, strong, false)                                                                                   \
    CAS(bits, type, weak, true)                                                                                      \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type x, int success,            \
                                                    int failure)                                                     \
    {                                                                                                                \
        uint64_t seen = expected;                                                                                    \
        if (lab_current) {                                                                                           \
            cas(p, bits / 8, &seen, x, false, success, failure, PC);                                                 \
            return (type)seen;                                                                                       \
        }                                                                                                            \
        host_write(p, bits / 8);                                                                                     \
        type old = *p;                                                                                               \
        if (old == expected)                                                                                         \
            *p = x;                                                                                                  \
        return old;                                                                                                  \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

#define NO_128(name)                                                                                                 \
    void __tsan_atomic128_##name(void)                                                                               \
    {                                                                                                                \
        lab_die("128-bit atomic operations are not supported");                                                      \
    }

NO_128(load)
NO_128(store)
NO_128(exchange)
NO_128(fetch_add)
NO_128(fetch_sub)
NO_128(fetch_and)
NO_128(fetch_or)
NO_128(fetch_xor)
NO_128(fetch_nand)
NO_128(compare_exchange_strong)
NO_128(compare_exchange_weak)
NO_128(compare_exchange_val)

void __tsan_atomic_thread_fence(int order)
{
    if (lab_current)
        lab_backend->fence(order_of(order), PC);
}

/* Orders a thread with its own signal handlers only. */
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
