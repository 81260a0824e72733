/* book.h - what a report shows, as one JSON value: the page draws it, and so does gnuplot
 *
 *   locks     [{name, family, shown, reference}]: what can be switched on and off; elsewhere a lock is an index into this
 *   sections  one per file: its head, doubts, charts and rankings
 *   doubts    about the files together
 */
#pragma once

#include "results.h"

typedef struct lock_entry {
    char *name;
    const char *family;
    size_t order; /* of appearance in the files */
    bool shown;   /* at first, and in figures   */
} lock_entry;

typedef struct book {
    const results *files;
    size_t count;
    lock_entry *locks;
    size_t lock_count;
    const results *pingpong; /* NULL if there is none                                      */
    double pingpong_ns;      /* of the two CPUs that are nearest to each other             */
} book;

/* The JSON value. It needs the files no more. */
json_t *book_make(const results *files, size_t count);

/* What a point is called in charts: its lock, and where variants are compared with each other, its variant. */
char *series_name(const results *r, const point *p);

/* Index into book->locks. */
size_t book_lock(const book *b, const results *r, const point *p);

/* charts.c, ranking.c: arrays, for one file of the book. */
json_t *charts_make(const book *b, const results *r);
json_t *rankings_make(const book *b, const results *r);
