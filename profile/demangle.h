/* demangle.h - C++ names as people write them */
#pragma once

/* A copy, to be freed, of the name or of what it stands for. */
char *demangle(const char *name);
