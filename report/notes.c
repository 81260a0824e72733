/* notes.c - what a reader should know before believing a comparison */
#include "comparison.h"
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

const char *machine_text(const results *r, const char *member)
{
    const char *text = json_string_value(json_object_get(r->machine, member));
    return text != NULL ? text : "unknown";
}

void print_load(FILE *f, const point *p)
{
    fprintf(f, "%u thread%s, %s%s%s", p->threads, p->threads == 1 ? "" : "s", p->pin,
            p->variant != NULL ? ", " : "", p->variant != NULL ? p->variant : "");
}

static const char *reference_or_none(const results *r)
{
    const char *name = reference_lock(r);
    return name != NULL ? name : "none";
}

static const char *libc_of(const results *r)
{
    return json_string_value(json_object_get(r->machine, "libc"));
}

static json_t *lone_note(const comparison *c)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        fail("out of memory");
    fprintf(
        f,
        "%s's own runs got significantly faster or slower, and fewer than half of the other locks' went the "
        "same way, so what changed may be %s itself, in: ",
        c->reference, c->reference);
    for (size_t i = 0; i < c->lone_count; i++) {
        fputs(i > 0 ? "; " : "", f);
        print_load(f, c->lone[i]);
    }
    if (fclose(f) != 0)
        fail("out of memory");
    json_t *note = json_string(text);
    free(text);
    return note;
}

static void add_notes_on_reference(json_t *notes, const comparison *c)
{
    const char *libc_a = libc_of(c->a), *libc_b = libc_of(c->b);
    if (c->no_reference)
        append(notes,
               json_sprintf("the files are not related to the same mutex of the C library (%s and %s): runs "
                            "are compared, and if the machine was faster, so are all locks",
                            reference_or_none(c->a), reference_or_none(c->b)));
    if (c->useless_reference != NULL)
        append(notes, json_sprintf("no lock can be compared as a multiple of %s in the same round: runs are "
                                   "compared, and if the machine was faster, so are all locks",
                                   c->useless_reference));
    if (c->reference == NULL)
        return;
    if (libc_a != NULL && libc_b != NULL && strcmp(libc_a, libc_b) != 0)
        append(notes, json_sprintf("%s, which others are multiples of, is of %s and of %s", c->reference,
                                   libc_a, libc_b));
    if (c->unfit > 0)
        append(notes, json_sprintf("%zu point%s not judged: %s's runs do not fit", c->unfit,
                                   c->unfit == 1 ? " is" : "s are", c->reference));
    if (c->lone_count > 0)
        append(notes, lone_note(c));
}

json_t *comparison_notes(const comparison *c)
{
    json_t *notes = json_array();
    if (!same_machine(c->a, c->b))
        append(notes, json_sprintf("different machines: %s, %s and %s, %s", machine_text(c->a, "cpu"),
                                   machine_text(c->a, "kernel"), machine_text(c->b, "cpu"),
                                   machine_text(c->b, "kernel")));
    add_notes_on_reference(notes, c);
    if (c->discoverable > c->judged)
        append(notes, json_string("too few runs to tell any change from chance"));
    else if (c->discoverable > 1)
        append(notes, json_sprintf("so few runs and %zu points: no change can be told from chance "
                                   "unless at least %zu points change",
                                   c->judged, c->discoverable));
    const results *sides[] = {c->a, c->b};
    for (int i = 0; i < 2; i++) {
        size_t k;
        json_t *doubt;
        json_array_foreach (sides[i]->doubts, k, doubt)
            append(notes, json_sprintf("%s: %s", sides[i]->path, json_string_value(doubt)));
    }
    return notes;
}
