/* slots.c - the waiting arrays, on pages of their own */
#include <pawl/detail/slots.h>
#include "copy.h"

PAWL_ONE_COPY

_Static_assert(PAWL_SLOTS > 0 && (PAWL_SLOTS & (PAWL_SLOTS - 1)) == 0, "PAWL_SLOTS is a power of two");

pawl_slot pawl_slots[PAWL_SLOTS] __attribute__((aligned(4096)));
pawl_word pawl_twa_slots[PAWL_SLOTS] __attribute__((aligned(4096)));
