//! raw.rs - the locks. What their words mean is known to Pawl's headers alone (shim.c).

use core::cell::UnsafeCell;
use core::time::Duration;
#[cfg(feature = "std")]
use lock_api::RawMutexTimed;
use lock_api::{GuardNoSend, GuardSend, RawMutex as RawLock, RawMutexFair};

/// Shorter than the reserved value for "no deadline", which is 584 years away.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX - 1)
}

/// A lock: its raw type, its mutex and guard, how many words it has, which guard it needs, and its functions.
macro_rules! lock {
    ($(#[$about:meta])* $mutex:ident, $guard:ident, $raw:ident, $words:literal, $marker:ty,
     $lock:ident, $trylock:ident, $unlock:ident) => {
        $(#[$about])*
        ///
        /// This is the raw lock, all-zero when unlocked.
        #[repr(C)]
        pub struct $raw(pub(crate) UnsafeCell<[u64; $words]>);

        $(#[$about])*
        pub type $mutex<T> = lock_api::Mutex<$raw, T>;

        #[doc = concat!("What [`", stringify!($mutex), "::lock()`](lock_api::Mutex::lock) returns.")]
        pub type $guard<'a, T> = lock_api::MutexGuard<'a, $raw, T>;

        extern "C" {
            fn $lock(l: *mut [u64; $words]);
            fn $trylock(l: *mut [u64; $words]) -> bool;
            fn $unlock(l: *mut [u64; $words]);
        }

        // SAFETY: the C functions synchronise threads, which is what they are for.
        unsafe impl Send for $raw {}
        unsafe impl Sync for $raw {}

        // SAFETY: a lock of Pawl excludes all but one thread until it is unlocked.
        unsafe impl RawLock for $raw {
            #[allow(clippy::declare_interior_mutable_const)]
            const INIT: Self = $raw(UnsafeCell::new([0; $words]));
            type GuardMarker = $marker;

            #[inline]
            fn lock(&self) {
                unsafe { $lock(self.0.get()) }
            }

            #[inline]
            fn try_lock(&self) -> bool {
                unsafe { $trylock(self.0.get()) }
            }

            #[inline]
            unsafe fn unlock(&self) {
                $unlock(self.0.get())
            }
        }
    };
}

/// Every unlock is fair: the lock goes to the thread that has waited longest.
macro_rules! fair {
    ($($raw:ident)*) => { $(
        // SAFETY: as unlock().
        unsafe impl RawMutexFair for $raw {
            #[inline]
            unsafe fn unlock_fair(&self) {
                self.unlock()
            }
        }
    )* };
}

macro_rules! timed {
    ($raw:ident, $words:literal, $lock_for:ident) => {
        extern "C" {
            fn $lock_for(l: *mut [u64; $words], nanoseconds: u64) -> bool;
        }

        impl $raw {
            /// Locks if that is possible within this time; without `std`, too.
            #[inline]
            pub fn lock_within(&self, time: Duration) -> bool {
                unsafe { $lock_for(self.0.get(), nanoseconds(time)) }
            }
        }

        // SAFETY: as lock().
        #[cfg(feature = "std")]
        unsafe impl RawMutexTimed for $raw {
            type Duration = Duration;
            type Instant = std::time::Instant;

            #[inline]
            fn try_lock_for(&self, time: Duration) -> bool {
                self.lock_within(time)
            }

            #[inline]
            fn try_lock_until(&self, deadline: std::time::Instant) -> bool {
                self.lock_within(deadline.saturating_duration_since(std::time::Instant::now()))
            }
        }
    };
}

lock!(
    /// The mutex for most programs: barging with a bound in time, and waiters that sleep.
    Mutex, MutexGuard, RawMutex, 3, GuardSend,
    pawl_rust_mutex_lock, pawl_rust_mutex_trylock, pawl_rust_mutex_unlock);
timed!(RawMutex, 3, pawl_rust_mutex_lock_for);

extern "C" {
    fn pawl_rust_mutex_unlock_fair(l: *mut [u64; 3]);
}

// SAFETY: as unlock().
unsafe impl RawMutexFair for RawMutex {
    /// Hands the mutex to the first thread in its queue, without waiting until that thread's share is over.
    #[inline]
    unsafe fn unlock_fair(&self) {
        pawl_rust_mutex_unlock_fair(self.0.get())
    }
}

lock!(
    /// A mutex for strict order: first come, first served, and waiters that sleep.
    FairMutex, FairMutexGuard, RawFairMutex, 1, GuardSend,
    pawl_rust_fairmutex_lock, pawl_rust_fairmutex_trylock, pawl_rust_fairmutex_unlock);
timed!(RawFairMutex, 1, pawl_rust_fairmutex_lock_for);
fair!(RawFairMutex);

lock!(
    /// Test-and-test-and-set: whoever tries at the right moment.
    Tts, TtsGuard, RawTts, 1, GuardSend,
    pawl_rust_tts_lock, pawl_rust_tts_trylock, pawl_rust_tts_unlock);

lock!(
    /// Ticket lock: first come, first served; all waiters watch one word.
    Ticket, TicketGuard, RawTicket, 2, GuardSend,
    pawl_rust_ticket_lock, pawl_rust_ticket_trylock, pawl_rust_ticket_unlock);

lock!(
    /// Ticket lock with a waiting array: first come, first served.
    Twa, TwaGuard, RawTwa, 2, GuardSend,
    pawl_rust_twa_lock, pawl_rust_twa_trylock, pawl_rust_twa_unlock);

lock!(
    /// Ticket lock with a waiting array of hapaxes: first come, first served; unlocks without an atomic operation there.
    TwaHapax, TwaHapaxGuard, RawTwaHapax, 2, GuardSend,
    pawl_rust_twa_hapax_lock, pawl_rust_twa_hapax_trylock, pawl_rust_twa_hapax_unlock);

lock!(
    /// CLH queue lock: first come, first served; each waiter watches a word of its own.
    Clh, ClhGuard, RawClh, 2, GuardSend,
    pawl_rust_clh_lock, pawl_rust_clh_trylock, pawl_rust_clh_unlock);

lock!(
    /// The latest waiter first: for experiments, as it starves.
    Lifo, LifoGuard, RawLifo, 1, GuardSend,
    pawl_rust_lifo_lock, pawl_rust_lifo_trylock, pawl_rust_lifo_unlock);

lock!(
    /// Hemlock without its optimisations: first come, first served, one word.
    HemlockNaive, HemlockNaiveGuard, RawHemlockNaive, 1, GuardNoSend,
    pawl_rust_hemlock_naive_lock, pawl_rust_hemlock_naive_trylock, pawl_rust_hemlock_naive_unlock);

lock!(
    /// Hemlock: first come, first served, one word. The thread that locks must unlock: if it ends instead, because a guard
    /// was forgotten, the process aborts.
    Hemlock, HemlockGuard, RawHemlock, 1, GuardNoSend,
    pawl_rust_hemlock_lock, pawl_rust_hemlock_trylock, pawl_rust_hemlock_unlock);

lock!(
    /// Hemlock whose unlock does not wait for its successor.
    HemlockOverlap, HemlockOverlapGuard, RawHemlockOverlap, 1, GuardNoSend,
    pawl_rust_hemlock_overlap_lock, pawl_rust_hemlock_overlap_trylock, pawl_rust_hemlock_overlap_unlock);

lock!(
    /// Hemlock, optimised hand-over 1.
    HemlockOh1, HemlockOh1Guard, RawHemlockOh1, 1, GuardNoSend,
    pawl_rust_hemlock_oh1_lock, pawl_rust_hemlock_oh1_trylock, pawl_rust_hemlock_oh1_unlock);

lock!(
    /// Hemlock, optimised hand-over 2.
    HemlockOh2, HemlockOh2Guard, RawHemlockOh2, 1, GuardNoSend,
    pawl_rust_hemlock_oh2_lock, pawl_rust_hemlock_oh2_trylock, pawl_rust_hemlock_oh2_unlock);

lock!(
    /// Hemlock with chained waiters.
    HemlockChain, HemlockChainGuard, RawHemlockChain, 1, GuardNoSend,
    pawl_rust_hemlock_chain_lock, pawl_rust_hemlock_chain_trylock, pawl_rust_hemlock_chain_unlock);

lock!(
    /// Retrograde: segments of waiters, within one the latest first.
    Retrograde, RetrogradeGuard, RawRetrograde, 3, GuardSend,
    pawl_rust_retrograde_lock, pawl_rust_retrograde_trylock, pawl_rust_retrograde_unlock);

lock!(
    /// Retrograde that tosses a coin between latest and earliest.
    RetrogradeCoin, RetrogradeCoinGuard, RawRetrogradeCoin, 6, GuardSend,
    pawl_rust_retrograde_coin_lock, pawl_rust_retrograde_coin_trylock, pawl_rust_retrograde_coin_unlock);

lock!(
    /// Retrograde with a coin and a waiting array.
    RetrogradeTwa, RetrogradeTwaGuard, RawRetrogradeTwa, 6, GuardSend,
    pawl_rust_retrograde_twa_lock, pawl_rust_retrograde_twa_trylock, pawl_rust_retrograde_twa_unlock);

lock!(
    /// Capacitor: platoons in order, any order within.
    CapacitorPlain, CapacitorPlainGuard, RawCapacitorPlain, 4, GuardSend,
    pawl_rust_capacitor_plain_lock, pawl_rust_capacitor_plain_trylock, pawl_rust_capacitor_plain_unlock);

lock!(
    /// Capacitor around test-and-test-and-set.
    CapacitorTts, CapacitorTtsGuard, RawCapacitorTts, 4, GuardSend,
    pawl_rust_capacitor_tts_lock, pawl_rust_capacitor_tts_trylock, pawl_rust_capacitor_tts_unlock);

lock!(
    /// Capacitor around a ticket lock.
    CapacitorTicket, CapacitorTicketGuard, RawCapacitorTicket, 5, GuardSend,
    pawl_rust_capacitor_ticket_lock, pawl_rust_capacitor_ticket_trylock, pawl_rust_capacitor_ticket_unlock);

lock!(
    /// Capacitor around a stack of waiters.
    CapacitorLifo, CapacitorLifoGuard, RawCapacitorLifo, 4, GuardSend,
    pawl_rust_capacitor_lifo_lock, pawl_rust_capacitor_lifo_trylock, pawl_rust_capacitor_lifo_unlock);

lock!(
    /// Capacitor around several locks at once.
    CapacitorMultilane, CapacitorMultilaneGuard, RawCapacitorMultilane, 67, GuardSend,
    pawl_rust_capacitor_multilane_lock, pawl_rust_capacitor_multilane_trylock, pawl_rust_capacitor_multilane_unlock);

fair!(RawTicket RawTwa RawTwaHapax RawClh RawHemlockNaive RawHemlock RawHemlockOverlap RawHemlockOh1 RawHemlockOh2 RawHemlockChain);

extern "C" {
    fn pawl_rust_clh_destroy(l: *mut [u64; 2]);
}

/// A used CLH lock keeps a queue node.
impl Drop for RawClh {
    fn drop(&mut self) {
        unsafe { pawl_rust_clh_destroy(self.0.get()) }
    }
}
