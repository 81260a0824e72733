//! Pawl's locks for Rust, as raw locks of [`lock_api`], and a condition variable.
//!
//! [`Mutex`] is fast and lets no thread starve: a waiter is passed over for a bounded time. [`FairMutex`] serves first
//! come, first served, in one word. The locks of the papers that need no context are there under their own names, such
//! as [`Ticket`] and [`Hemlock`].
//!
//! All are constants when unlocked, so they can be statics, and none allocates:
//!
//! ```
//! static COUNTER: pawl::Mutex<u64> = pawl::Mutex::new(0);
//!
//! *COUNTER.lock() += 1;
//! assert_eq!(*COUNTER.lock(), 1);
//! ```
//!
//! Without the feature `std` the crate is `no_std`; it then lacks what takes a `std::time::Instant`. libpawl itself
//! needs an operating system to sleep.
#![cfg_attr(not(feature = "std"), no_std)]
#![warn(missing_docs)]

mod condvar;
mod raw;

pub use condvar::{Condvar, RawWait, WaitTimeoutResult};
pub use raw::*;
