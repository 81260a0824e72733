/* hint_maps.h - what the BPF program and the service share beside the published maps */
#pragma once

#include "../src/park/hint_map.h"

enum { HINT_SHEETS = 1024, HINT_THREADS = 16384, HINT_FILTER = 65536 };

/* Of a registered thread. Its number may be another process's by now: so the process counts, too. */
struct hint_thread {
    uint32_t pid;
    uint32_t sheet;
    uint32_t slot;
};

/* What the service has the BPF program write: nobody else can. */
struct hint_beat {
    uint32_t version, heartbeat;
};
