/* survivors.h - memory orders that the checker found no need for, and why they stay */
#pragma once

/* The reason, or NULL if a survivor is not expected here. */
const char *survivor_reason(const char *lock, const char *site, const char *op, const char *from);
