/* service.h - the service of `pawl hint` */
#pragma once

#include "hint_maps.h"

#include <stdbool.h>
#include <sys/types.h>

/* Runs until it is told to stop, by PAWL_HINT_STOP or a signal. Calls ready() once it can be reached. Fails with a
 * reason if it can't be run here. */
void hint_serve(const char *path, void (*ready)(void));

/* kernel.c: loads the BPF program, or fails. */
void hint_load(void);
void hint_unload(void);
int hint_cpus_file(void); /* of the CPUs' map */
void hint_beat(uint32_t version);

/* A map for a sheet, to which nobody but the BPF program can write; -1 if there is none. */
int hint_sheet_make(void);
/* From now on the BPF program finds it. Takes some 10 ms: it waits until no CPU uses the one before. */
void hint_sheet_publish(uint32_t number, int file);

/* Registered threads, by number. */
bool hint_thread_find(uint32_t tid, struct hint_place *found);
/* Whether there is room for this thread. */
bool hint_thread_fits(uint32_t tid);
void hint_thread_set(uint32_t tid, const struct hint_place *place);
void hint_thread_delete(uint32_t tid);

/* processes.c: finds a slot for a thread; one of the service's answers. With PAWL_HINT_DONE, `file` is the sheet's, and
 * hint_publish() has to follow once the answer is sent: it may take long. */
int hint_join(const struct pawl_hint_request *request, pid_t pid, uid_t uid, uint32_t *slot, uint64_t *serial,
              int *file);
void hint_publish(void);
/* Has a sheet ready for the next process, unless there is one: then nobody waits for hint_sheet_publish(). */
void hint_prepare(void);
/* The process with this number has ended. */
void hint_leave(uint32_t number);
void hint_count(uint32_t *processes, uint32_t *threads);

/* service.c: calls hint_leave(number) when this becomes readable. */
bool hint_watch(int pidfd, uint32_t number);
