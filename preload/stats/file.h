/* file.h - writes a file that appears whole or not at all, without stdio and its locks */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct stats_file {
    int fd;
    int error;      /* the first errno value, or 0 */
    bool temporary; /* written as `name`, renamed to `path` at the end */
    const char *path;
    char name[4096];
    char text[4096];
    size_t used;
} stats_file;

void stats_file_open(stats_file *f, const char *path);
void stats_file_open_fd(stats_file *f, int fd);
void stats_file_print(stats_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 0 or an errno value. */
int stats_file_close(stats_file *f);
