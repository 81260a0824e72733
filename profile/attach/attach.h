/* attach.h - a profile of a process that runs already, by what it asks of the kernel */
#pragma once

#include "profile/document.h"

typedef struct attachment {
    uint32_t pid;
    int process;     /* attach_check()'s */
    uint64_t for_ns; /* 0: until it ends, or SIGINT or SIGTERM comes */
    uint32_t depth;  /* frames of a stack to keep */
} attachment;

/* Fails if the process can't be watched, and says why and which right is missing. Returns a descriptor of the process, by
 * which it is known even if another one gets its number. */
int attach_check(uint32_t pid);

/* A thread of it that has not ended, to be asked for what the process has: the first may have left before the others. 0: all
 * have ended. */
uint32_t attach_alive(uint32_t pid);

/* Watches the process, and adds what it did to the document. */
void attach_run(const attachment *a, json_t *document);
