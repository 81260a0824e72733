/* start.h - what the environment asks for */
#pragma once

/* The variable's value, or NULL. Not getenv(): a shell may define its own, which is not ready this early. */
const char *stats_variable(const char *name);
