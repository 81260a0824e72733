/* subjects.c - the registered locks, compiled for the lab; and those that processes share */
#include "shared.h"

const int check_lock_count = LOCK_COUNT + CHECK_SHARED_COUNT;

const lock_info *check_lock_at(int i)
{
    return i < LOCK_COUNT ? &lock_table[i] : &check_shared_locks[i - LOCK_COUNT];
}
