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

/// Waits until that thread sleeps: `task` is where the kernel tells of it.
fn await_asleep(task: &std::path::Path) {
    let state = || std::fs::read_to_string(task.join("stat")).unwrap();
    while !state().rsplit(')').next().unwrap().starts_with(" S") {
        thread::yield_now();
    }
}

/// Whoever hands the lock to a waiter does not get it back before the waiter had it.
fn serves_those_that_wait<R: RawMutexFair + Send + Sync>(by_bump: bool) {
    let mutex = lock_api::Mutex::<R, Vec<u32>>::new(Vec::new());
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    thread::scope(|s| {
        let mut held = mutex.lock();
        s.spawn(|| {
            tell.send(std::fs::canonicalize("/proc/thread-self").unwrap()).unwrap();
            mutex.lock().push(2);
        });
        await_asleep(&told.recv().unwrap());
        held.push(1);
        if by_bump {
            lock_api::MutexGuard::bump(&mut held);
        } else {
            lock_api::MutexGuard::unlock_fair(held);
            held = mutex.lock();
        }
        held.push(3);
    });
    assert_eq!(*mutex.lock(), [1, 2, 3]);
}

#[test]
fn fair_locks_serve_those_that_wait() {
    for by_bump in [false, true] {
        serves_those_that_wait::<RawMutex_>(by_bump);
        serves_those_that_wait::<RawFairMutex>(by_bump);
        serves_those_that_wait::<RawTicket>(by_bump);
        serves_those_that_wait::<RawClh>(by_bump);
    }
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
