/* collected.h - what was learnt of an attached process: from the kernel to the document */
#pragma once

#include "attach.h"
#include "futex.h"

#include <limits.h>

enum { ATTACH_LONGEST = 1 << 14, ATTACH_EACH = 10 }; /* waits that are kept one by one, and of one futex */

typedef struct collected {
    uint32_t pid;
    uint64_t start_ns, end_ns;
    char program[PATH_MAX];
    char *maps; /* of /proc/PID/maps */
    struct attach_sample **samples;
    size_t samples_count;
    struct attach_pair *pairs; /* with their times */
    struct attach_times *times;
    size_t pairs_count;
    struct attach_long longest[ATTACH_LONGEST]; /* in no order */
    size_t longest_count;
    uint64_t lost_stacks, lost_waits, voids, execs;
} collected;

/* maps.c: the text of /proc/PID/maps, to be freed; NULL, with errno, if it can't be read or is empty. */
char *attach_maps(uint32_t pid);

/* The path of its program, or "?"; room for PATH_MAX. */
void attach_program(uint32_t pid, char *room);

/* collect.c */
void collected_add_long(collected *c, const struct attach_long *e);
void collected_add_pair(collected *c, const struct attach_pair *pair, const struct attach_times *times);
void collected_add_sample(collected *c, const struct attach_sample *s);

/* No shorter wait for this futex will be kept. */
uint64_t collected_least(const collected *c, uint64_t address);
void collected_free(collected *c);

/* unwind.c: the return addresses, innermost first. Returns their number. */
size_t unwind(symbols *s, uint32_t pid, const struct attach_sample *sample, uint64_t *frames, size_t most);

/* add.c */
void document_add_collected(json_t *document, const collected *c, uint32_t depth);
