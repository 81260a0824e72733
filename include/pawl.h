/* pawl.h - what an application includes: the mutex and its condition variable, every lock, and the semaphore
 *
 * A program that wants one lock only includes its header, <pawl/ticket.h> say, instead.
 */
#pragma once

#include "pawl/cond.h"
#include "pawl/fairmutex.h"
#include "pawl/guard.h"
#include "pawl/locks.h"
#include "pawl/mutex.h"
#include "pawl/policy.h"
#include "pawl/semaphore.h"
