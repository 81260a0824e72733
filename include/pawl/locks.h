/* locks.h - all locks of the register, and what the register's columns mean
 */
#pragma once

#include "detail/base.h"

/* The first reading of the register brings in the headers; later ones find them there. */
#define PAWL_LOCK(...)
#include "locks.def"
#undef PAWL_LOCK

#define PAWL_UNBOUNDED (-1)

typedef enum pawl_order {
    PAWL_FIFO,     /* first come, first served                                                          */
    PAWL_LIFO,     /* of those that wait, the latest                                                    */
    PAWL_SEGMENTS, /* those that arrive while a segment is served form the next; within it the latest   */
    PAWL_SHUFFLED, /* segments, and within one mostly but not always the latest                         */
    PAWL_PLATOONS, /* B at a time, in any order; platoon after platoon                                  */
    PAWL_NONE,     /* whoever comes at the right moment                                                 */
} pawl_order;

typedef enum pawl_waiting {
    PAWL_GLOBAL,       /* all waiters watch one word                         */
    PAWL_SEMI_PRIVATE, /* a word each, unless hashes collide                 */
    PAWL_LOCAL,        /* a word each                                        */
} pawl_waiting;

/* yes and no as values, and as a choice between two pieces of code. */
#define PAWL_BOOL_yes     true
#define PAWL_BOOL_no      false
#define PAWL_BOOL(x)      PAWL_BOOL_##x
#define PAWL_IF_yes(a, b) a
#define PAWL_IF_no(a, b)  b
#define PAWL_IF(x, a, b)  PAWL_IF_##x(a, b)
