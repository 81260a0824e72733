/* files.h - files that are regions, and files that are none */
#pragma once

#include "common.h"

enum { SIZE = 10000 };

static inline void is_refused(int file, int with, const char *what)
{
    pawl_region *r = NULL;
    int error = pawl_region_attach(&r, file);
    CHECK(error == with, "%s: %s", what, error == 0 ? "attached" : pawl_region_error(error));
    CHECK(r == NULL, "%s: there is a region in spite of the error", what);
}

static inline int file_of(const void *bytes, size_t size)
{
    int file = new_file();
    CHECK(pwrite(file, bytes, size, 0) == (ssize_t)size, "pwrite");
    return file;
}

static inline int a_region(void)
{
    int file = new_file();
    CHECK(pawl_region_detach(new_region(file, SIZE)) == 0, "detach");
    return file;
}
