/* report.h - the report at the end: JSON for programs, a table for people */
#pragma once

#include "file.h"
#include "summary.h"

/* JSON into the file, the table into it with .txt or to standard error. `error_output` says whether descriptor 2 is
 * still the program's standard error: it may have been closed, and be a database by now. A process that is not the
 * `main` one and took no lock writes nothing. */
void stats_report(const char *path, bool table_to_stderr, bool error_output, bool main);

void stats_write_json(stats_file *f, const stats_summary *s);
void stats_write_text(stats_file *f, const stats_summary *s);
