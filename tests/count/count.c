/* count.c - uncontended pairs of every lock, for callgrind to count (scripts/count.sh)
 *
 * pairs_<lock> does `n` pairs, inlined into its loop. The script runs it with two different `n`: what the
 * difference costs is free of the frame and of first uses, and pairs_nothing tells what the loop costs.
 */
#include <pawl.h>

#include <stdlib.h>

__attribute__((noipa)) static void pairs_nothing(long n)
{
    while (n-- > 0)
        __asm__ volatile("");
}

/* The empty assembly stands for the critical section: nothing is carried over it but what lock hands on. */
#define PAWL_LOCK(name, form, ...)                                                                           \
    static pawl_##name name;                                                                                 \
    __attribute__((noipa)) static void pairs_##name(pawl_##name *l, long n)                                  \
    {                                                                                                        \
        while (n-- > 0) {                                                                                    \
            PAWL_CTX_OF(name, form) c;                                                                       \
            PAWL_CALL(name, form, lock, l, &c);                                                              \
            __asm__ volatile("" ::: "memory");                                                               \
            PAWL_CALL(name, form, unlock, l, &c);                                                            \
        }                                                                                                    \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1;
    pairs_nothing(n);
#define PAWL_LOCK(name, ...) pairs_##name(&name, n);
#include <pawl/locks.def>
#undef PAWL_LOCK
    return 0;
}
