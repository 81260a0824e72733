/* life.c - whether a simulated thread lives: a word in the place of a robust mutex, and of the kernel that marks it */
#include "shared.h"

#include <errno.h>

enum { NOBODY, LIVES, DEAD };

int pawl_life_try(pawl_life *life)
{
    uint32_t seen = NOBODY;
    if (atomic_compare_exchange_strong_explicit(life, &seen, LIVES, memory_order_acquire,
                                                memory_order_relaxed))
        return 0;
    if (seen == DEAD && atomic_compare_exchange_strong_explicit(life, &seen, LIVES, memory_order_acquire,
                                                                memory_order_relaxed))
        return EOWNERDEAD;
    return EBUSY;
}

void pawl_life_end(pawl_life *life)
{
    atomic_store_explicit(life, NOBODY, memory_order_release);
}

bool pawl_life_goes_on(pawl_life *life)
{
    return atomic_load_explicit(life, memory_order_relaxed) == LIVES;
}

uint64_t pawl_life_block_signals(void)
{
    return 0;
}

void pawl_life_restore_signals(uint64_t before)
{
    (void)before;
}

void check_life_dies(pawl_life *life)
{
    atomic_store_explicit(life, DEAD, memory_order_release);
}
