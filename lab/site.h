/* site.h - the places that hold atomic operations: collected, mutated, found in the source */
#pragma once
#include "lab.h"

/* The order to use at this place: as compiled unless mutated. */
int lab_site_order(const void *pc, enum lab_op op, int order);
void lab_site_cas_orders(const void *pc, int *success, int *failure);

/* A frame of inlined code. `path` lives as long as the process. */
struct lab_frame {
    const char *path;
    int line, column;
};

/* The frames at a return address, innermost first. Returns how many; 0 without debug information. */
int lab_frames(const void *pc, struct lab_frame *frames, int max);

/* "lock+8", "T1's node+16", "0x..." */
const char *lab_address_text(uintptr_t address, char *buffer, size_t size);
void lab_names_reset(void);
