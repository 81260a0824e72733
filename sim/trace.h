/* trace.h - a timeline of what threads did, for chrome://tracing and https://ui.perfetto.dev */
#pragma once

#include "sim.h"

/* Spans are kept from the start of the measured time, as many as fit. */
void trace_start(const char *path); /* NULL: no timeline */
void trace_measure(void);

/* On the line of a thread, or of a CPU's store buffer. `object` is SIM_OBJECTS if there is none. */
void trace_thread(const sim_thread *t, const char *what, sim_object object, sim_time from, sim_time to);
void trace_stores(const sim_cpu *c, const char *what, sim_object object, sim_time from, sim_time to);

/* Writes the file; false if that fails. */
bool trace_write(void);
