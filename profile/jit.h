/* jit.h - the names that a JIT compiler wrote for perf: /tmp/perf-PID.map */
#pragma once

#include <stdint.h>

typedef struct jit jit;

jit *jit_new(uint32_t pid); /* empty if there is no such file */
void jit_free(jit *j);
const char *jit_name(const jit *j, uint64_t address); /* or NULL */
