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

/* A sheet with a number below HINT_SHEETS. Nobody but the BPF program can write to it. */
typedef struct hint_sheet {
    struct pawl_hint_sheet *words;
    int file;
} hint_sheet;

bool hint_sheet_make(hint_sheet *s);
void hint_sheet_free(hint_sheet *s);
/* From now on the BPF program finds it. Takes some 10 ms: it waits until no CPU uses the one before. */
void hint_sheet_publish(uint32_t number, const hint_sheet *s);

bool hint_thread_find(uint32_t tid, struct hint_thread *found);
bool hint_thread_set(uint32_t tid, const struct hint_thread *thread);
void hint_thread_delete(uint32_t tid);
/* Makes it cheaper for the BPF program to find that out. */
void hint_no_thread_left(void);

/* processes.c: registers a thread; one of the service's answers. With PAWL_HINT_DONE, `file` is the sheet's, and
 * `fresh` the number of one that has still to be published, or -1. `watch` gets a pidfd for each new process. */
int hint_join(const struct pawl_hint_request *request, pid_t pid, uid_t uid, uint32_t *slot, int *file,
              int *fresh);
void hint_publish(int fresh);
/* The process with this number has ended. */
void hint_leave(uint32_t number);
void hint_count(uint32_t *processes, uint32_t *threads);

/* service.c: calls hint_leave(number) when this becomes readable. */
bool hint_watch(int pidfd, uint32_t number);
