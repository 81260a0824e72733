/* unversioned.h - a library whose references have no version, because it was linked against no other */
#pragma once

#include <stdint.h>

/* What they reached; ends with 0. */
const uintptr_t *unversioned_functions(void);
