/* parse.h - reads what people type; each function returns a good value or fails, naming `what` */
#pragma once

#include "cli.h"

#include <pawl/detail/wait.h>

/* A whole number from `least` to `most`. */
uint64_t parse_number(const char *what, const char *text, uint64_t least, uint64_t most);

/* "K/N": the Kth of N parts. */
void parse_shard(const char *what, const char *text, uint64_t *part, uint64_t *parts);

/* Nanoseconds: "2", "2s", "0.5s", "500ms", "20us", "100ns". */
uint64_t parse_time(const char *what, const char *text, uint64_t least, uint64_t most);

/* From a millisecond to an hour. */
uint64_t parse_duration(const char *what, const char *text);

/* In the form that parse_time() reads, in the largest unit that gives at least 1. Returns the room. */
enum { TIME_ROOM = 32 };
const char *time_text(uint64_t ns, char *room);

pawl_policy parse_policy(const char *what, const char *text);
const char *policy_name(pawl_policy policy);

/* The library ignores a PAWL_WAIT, PAWL_HINT or PAWL_TIMESLICE that it does not know. For a person that would be a wrong measurement. */
void check_environment(void);

/* A comma-separated list: `each` is called with every item, none of them empty. */
void parse_list(const char *what, const char *text, void (*each)(const char *item, void *input), void *input);

/* "; did you mean 'x'?" if a name of `count` is near, else "". */
const char *did_you_mean(const char *text, const char *(*name)(const void *names, size_t i),
                         const void *names, size_t count);
