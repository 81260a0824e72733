/* test.h - counts what passed and failed */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

extern int passed, failed;
extern bool verbose;

__attribute__((format(printf, 2, 3))) static inline void check(bool ok, const char *format, ...)
{
    va_list arguments;
    if (ok)
        passed++;
    else
        failed++;
    if (ok && !verbose)
        return;
    va_start(arguments, format);
    printf("%s ", ok ? "ok  " : "FAIL");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void litmus_tests(void);
void fuzz_tests(void);
void engine_tests(void);
