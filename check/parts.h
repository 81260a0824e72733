/* parts.h - a check in parts, on several machines: a lock is a unit, a shard is every Nth of them, and results merge */
#pragma once

#include "report.h"
#include "work.h"

/* Keeps the units of shard "K/N", in their order; returns how many. Fails if it is not one. */
int parts_take_shard(subject *subjects, int count, const char *shard);

/* Reads what `pawl check --json` wrote, and writes it as one report. There must be one result for each of the
 * subjects, all of one commit and with the same bounds. True if all is well. */
bool parts_merge(char **files, int file_count, const subject *subjects, int count, output *to, bool json);
