/* grid.h - a table of text: as wide as its cells, or Markdown */
#pragma once

#include "cli.h"

typedef struct grid {
    const char *align; /* 'l' or 'r' for each column */
    size_t columns, cells, room;
    char **cell; /* row by row; the first row is the header */
} grid;

grid grid_new(const char *align);
void grid_add(grid *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grid_print(const grid *g, FILE *to);
void grid_markdown(const grid *g, FILE *to);
size_t grid_width(const grid *g);
void grid_free(grid *g);
