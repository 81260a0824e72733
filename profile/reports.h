/* reports.h - a profile for people and for other programs */
#pragma once

#include "document.h"

#include "cli/output.h"

/* A table and the worst locks with their stacks. */
void profile_text(output *o, const json_t *document);

/* Of one lock, at its place in the document: who blocked whom. */
void profile_text_lock(output *o, const json_t *document, size_t place);

/* "waited for NAME;outermost;...;innermost;blocked by SITE nanoseconds", as flamegraph.pl and speedscope read it. */
void profile_folded(output *o, const json_t *document);

/* Chrome's trace events: the longest waits on the threads that waited, and who held the lock. Perfetto opens it. */
void profile_trace(output *o, const json_t *document);
