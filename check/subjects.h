/* subjects.h - the locks that can be checked, by name */
#pragma once

#include "config.h"

#include <pawl.h>

/* The register's table holds constants; the scenario knows a capacitor's bounds. */
#undef PAWL_PLATOON
#define PAWL_PLATOON 10
#include "../src/register.h"

/* The registered locks, compiled for the lab; after them, those that processes share, and the seqlock. */
const lock_info *check_lock_at(int i);
extern const int check_lock_count;
