/* common.h - regions and processes for the tests of shared locks */
#pragma once

#include "team.h"

#include <pawl/shared.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Both locks, by name. */
typedef struct shared_kind {
    const char *name;
    int (*lock)(pawl_region *r, void *l), (*trylock)(pawl_region *r, void *l);
    int (*unlock)(pawl_region *r, void *l), (*consistent)(pawl_region *r, void *l);
} shared_kind;

#define SHARED_FUNCTION(name, verb)                                                                          \
    static inline int name##_##verb##_(pawl_region *r, void *l)                                              \
    {                                                                                                        \
        return pawl_##name##_shared_##verb(r, l);                                                            \
    }
#define SHARED_KIND(name)                                                                                    \
    SHARED_FUNCTION(name, lock)                                                                              \
    SHARED_FUNCTION(name, trylock)                                                                           \
    SHARED_FUNCTION(name, unlock)                                                                            \
    SHARED_FUNCTION(name, consistent)                                                                        \
    static const shared_kind name##_kind = {#name "_shared", name##_lock_, name##_trylock_, name##_unlock_,  \
                                            name##_consistent_};

SHARED_KIND(mutex)
SHARED_KIND(hapax)

static inline int new_file(void)
{
    int file = memfd_create("pawl-region", MFD_CLOEXEC);
    CHECK(file >= 0, "memfd_create: %s", strerror(errno));
    return file;
}

/* Emulators of user programs have no robust list: nobody can tell there that a thread died. */
static inline pawl_region *new_region(int file, size_t size)
{
    pawl_region *r;
    int error = pawl_region_create(&r, file, size);
    if (error == ENOTSUP) {
        void *head;
        size_t bytes;
        CHECK(syscall(SYS_get_robust_list, 0, &head, &bytes) != 0, "there is a robust list");
        skip("%s", pawl_region_error(error));
    }
    CHECK(error == 0, "create: %s", pawl_region_error(error));
    return r;
}

static inline pawl_region *attached(int file)
{
    pawl_region *r;
    int error = pawl_region_attach(&r, file);
    CHECK(error == 0, "attach: %s", pawl_region_error(error));
    return r;
}

static inline pid_t start(void (*body)(void *arg), void *arg)
{
    pid_t child = fork();
    CHECK(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails or hangs leaves nobody behind */
        body(arg);
        _exit(0);
    }
    return child;
}

/* It says why it failed by itself. */
static inline void ends_well(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "a process ended with status %#x",
          (unsigned)status);
}

static inline void dies(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
          "a process ended with status %#x", (unsigned)status);
}
