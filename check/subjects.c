/* subjects.c - the registered locks, compiled for the lab */
#include "subjects.h"

const lock_info *const check_locks = lock_table;
const int check_lock_count = LOCK_COUNT;
