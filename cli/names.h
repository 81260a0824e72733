/* names.h - the register's values as words */
#pragma once

#include <pawl.h>

static inline const char *order_name(pawl_order order)
{
    static const char *const names[] = {
        [PAWL_FIFO] = "FIFO",         [PAWL_LIFO] = "LIFO",         [PAWL_SEGMENTS] = "segments",
        [PAWL_SHUFFLED] = "shuffled", [PAWL_PLATOONS] = "platoons", [PAWL_NONE] = "none"};
    return names[order];
}

static inline const char *waiting_name(pawl_waiting waiting)
{
    static const char *const names[] = {
        [PAWL_GLOBAL] = "global", [PAWL_SEMI_PRIVATE] = "semi-private", [PAWL_LOCAL] = "local"};
    return names[waiting];
}
