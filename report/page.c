/* page.c - a book as a page for browsers */
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

void page_write(output *o, const json_t *book)
{
    char *json = json_dumps(book, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (json == NULL)
        fail("out of memory");
    fwrite(page_head, 1, page_head_size, o->file);
    write_escaped(o->file, json);
    fwrite(page_tail, 1, page_tail_size, o->file);
    free(json);
}
