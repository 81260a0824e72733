/* attach.h - a profile of a process that runs already, by what it asks of the kernel */
#pragma once

#include "profile/document.h"

typedef struct attachment {
    uint32_t pid;
    uint64_t for_ns; /* 0: until it ends, or SIGINT or SIGTERM comes */
    uint32_t depth;  /* frames of a stack to keep */
} attachment;

/* Fails if the process can't be watched, and says why and which right is missing. */
void attach_check(uint32_t pid);

/* Watches the process, and adds what it did to the document. */
void attach_run(const attachment *a, json_t *document);
