/* subjects.c - the registered locks, compiled for the lab; those that processes share; the seqlock */
#include "shared.h"

const int check_lock_count = LOCK_COUNT + CHECK_SHARED_COUNT + 1;

const lock_info *check_lock_at(int i)
{
    if (i < LOCK_COUNT)
        return &lock_table[i];
    return i < LOCK_COUNT + CHECK_SHARED_COUNT ? &check_shared_locks[i - LOCK_COUNT] : &check_seqlock;
}
