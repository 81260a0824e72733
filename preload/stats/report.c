/* report.c - the report at the end */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static stats_file file; /* too large for the stack of whoever calls exit() */

void stats_report(const char *path, bool table_to_stderr, bool error_output, bool main)
{
    static stats_summary s;
    stats_sum_up(&s);
    if (!main && s.locks == 0)
        return;
    stats_file_open(&file, path);
    stats_write_json(&file, &s);
    int error = stats_file_close(&file);
    if (!table_to_stderr) {
        static char name[sizeof file.name];
        snprintf(name, sizeof name, "%s.txt", path);
        stats_file_open(&file, name);
        stats_write_text(&file, &s);
        int second = stats_file_close(&file);
        error = error != 0 ? error : second;
    } else if (error_output) {
        stats_file_open_fd(&file, STDERR_FILENO);
        stats_write_text(&file, &s);
        stats_file_close(&file);
    }
    if (error != 0 && error_output) {
        stats_file_open_fd(&file, STDERR_FILENO);
        stats_file_print(&file, "pawl: cannot write the statistics '%s': %s\n", path, strerror(error));
        stats_file_close(&file);
    }
}
