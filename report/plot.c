/* plot.c - a chart in gnuplot's language; the looks are those of page/look.js */
#include "figures.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#4a9fd8", "#882255"};
static const char *const dashes[] = {"solid", "(14,6)", "(4,6)", "(18,6,4,6)", "(28,8)"};
static const int marks[] = {7, 5, 9, 13, 2, 3, 1, 15};

enum { COLOURS = 7, DASHES = 5, MARKS = 8, MOST_LINES = 14 };

/* Names come from anywhere, and gnuplot runs commands that it finds between backquotes. In single quotes everything
 * is text, except single quotes, which are doubled. Files were checked for control characters when they were read. */
static void write_text(FILE *to, const char *text)
{
    fputc('\'', to);
    for (; *text != '\0'; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, to);
    fputc('\'', to);
}

static double item(const json_t *mark, size_t i)
{
    return json_number_value(json_array_get(mark, i));
}

static const json_t *lock_of(const json_t *book, const json_t *series)
{
    size_t index = (size_t)json_integer_value(json_object_get(series, "lock"));
    return json_array_get(json_object_get(book, "locks"), index);
}

/* As on the page: the locks that are shown at first. If the chart has none of them, its first few. */
static bool is_drawn(const json_t *book, const json_t *all, size_t i)
{
    size_t k;
    json_t *series;
    bool any = false;
    json_array_foreach (all, k, series)
        any |= json_is_true(json_object_get(lock_of(book, series), "shown"));
    series = json_array_get(all, i);
    return any ? json_is_true(json_object_get(lock_of(book, series), "shown")) : i < MOST_LINES;
}

/* How many threads a band is high, if the chart has a band for each lock; or 0. */
static int band_height(const json_t *chart)
{
    return (int)json_integer_value(json_object_get(json_object_get(chart, "y"), "threads"));
}

/* Where the band of the i-th lock begins: the first is at the top, and one place is between two. */
static double band_start(const json_t *book, const json_t *chart, size_t i)
{
    const json_t *all = json_object_get(chart, "series");
    int below = 0;
    for (size_t k = i + 1; k < json_array_size(all); k++)
        below += is_drawn(book, all, k);
    return band_height(chart) > 0 ? below * (band_height(chart) + 1) : 0;
}

static void write_data(FILE *to, const json_t *series, size_t i, double up)
{
    size_t k;
    json_t *mark;
    fprintf(to, "$line%zu << end\n", i);
    json_array_foreach (json_object_get(series, "marks"), k, mark)
        fprintf(to, "%.6g %.6g %.6g %.6g\n", item(mark, 0), up + item(mark, 1), up + item(mark, 2),
                up + item(mark, 3));
    fputs("end\n", to);
}

/* In the colour of the lock; its name is beside the band. */
static void write_band(FILE *to, const json_t *series, size_t i)
{
    size_t index = (size_t)json_integer_value(json_object_get(series, "lock"));
    fprintf(to,
            "$line%zu using 1:2 with linespoints linewidth 1 linecolor rgb '%s' pointtype 7 pointsize 0.3 "
            "notitle",
            i, colours[index % COLOURS]);
}

static void write_line(FILE *to, const json_t *book, const json_t *series, size_t i)
{
    size_t index = (size_t)json_integer_value(json_object_get(series, "lock"));
    size_t round = index / COLOURS;
    bool reference = json_is_true(json_object_get(lock_of(book, series), "reference")); /* in ink */
    fprintf(to,
            "$line%zu using 1:2:3:4 with yerrorlines linewidth %g linecolor rgb '%s' dashtype %s pointtype "
            "%d title ",
            i, reference ? 1.8 : 1.2, reference ? "#000000" : colours[index % COLOURS],
            dashes[reference ? 0 : round % DASHES], marks[reference ? 0 : (index + 2 * round) % MARKS]);
    write_text(to, json_string_value(json_object_get(lock_of(book, series), "name")));
}

/* One tick per number of threads, as long as they do not run into each other. */
static void write_thread_ticks(FILE *to, const json_t *all)
{
    double last = 0;
    fputs("set logscale x 2\nset xtics (", to);
    for (;;) {
        double next = INFINITY;
        size_t i, k;
        json_t *series, *mark;
        json_array_foreach (all, i, series)
            json_array_foreach (json_object_get(series, "marks"), k, mark)
                next = item(mark, 0) >= last * 1.25 && item(mark, 0) > 0 ? fmin(next, item(mark, 0)) : next;
        if (isinf(next))
            break;
        fprintf(to, "%s%g", last > 0 ? ", " : "", next);
        last = next;
    }
    fputs(")\nset autoscale x\nset offsets graph 0.03, graph 0.03, 0, 0\n", to);
}

