/* pawl.h - what an application includes: every lock of Pawl, and the semaphore
 *
 * A program that wants one lock only includes its header, <pawl/ticket.h> say, instead.
 */
#pragma once

#include "pawl/locks.h"
#include "pawl/semaphore.h"
