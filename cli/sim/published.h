/* published.h - what the papers say of a figure, beside a simulation of it */
#pragma once

#include "sim.h"

/* M acquisitions/s that the paper has for this lock; 0 if it has none. */
double published_rate(const char *figure, const char *lock, unsigned threads);

/* As lines of text, below its table: where the values are from, and what the paper's text says of the figure. */
void published_text(output *o, const char *figure, const study *s);

/* For the figure's JSON; NULL if the paper says nothing of what was simulated. */
json_t *published_json(const char *figure, const study *s);
