/* sites.h - which frame of a stack to name
 *
 * The innermost frames are often wrappers: std::mutex::lock, sqlite3_mutex_enter, Mutex::Lock. A frame is passed over if
 * a word of its name says that it locks. One that has no name is, if several locks are acquired there and it is called from
 * several places.
 */
#pragma once

#include <jansson.h>

/* Of frames that are in no document yet. */
json_int_t site_by_name(const json_t *frames);

/* For all stacks of a document, once all are there. */
void sites_pass_nameless(json_t *document);
