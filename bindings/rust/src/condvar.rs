//! condvar.rs - a condition variable over Mutex and FairMutex

use crate::raw::{nanoseconds, RawFairMutex, RawMutex};
use core::cell::UnsafeCell;
use core::time::Duration;
use lock_api::MutexGuard;

type Words = [u32; 2];

extern "C" {
    fn pawl_rust_cond_wait(c: *mut Words, m: *mut [u64; 3], nanoseconds: u64) -> bool;
    fn pawl_rust_cond_wait_fair(c: *mut Words, m: *mut [u64; 1], nanoseconds: u64) -> bool;
    fn pawl_rust_cond_notify(c: *mut Words, all: bool);
}

/// A raw mutex that a [`Condvar`] can unlock while it waits.
///
/// # Safety
///
/// Only for locks of this crate: the wait must return with the lock held.
pub unsafe trait RawWait: lock_api::RawMutex {
    /// False if the time was over first; `u64::MAX` nanoseconds mean no deadline.
    ///
    /// # Safety
    ///
    /// The caller holds the lock, and all concurrent waiters use the same one.
    unsafe fn wait(&self, condvar: &Condvar, nanoseconds: u64) -> bool;
}

unsafe impl RawWait for RawMutex {
    unsafe fn wait(&self, condvar: &Condvar, nanoseconds: u64) -> bool {
        pawl_rust_cond_wait(condvar.0.get(), self.0.get(), nanoseconds)
    }
}

unsafe impl RawWait for RawFairMutex {
    unsafe fn wait(&self, condvar: &Condvar, nanoseconds: u64) -> bool {
        pawl_rust_cond_wait_fair(condvar.0.get(), self.0.get(), nanoseconds)
    }
}

/// Whether a wait ended because its time was over.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was over before a notification came.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition variable of 8 bytes; waits end first come, first served, and never without a reason.
///
/// Concurrent waiters must use the same mutex. With a [`Mutex`](crate::Mutex), `notify_all` wakes one thread at most,
/// and the mutex gets the others.
#[repr(C, align(8))]
pub struct Condvar(UnsafeCell<Words>);

// SAFETY: the C functions synchronise threads.
unsafe impl Send for Condvar {}
unsafe impl Sync for Condvar {}

impl Condvar {
    /// One that nobody waits on.
    pub const fn new() -> Self {
        Condvar(UnsafeCell::new([0; 2]))
    }

    fn wait_within<R: RawWait, T: ?Sized>(&self, guard: &mut MutexGuard<'_, R, T>, nanoseconds: u64) -> bool {
        // SAFETY: the guard says that the lock is held, and while this has it nobody else uses it.
        unsafe { MutexGuard::mutex(guard).raw().wait(self, nanoseconds) }
    }

    /// Unlocks, waits for a notification, and locks again.
    pub fn wait<R: RawWait, T: ?Sized>(&self, guard: &mut MutexGuard<'_, R, T>) {
        self.wait_within(guard, u64::MAX);
    }

    /// Waits until `condition` is false.
    pub fn wait_while<R: RawWait, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(&mut **guard) {
            self.wait(guard);
        }
    }

    /// The same as [`wait`](Self::wait), for this long at most.
    pub fn wait_for<R: RawWait, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        time: Duration,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult(!self.wait_within(guard, nanoseconds(time)))
    }

    /// The same as [`wait`](Self::wait), until then at most.
    #[cfg(feature = "std")]
    pub fn wait_until<R: RawWait, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        deadline: std::time::Instant,
    ) -> WaitTimeoutResult {
        self.wait_for(guard, deadline.saturating_duration_since(std::time::Instant::now()))
    }

    /// Ends the wait of the thread that has waited longest, if any.
    pub fn notify_one(&self) {
        unsafe { pawl_rust_cond_notify(self.0.get(), false) }
    }

    /// Ends the waits of all current waiters.
    pub fn notify_all(&self) {
        unsafe { pawl_rust_cond_notify(self.0.get(), true) }
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Condvar { .. }")
    }
}
