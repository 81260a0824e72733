/* symbols.h - what an address of a process is called, also when the process is gone */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The code and data of a process at one time. */
typedef struct symbols symbols;

/* From the text of /proc/PID/maps, of which lines that name no file may be missing. The pid is for the map of a JIT,
 * /tmp/perf-PID.map. */
symbols *symbols_new(const char *maps, size_t size, uint32_t pid);
void symbols_free(symbols *s);

/* Appends to `frames` what returns to the address: the call's function and line, and then those it is inlined into:
 * {"function", "file", "line", "module", "offset", "inlined"}, or as much of it as is known. */
void symbols_frames(symbols *s, uint64_t address, json_t *frames);

/* "symbol" or "symbol+0x8" for data of a program or library; false if it is not known. */
bool symbols_data(symbols *s, uint64_t address, char *name, size_t size);

/* libdw's view of the process, for who unwinds a stack; NULL if nothing is mapped. Only where there is libdw. */
struct Dwfl;
struct Dwfl *symbols_dwfl(symbols *s);
