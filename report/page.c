/* page.c - a book or a profile as a page for browsers */
#include "page.h"

#include <stdlib.h>

/* In a script element everything is text until its end tag. No '<', no end tag: the only characters that could start
 * one are written as JSON lets them be written. */
static void write_escaped(FILE *to, const char *json)
{
    for (; *json != '\0'; json++)
        if (*json == '<')
            fputs("\\u003c", to);
        else
            fputc(*json, to);
}

static void write_data(output *o, const json_t *data)
{
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (json == NULL)
        fail("out of memory");
    write_escaped(o->file, json);
    free(json);
}

void page_write(output *o, const json_t *book)
{
    fwrite(page_head, 1, page_head_size, o->file);
    write_data(o, book);
    fwrite(page_tail, 1, page_tail_size, o->file);
}

void page_write_profile(output *o, const json_t *profile)
{
    fwrite(profile_head, 1, profile_head_size, o->file);
    write_data(o, profile);
    fwrite(profile_tail, 1, profile_tail_size, o->file);
}
