/* report.c - `pawl report`: results as one page, and as figures */
#include "cli.h"
#include "output.h"

#include "report/book.h"
#include "report/figures.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

static const char default_output[] = "report.html";

typedef struct request {
    char **paths;
    size_t path_count;
    const char *output, *figures, *format;
} request;

static const char *parse_format(const char *text)
{
    if (strcmp(text, "svg") != 0 && strcmp(text, "png") != 0)
        fail("--format '%s': must be svg or png", text);
    return text;
}

enum { FIGURES = 0x200, FORMAT };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    request *r = state->input;
    switch (key) {
    case FIGURES:
        r->figures = argument;
        return 0;
    case FORMAT:
        r->format = parse_format(argument);
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        r->paths[r->path_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (r->path_count == 0)
            fail("no file given; see '%s --help'", state->name);
        if (r->format != NULL && r->figures == NULL)
            fail("--format '%s': is for --figures, which is missing", r->format);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the page to FILE (default report.html)", 0},
    {"figures", FIGURES, "DIRECTORY", 0, "Draw each chart into a file in DIRECTORY, too; this takes gnuplot",
     0},
    {"format", FORMAT, "svg|png", 0, "Of the figures (default svg)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE...",
    .doc = "Make one self-contained page of what 'pawl bench' wrote as JSON: charts of throughput, fairness "
           "and waits, "
           "and a ranking with ratios to the C library's mutex in the same round.\v"
           "With a pingpong among the files, hand-overs are shown as multiples of it.",
    .children = common_options};

int report_main(int argc, char **argv)
{
    request r = {.paths = allocate((size_t)argc, sizeof *r.paths)};
    parse_options(&argp, argc, argv, 0, &r);
    const char *path = r.output != NULL ? r.output : default_output;
    results *files = allocate(r.path_count, sizeof *files);
    for (size_t i = 0; i < r.path_count; i++) {
        files[i] = results_read(r.paths[i]);
        output_check_apart(path, r.paths[i]);
    }
    output_check(path);
    json_t *book = book_make(files, r.path_count);
    if (r.figures != NULL)
        figures_write(book, r.figures, r.format != NULL ? r.format : "svg");
    output o;
    output_open(&o, path);
    page_write(&o, book);
    output_close(&o);
    if (r.output == NULL)
        printf("%s\n", path);
    json_decref(book);
    for (size_t i = 0; i < r.path_count; i++)
        results_free(&files[i]);
    free(files);
    free(r.paths);
    return EXIT_SUCCESS;
}
