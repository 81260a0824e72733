/* figures.h - the charts of a book as files, drawn by gnuplot */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* One file per chart, all of them or none; the directory is created if need be. `format` is "svg" or "png". Fails if
 * gnuplot is missing or fails. */
void figures_write(const json_t *book, const char *directory, const char *format);

/* plot.c: the gnuplot commands that draw a chart of the book into a file of that name. */
void plot_write(FILE *script, const json_t *book, const json_t *chart, const char *heading, const char *file,
                const char *format);
