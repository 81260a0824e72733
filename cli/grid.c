/* grid.c - a table of text */
#include "grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char gap[] = "  ";

grid grid_new(const char *align)
{
    return (grid){.align = align, .columns = strlen(align)};
}

void grid_add(grid *g, const char *format, ...)
{
    if (g->cells == g->room) {
        g->room = g->room * 2 + 64;
        g->cell = realloc(g->cell, g->room * sizeof *g->cell);
    }
    va_list arguments;
    va_start(arguments, format);
    if (g->cell == NULL || vasprintf(&g->cell[g->cells], format, arguments) < 0)
        fail("out of memory");
    va_end(arguments);
    g->cells++;
}

static size_t column_width(const grid *g, size_t column)
{
    size_t widest = 0;
    for (size_t i = column; i < g->cells; i += g->columns)
        widest = strlen(g->cell[i]) > widest ? strlen(g->cell[i]) : widest;
    return widest;
}

size_t grid_width(const grid *g)
{
    size_t width = (g->columns - 1) * strlen(gap);
    for (size_t c = 0; c < g->columns; c++)
        width += column_width(g, c);
    return width;
}

/* The last cell of a row that is not empty. */
static size_t row_end(const grid *g, size_t row)
{
    size_t end = row + g->columns - 1;
    while (end > row && g->cell[end][0] == '\0')
        end--;
    return end;
}

void grid_print(const grid *g, FILE *to)
{
    for (size_t row = 0; row < g->cells; row += g->columns) {
        size_t end = row_end(g, row);
        for (size_t i = row; i <= end; i++) {
            int width = (int)column_width(g, i - row);
            if (g->align[i - row] == 'l')
                width = i == end ? 0 : -width; /* no spaces at the end of a line */
            fprintf(to, "%*s%s", width, g->cell[i], i == end ? "\n" : gap);
        }
    }
}

void grid_markdown(const grid *g, FILE *to)
{
    for (size_t i = 0; i < g->cells; i++) {
        fprintf(to, "| %s %s", g->cell[i], i % g->columns == g->columns - 1 ? "|\n" : "");
        if (i != g->columns - 1)
            continue;
        for (size_t c = 0; c < g->columns; c++)
            fprintf(to, "|%s", g->align[c] == 'l' ? "---" : "--:");
        fputs("|\n", to);
    }
}

void grid_free(grid *g)
{
    for (size_t i = 0; i < g->cells; i++)
        free(g->cell[i]);
    free(g->cell);
}
