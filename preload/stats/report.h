/* report.h - the report at the end: JSON for programs, a table for people */
#pragma once

#include "file.h"
#include "summary.h"

/* Writes JSON to `path`, and the table to `path`.txt or standard error. `error_output`: descriptor 2 is still the
 * program's standard error; it may have been closed, and be a database by now. A descendant that took no lock writes
 * nothing. */
void stats_report(const char *path, bool table_to_stderr, bool error_output, bool main);

void stats_write_json(stats_file *f, const stats_summary *s);
void stats_write_text(stats_file *f, const stats_summary *s);
