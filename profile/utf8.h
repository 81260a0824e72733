/* utf8.h - names are of any bytes, JSON and terminals want whole characters */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* How many of the first `most` bytes are left if no character is cut. */
size_t utf8_cut(const char *text, size_t most);

/* What is no UTF-8 in it becomes U+FFFD, the replacement character. */
json_t *utf8_json(const char *text);
