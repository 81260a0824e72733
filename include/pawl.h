/* pawl.h - what an application includes: the mutex and its condition variable, every lock, the semaphore, and the seqlock
 *
 * A program that needs just one lock can include its header instead, say <pawl/ticket.h>.
 */
#pragma once

#include "pawl/cond.h"
#include "pawl/fairmutex.h"
#include "pawl/guard.h"
#include "pawl/locks.h"
#include "pawl/mutex.h"
#include "pawl/policy.h"
#include "pawl/semaphore.h"
#include "pawl/seqlock.h"
