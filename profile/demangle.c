/* demangle.c - by the C++ library, if there is one: who profiles a C++ program has it */
#include "demangle.h"

#include "cli/cli.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *function(const char *name, char *room, size_t *size, int *status);

static function *find(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library != NULL ? __extension__(function *) dlsym(library, "__cxa_demangle") : NULL;
}

char *demangle(const char *name)
{
    static function *cxa;
    static bool searched;
    int status;
    char *plain = NULL;
    if (strncmp(name, "_Z", 2) == 0) {
        if (!searched)
            cxa = find();
        searched = true;
        plain = cxa != NULL ? cxa(name, NULL, NULL, &status) : NULL;
    }
    if (plain == NULL)
        plain = strdup(name);
    if (plain == NULL)
        fail("out of memory");
    return plain;
}
