/* text.h - what the parts of the text report share */
#pragma once

#include "reports.h"

typedef struct duration {
    char text[24];
} duration;

duration in_words(json_int_t ns);
double percent(json_int_t part, json_int_t whole);

/* Whether more than one process took part, so that a lock is known only with its process. */
bool shows_processes(const json_t *document);
