/* page.h - a book as a page for browsers */
#pragma once

#include "cli/output.h"

#include <jansson.h>

/* Self-contained: the page asks for nothing else, from nobody. */
void page_write(output *o, const json_t *book);

/* The same for a profile. */
void page_write_profile(output *o, const json_t *profile);

/* Made at build time from page/ and vendor/ by embed.py: the page up to the data, and the rest. */
extern const unsigned char page_head[], page_tail[], profile_head[], profile_tail[];
extern const size_t page_head_size, page_tail_size, profile_head_size, profile_tail_size;
