//! locks.rs - what Rust may expect of every lock, of deadlines and of the condition variable

use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};
use pawl::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

fn excludes<R: RawMutex + Send + Sync>() {
    const THREADS: usize = 3;
    const ROUNDS: usize = 2000;
    let mutex = lock_api::Mutex::<R, usize>::new(0);
    thread::scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| {
                for i in 0..ROUNDS {
                    if i % 8 != 0 {
                        *mutex.lock() += 1;
                    } else {
                        loop {
                            if let Some(mut n) = mutex.try_lock() {
                                *n += 1;
                                break;
                            }
                            thread::yield_now();
                        }
                    }
                }
            });
        }
    });
    assert_eq!(*mutex.lock(), THREADS * ROUNDS);
    let held = mutex.lock();
    assert!(mutex.try_lock().is_none());
    drop(held);
    assert!(mutex.try_lock().is_some());
}

macro_rules! every_lock_excludes {
    ($($name:ident $raw:ident)*) => { $(
        #[test]
        fn $name() {
            excludes::<$raw>();
        }
    )* };
}

every_lock_excludes! {
    mutex RawMutex_ fairmutex RawFairMutex tts RawTts ticket RawTicket twa RawTwa twa_hapax RawTwaHapax
    clh RawClh lifo RawLifo
    hemlock_naive RawHemlockNaive hemlock RawHemlock hemlock_overlap RawHemlockOverlap hemlock_oh1 RawHemlockOh1
    hemlock_oh2 RawHemlockOh2 hemlock_chain RawHemlockChain retrograde RawRetrograde
    retrograde_coin RawRetrogradeCoin retrograde_twa RawRetrogradeTwa capacitor_plain RawCapacitorPlain
    capacitor_tts RawCapacitorTts capacitor_ticket RawCapacitorTicket capacitor_lifo RawCapacitorLifo
    capacitor_multilane RawCapacitorMultilane
}

use pawl::RawMutex as RawMutex_;

#[test]
fn sizes_are_those_of_the_papers() {
    assert_eq!(std::mem::size_of::<RawMutex_>(), 24);
    assert_eq!(std::mem::size_of::<RawFairMutex>(), 8);
    assert_eq!(std::mem::size_of::<FairMutex<()>>(), 8);
    assert_eq!(std::mem::size_of::<Condvar>(), 8);
}

fn times_out<R: RawMutexTimed<Duration = Duration, Instant = Instant> + Send + Sync>() {
    let mutex = lock_api::Mutex::<R, ()>::new(());
    let held = mutex.lock();
    thread::scope(|s| {
        s.spawn(|| {
            let begin = Instant::now();
            assert!(mutex.try_lock_for(Duration::from_millis(20)).is_none());
            assert!(begin.elapsed() >= Duration::from_millis(20));
            assert!(mutex.try_lock_until(begin).is_none());
        });
    });
    thread::scope(|s| {
        s.spawn(|| assert!(mutex.try_lock_for(Duration::MAX).is_some()));
        drop(held);
    });
    assert!(mutex.try_lock_for(Duration::ZERO).is_some());
}

#[test]
fn deadlines_are_kept() {
    times_out::<RawMutex_>();
    times_out::<RawFairMutex>();
}

/// How a thread tells another, without sleeping, where the kernel tells of it.
#[derive(Default)]
struct Seen(AtomicUsize);

impl Seen {
    fn here(&self) {
        let link = std::fs::read_link("/proc/thread-self").unwrap();
        self.0.store(link.file_name().unwrap().to_str().unwrap().parse().unwrap(), Ordering::SeqCst);
    }

    /// Waits until that thread sleeps.
    fn await_asleep(&self) {
        let state = || std::fs::read_to_string(format!("/proc/self/task/{}/stat", self.0.load(Ordering::SeqCst)));
        while self.0.load(Ordering::SeqCst) == 0 || !state().unwrap().rsplit(')').next().unwrap().starts_with(" S") {
            thread::yield_now();
        }
    }
}

/// After a fair unlock, a thread that sleeps in the queue is the owner, whether it has run or not. A plain unlock of
/// `Mutex` does the same if the waiter's share is over, so tests/rust/run.sh looks whether the fair one is called.
fn hands_over_to_those_that_wait<R: RawMutexFair + Send + Sync>() {
    let (mutex, seen) = (lock_api::Mutex::<R, ()>::new(()), Seen::default());
    let (let_go, told) = std::sync::mpsc::channel::<()>();
    thread::scope(|s| {
        let held = mutex.lock();
        let (mutex, seen) = (&mutex, &seen);
        s.spawn(move || {
            seen.here();
            let _held = mutex.lock();
            told.recv().unwrap();
        });
        seen.await_asleep();
        lock_api::MutexGuard::unlock_fair(held);
        let barged = mutex.try_lock().is_some();
        let_go.send(()).unwrap();
        assert!(!barged, "the mutex was free");
    });
}