/* Whole numbers, with room for the marks at both ends. All lines begin and end at the same ones. */
static void write_even_range(FILE *to, const json_t *all)
{
    const json_t *marks = json_object_get(json_array_get(all, 0), "marks");
    fprintf(to, "set xrange [%g:%g]\n", item(json_array_get(marks, 0), 0) - 0.5,
            item(json_array_get(marks, json_array_size(marks) - 1), 0) + 0.5);
}

static void write_labels(FILE *to, const json_t *labels)
{
    size_t i;
    json_t *label;
    fputs("set xtics (", to);
    json_array_foreach (labels, i, label) {
        fputs(i > 0 ? ", " : "", to);
        write_text(to, json_string_value(label));
        fprintf(to, " %zu", i);
    }
    fprintf(to, ")\nset xrange [-0.3:%g]\n", (double)json_array_size(labels) - 0.7);
}

static void write_bands(FILE *to, const json_t *book, const json_t *chart)
{
    const json_t *all = json_object_get(chart, "series");
    const char *before = "";
    double top = 0;
    size_t i;
    json_t *series;
    fputs("set ytics (", to);
    json_array_foreach (all, i, series)
        if (is_drawn(book, all, i)) {
            double start = band_start(book, chart, i);
            fputs(before, to);
            write_text(to, json_string_value(json_object_get(lock_of(book, series), "name")));
            fprintf(to, " %g", start + (band_height(chart) - 1) / 2.0);
            top = fmax(top, start + band_height(chart));
            before = ", ";
        }
    fprintf(to, ")\nset yrange [-1:%g]\n", top);
}

static void write_axes(FILE *to, const json_t *book, const json_t *chart)
{
    const json_t *x = json_object_get(chart, "x"), *y = json_object_get(chart, "y");
    const json_t *labels = json_object_get(x, "labels");
    const char *y_title = json_string_value(json_object_get(y, "title"));
    fputs("set xlabel ", to);
    write_text(to, json_string_value(json_object_get(x, "title")));
    fputs("\nset ylabel ", to);
    write_text(to, y_title != NULL ? y_title : "");
    fputc('\n', to);
    if (json_is_array(labels))
        write_labels(to, labels);
    else if (json_is_true(json_object_get(x, "even")))
        write_even_range(to, json_object_get(chart, "series"));
    else
        write_thread_ticks(to, json_object_get(chart, "series"));
    if (band_height(chart) > 0)
        write_bands(to, book, chart);
    else
        fputs(json_is_true(json_object_get(y, "log")) ? "set logscale y 10\n" : "set yrange [0:1.02]\n", to);
}

static void write_terminal(FILE *to, const char *file, const char *format)
{
    fputs("reset\n", to);
    if (strcmp(format, "png") == 0)
        fputs("set terminal pngcairo noenhanced size 1600,1000 font 'sans,20' linewidth 2\n", to);
    else
        fputs("set terminal svg noenhanced size 800,500 font 'sans-serif,13' background 'white'\n", to);
    fprintf(to, "set output '%s'\n", file); /* a name that figures.c made */
    fputs("set key outside right top\nset grid linecolor rgb '#d9dde2' linetype 1\nset border 3\nset tics "
          "nomirror\n",
          to);
}

void plot_write(FILE *to, const json_t *book, const json_t *chart, const char *heading, const char *file,
                const char *format)
{
    const json_t *all = json_object_get(chart, "series");
    size_t i;
    json_t *series;
    json_array_foreach (all, i, series)
        if (is_drawn(book, all, i))
            write_data(to, series, i, band_start(book, chart, i));
    write_terminal(to, file, format);
    fputs("set title ", to);
    write_text(to, heading);
    fputc('\n', to);
    write_axes(to, book, chart);
    const char *before = "plot ";
    json_array_foreach (all, i, series)
        if (is_drawn(book, all, i)) {
            fputs(before, to);
            if (band_height(chart) > 0)
                write_band(to, series, i);
            else
                write_line(to, book, series, i);
            before = ", ";
        }
    fputs("\nunset output\n", to);
}
