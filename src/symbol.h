/* symbol.h - names of functions, without an allocator */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct symbol {
    char name[128];   /* of the function; empty if unknown        */
    uint64_t offset;  /* into the function                        */
    char module[256]; /* the program or library; empty if unknown */
    uint64_t where;   /* in the module, as addr2line takes it     */
} symbol;

void pawl_symbol_find(const void *address, symbol *s);
