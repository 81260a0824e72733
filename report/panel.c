/* panel.c - which points belong into one chart, and how they are drawn there */
#include "charts.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

bool in_panel(const panel *where, const point *p)
{
    return same_text(where->pin, p->pin) && (where->any_variant || same_text(where->variant, p->variant)) &&
           (where->threads == 0 || where->threads == p->threads);
}

bool is_new_panel(const results *r, size_t i, const panel *where)
{
    for (size_t k = 0; k < i; k++)
        if (in_panel(where, &r->points[k]))
            return false;
    return true;
}

json_t *panel_title(const results *r, const panel *where, const char *what)
{
    bool pins = false, loads = where->threads > 0;
    for (size_t i = 1; i < r->count; i++)
        pins |= !same_text(r->points[i].pin, r->points[0].pin);
    char threads[32] = "";
    if (loads)
        snprintf(threads, sizeof threads, "%u thread%s", where->threads, where->threads == 1 ? "" : "s");
    const char *parts[] = {pins ? where->pin : "",
                           where->any_variant || !where->variant ? "" : where->variant, threads};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        fail("out of memory");
    fputs(what, f);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i][0] != '\0') {
            fprintf(f, "%s%s", separator, parts[i]);
            separator = ", ";
        }
    fclose(f);
    json_t *title = json_string(text);
    free(text);
    return title;
}

json_t *mark_of(double x, double *values, size_t count, bool logarithmic)
{
    summary s = summarize(values, count);
    if (!isfinite(s.median) || (logarithmic && s.median <= 0))
        return NULL;
    double low = !logarithmic || s.min > 0 ? s.min : s.median; /* a logarithmic axis has no 0 */
    return json_pack("[f f f f I]", x, s.median, low, isfinite(s.max) ? s.max : s.median, (json_int_t)count);
}

void add_series(json_t *series, size_t lock, json_t *line)
{
    if (json_array_size(line) > 0)
        append(series, json_pack("{sI sO}", "lock", (json_int_t)lock, "marks", line));
    json_decref(line);
}
