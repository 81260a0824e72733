/* survivors.h - memory orders that the checker found no need for, and why they stay */
#pragma once

/* The reason, or NULL if a survivor is not expected here. The row that gave it counts as used. */
const char *survivor_reason(const char *lock, const char *site, const char *op, const char *from);

/* All of this lock's mutations were tried. */
void survivors_tried(const char *lock);

/* Calls `tell` for each row that explained nothing, though all locks that it may be about were tried. */
void survivors_stale(void (*tell)(const char *row, void *arg), void *arg);
