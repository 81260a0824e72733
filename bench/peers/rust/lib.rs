//! lib.rs - the mutexes of Rust's standard library and of parking_lot, with their condition variables, for C
//!
//! Rust unlocks with the guard that lock() gave, so it lies in the caller's context as long as the lock is held.

use std::{mem, ptr};

/// Of a mutex, and of a condition variable; and of a guard. rust.c has the same.
const ROOM: usize = 64;
const GUARD_ROOM: usize = 16;

macro_rules! adapter {
    ($library:ident, $got:expr, $wait:expr, $init:ident, $cond_init:ident, $lock:ident, $unlock:ident,
     $wait_name:ident, $signal:ident) => {
        const _: () = {
            assert!(mem::size_of::<$library::Mutex<()>>() <= ROOM);
            assert!(mem::size_of::<$library::Condvar>() <= ROOM);
            assert!(mem::size_of::<$library::MutexGuard<()>>() <= GUARD_ROOM);
        };

        #[no_mangle]
        pub unsafe extern "C" fn $init(mutex: *mut $library::Mutex<()>) {
            ptr::write(mutex, $library::Mutex::new(()));
        }

        #[no_mangle]
        pub unsafe extern "C" fn $cond_init(cond: *mut $library::Condvar) {
            ptr::write(cond, $library::Condvar::new());
        }

        #[no_mangle]
        pub unsafe extern "C" fn $lock(
            mutex: *const $library::Mutex<()>,
            guard: *mut $library::MutexGuard<'static, ()>,
        ) {
            ptr::write(guard, $got((*mutex).lock()));
        }

        #[no_mangle]
        pub unsafe extern "C" fn $unlock(guard: *mut $library::MutexGuard<'static, ()>) {
            ptr::drop_in_place(guard);
        }

        #[no_mangle]
        pub unsafe extern "C" fn $wait_name(
            cond: *const $library::Condvar,
            guard: *mut $library::MutexGuard<'static, ()>,
        ) {
            $wait(&*cond, guard);
        }

        #[no_mangle]
        pub unsafe extern "C" fn $signal(cond: *const $library::Condvar) {
            (*cond).notify_one();
        }
    };
}

use std::sync as standard;

/// Nobody panics while it holds a lock, so none is poisoned.
fn unpoisoned<T>(result: standard::LockResult<T>) -> T {
    match result {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

unsafe fn wait_standard(cond: &standard::Condvar, guard: *mut standard::MutexGuard<'static, ()>) {
    ptr::write(guard, unpoisoned(cond.wait(ptr::read(guard))));
}

adapter!(
    standard, unpoisoned, wait_standard, bench_rust_std_init, bench_rust_std_cond_init, bench_rust_std_lock,
    bench_rust_std_unlock, bench_rust_std_wait, bench_rust_std_signal
);

fn itself<T>(guard: T) -> T {
    guard
}

unsafe fn wait_parking_lot(
    cond: &parking_lot::Condvar,
    guard: *mut parking_lot::MutexGuard<'static, ()>,
) {
    cond.wait(&mut *guard);
}

adapter!(
    parking_lot, itself, wait_parking_lot, bench_rust_parking_lot_init, bench_rust_parking_lot_cond_init,
    bench_rust_parking_lot_lock, bench_rust_parking_lot_unlock, bench_rust_parking_lot_wait,
    bench_rust_parking_lot_signal
);
