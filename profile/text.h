/* text.h - what the parts of the text report share */
#pragma once

#include "reports.h"

#include "preload/stats/words.h"

double percent(json_int_t part, json_int_t whole);

/* Whether more than one process took part, so that a lock is known only with its process. */
bool shows_processes(const json_t *document);
