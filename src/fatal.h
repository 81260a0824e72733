/* fatal.h - the end of a process whose locks could no longer keep their promise */
#pragma once

/* Writes one line to stderr without stdio or malloc, either of which may be what is locking; then aborts. */
_Noreturn void pawl_fatal(const char *line);