/// Whoever hands the lock to a waiter does not get it back before the waiter had it.
fn bump_serves_those_that_wait<R: RawMutexFair + Send + Sync>() {
    let (mutex, seen) = (lock_api::Mutex::<R, Vec<u32>>::new(Vec::new()), Seen::default());
    thread::scope(|s| {
        let mut held = mutex.lock();
        s.spawn(|| {
            seen.here();
            mutex.lock().push(2);
        });
        seen.await_asleep();
        held.push(1);
        lock_api::MutexGuard::bump(&mut held);
        held.push(3);
    });
    assert_eq!(*mutex.lock(), [1, 2, 3]);
}

#[test]
fn fair_unlock_hands_over() {
    hands_over_to_those_that_wait::<RawMutex_>();
    hands_over_to_those_that_wait::<RawFairMutex>();
    hands_over_to_those_that_wait::<RawTicket>();
    hands_over_to_those_that_wait::<RawClh>();
}

#[test]
fn bump_lets_others_go_first() {
    bump_serves_those_that_wait::<RawMutex_>();
    bump_serves_those_that_wait::<RawFairMutex>();
    bump_serves_those_that_wait::<RawTicket>();
    bump_serves_those_that_wait::<RawClh>();
}

fn hands_over<R: RawWait + Send + Sync>() {
    let (mutex, condvar) = (lock_api::Mutex::<R, usize>::new(0), Condvar::new());
    let ended = AtomicUsize::new(0);
    const WAITERS: usize = 4;
    thread::scope(|s| {
        for _ in 0..WAITERS {
            s.spawn(|| {
                let mut turn = mutex.lock();
                condvar.wait_while(&mut turn, |t| *t == 0);
                *turn -= 1;
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        *mutex.lock() = 1;
        condvar.notify_one();
        while ended.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
            condvar.notify_one(); // the first may have come before anybody waited
        }
        *mutex.lock() += WAITERS - 1;
        condvar.notify_all();
    });
    assert_eq!((ended.into_inner(), *mutex.lock()), (WAITERS, 0));

    let mut guard = mutex.lock();
    let begin = Instant::now();
    assert!(condvar.wait_for(&mut guard, Duration::from_millis(20)).timed_out());
    assert!(begin.elapsed() >= Duration::from_millis(20));
    assert!(condvar.wait_until(&mut guard, begin).timed_out());
    drop(guard);
    assert!(mutex.try_lock().is_some());
}

#[test]
fn condvar_hands_over() {
    hands_over::<RawMutex_>();
    hands_over::<RawFairMutex>();
}

#[test]
fn statics_need_no_initialisation() {
    static READY: Condvar = Condvar::new();
    static VALUE: Mutex<Option<u32>> = Mutex::new(None);
    let giver = thread::spawn(|| {
        *VALUE.lock() = Some(7);
        READY.notify_all();
    });
    let mut value = VALUE.lock();
    READY.wait_while(&mut value, |v| v.is_none());
    assert_eq!(*value, Some(7));
    drop(value);
    giver.join().unwrap();
}

/// A guard that can be sent outlives the thread that locked: the lock must not point into that thread's memory.
fn unlocks_after_the_thread<R: RawMutex + Send + Sync>()
where
    R::GuardMarker: Send,
{
    let mutex = lock_api::Mutex::<R, usize>::new(0);
    thread::scope(|s| {
        for _ in 0..3 {
            *s.spawn(|| mutex.lock()).join().unwrap() += 1;
        }
        std::mem::forget(s.spawn(|| mutex.lock()).join().unwrap());
    });
    assert!(mutex.try_lock().is_none());
    unsafe { mutex.force_unlock() };
    assert_eq!(*mutex.lock(), 3);
}

#[test]
fn guards_outlive_threads() {
    unlocks_after_the_thread::<RawMutex_>();
    unlocks_after_the_thread::<RawFairMutex>();
    unlocks_after_the_thread::<RawTts>();
    unlocks_after_the_thread::<RawTicket>();
    unlocks_after_the_thread::<RawTwa>();
    unlocks_after_the_thread::<RawTwaHapax>();
    unlocks_after_the_thread::<RawClh>();
    unlocks_after_the_thread::<RawLifo>();
    unlocks_after_the_thread::<RawRetrograde>();
    unlocks_after_the_thread::<RawRetrogradeCoin>();
    unlocks_after_the_thread::<RawRetrogradeTwa>();
    unlocks_after_the_thread::<RawCapacitorPlain>();
    unlocks_after_the_thread::<RawCapacitorTts>();
    unlocks_after_the_thread::<RawCapacitorTicket>();
    unlocks_after_the_thread::<RawCapacitorLifo>();
    unlocks_after_the_thread::<RawCapacitorMultilane>();
}

/// Runs one test of this program again, in a process of its own, and returns what it says and its signal.
fn again(test: &str, part: &str) -> (String, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    let me = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("PART", part)
        .output()
        .unwrap();
    (String::from_utf8_lossy(&me.stderr).into_owned(), me.status.signal())
}

fn forgets<R: RawMutex + Send + Sync + 'static>() {
    let mutex: &'static lock_api::Mutex<R, ()> = Box::leak(Box::new(lock_api::Mutex::new(())));
    thread::spawn(|| std::mem::forget(mutex.lock())).join().unwrap();
    drop(mutex.lock()); // would wait in the memory of a thread that is gone
}

/// Hemlock's locks point into their owner's thread. Forgetting a guard is safe Rust, so it must not end in freed memory.
#[test]
fn owner_of_a_hemlock_does_not_end() {
    const ABORT: i32 = 6;
    match std::env::var("PART").as_deref() {
        Ok("naive") => forgets::<RawHemlockNaive>(),
        Ok("hemlock") => forgets::<RawHemlock>(),
        Ok("overlap") => forgets::<RawHemlockOverlap>(),
        Ok("oh1") => forgets::<RawHemlockOh1>(),
        Ok("oh2") => forgets::<RawHemlockOh2>(),
        Ok("chain") => forgets::<RawHemlockChain>(),
        Ok(_) => {
            let mutex: &'static Hemlock<()> = Box::leak(Box::new(Hemlock::new(())));
            thread::spawn(|| std::mem::forget(mutex.try_lock())).join().unwrap();
        }
        Err(_) => {
            for part in ["naive", "hemlock", "overlap", "oh1", "oh2", "chain", "try_lock"] {
                let (said, signal) = again("owner_of_a_hemlock_does_not_end", part);
                assert_eq!(signal, Some(ABORT), "{part}: {said}");
                assert!(said.contains("pawl: a thread ends that owns a Hemlock lock"), "{part}: {said}");
            }
        }
    }
}

/// A thread may keep a guard to its end, if that drops it.
#[test]
fn guard_of_a_hemlock_may_be_thread_local() {
    static LOCK: Hemlock<u32> = Hemlock::new(0);
    thread_local!(static KEPT: std::cell::RefCell<Option<HemlockGuard<'static, u32>>> = Default::default());
    for _ in 0..3 {
        thread::spawn(|| KEPT.with(|k| *k.borrow_mut() = Some(LOCK.lock()))).join().unwrap();
        *LOCK.lock() += 1;
    }
    assert_eq!(*LOCK.lock(), 3);
}

/// Waiters of several mutexes at once are a mistake, but one that safe Rust can make: each gets its own mutex back.
fn serves_waiters_of_several_mutexes<R: RawWait + Send + Sync>() {
    const WAITERS: usize = 6;
    let (mutexes, condvar) = ([(); 3].map(|()| lock_api::Mutex::<R, usize>::new(0)), Condvar::new());
    let (seen, ended) = ([(); WAITERS].map(|()| Seen::default()), AtomicUsize::new(0));
    thread::scope(|s| {
        for (i, seen) in seen.iter().enumerate() {
            let (mutex, condvar, ended) = (&mutexes[i % 3], &condvar, &ended);
            s.spawn(move || {
                let mut held = mutex.lock();
                seen.here();
                condvar.wait(&mut held);
                assert!(mutex.try_lock().is_none());
                *held += 1;
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        seen.iter().for_each(Seen::await_asleep);
        while ended.load(Ordering::SeqCst) < WAITERS {
            condvar.notify_one();
            condvar.notify_all();
            thread::yield_now();
        }
    });
    for mutex in &mutexes {
        assert_eq!(*mutex.lock(), WAITERS / 3);
    }
}

#[test]
fn condvar_copes_with_several_mutexes() {
    serves_waiters_of_several_mutexes::<RawMutex_>();
    serves_waiters_of_several_mutexes::<RawFairMutex>();
}
