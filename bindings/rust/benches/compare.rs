//! compare.rs - Pawl's mutexes beside those of parking_lot and of the standard library: `cargo bench`
//!
//!   cargo bench -- [MILLISECONDS [RUNS]]
//!
//! For each: nanoseconds of an uncontended lock and unlock, and with several threads million acquisitions per second
//! and the longest wait. Medians of RUNS (5) with the smallest and the largest; the mutexes take turns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The compiler does not see what comes out; std's is newer than Debian's compiler.
fn black_box<T>(x: T) -> T {
    let out = unsafe { std::ptr::read_volatile(&x) };
    std::mem::forget(x);
    out
}

trait Locks: Sync + Default {
    fn with(&self, section: impl FnOnce(&mut u64));
}

macro_rules! subject {
    ($name:ident, $mutex:ty $(, $unwrap:ident)?) => {
        #[derive(Default)]
        struct $name($mutex);
        impl Locks for $name {
            #[inline]
            fn with(&self, section: impl FnOnce(&mut u64)) {
                section(&mut *self.0.lock()$(.$unwrap())?)
            }
        }
    };
}

subject!(PawlMutex, pawl::Mutex<u64>);
subject!(PawlFair, pawl::FairMutex<u64>);
subject!(ParkingLot, parking_lot::Mutex<u64>);
subject!(ParkingLotFair, parking_lot::FairMutex<u64>);
subject!(Standard, std::sync::Mutex<u64>, unwrap);

/// Nanoseconds of a lock and an unlock.
fn alone<L: Locks>(time: Duration) -> f64 {
    let lock = L::default();
    let (begin, mut count) = (Instant::now(), 0u64);
    while begin.elapsed() < time {
        for _ in 0..1000 {
            black_box(&lock).with(|n| *n += 1);
        }
        count += 1000;
    }
    begin.elapsed().as_nanos() as f64 / count as f64
}

/// Million acquisitions per second, and the longest wait in milliseconds.
fn together<L: Locks>(threads: usize, time: Duration) -> (f64, f64) {
    let (lock, stop, start) = (L::default(), AtomicBool::new(false), Barrier::new(threads + 1));
    let (mut total, mut longest) = (0u64, Duration::ZERO);
    thread::scope(|s| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                s.spawn(|| {
                    let (mut count, mut worst) = (0u64, Duration::ZERO);
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        let asked = Instant::now();
                        lock.with(|n| {
                            worst = worst.max(asked.elapsed());
                            *n += 1;
                        });
                        count += 1;
                        for i in 0..50 {
                            black_box(i);
                        }
                    }
                    (count, worst)
                })
            })
            .collect();
        start.wait();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            let (count, worst) = worker.join().unwrap();
            total += count;
            longest = longest.max(worst);
        }
    });
    (total as f64 / time.as_secs_f64() / 1e6, longest.as_secs_f64() * 1e3)
}

fn summary(mut values: Vec<f64>) -> String {
    values.sort_by(|a, b| a.total_cmp(b));
    format!(
        "{:>8.2} [{:.2} {:.2}]",
        values[values.len() / 2],
        values[0],
        values[values.len() - 1]
    )
}

struct Subject {
    name: &'static str,
    alone: fn(Duration) -> f64,
    together: fn(usize, Duration) -> (f64, f64),
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let time = Duration::from_millis(*numbers.first().unwrap_or(&200));
    let runs = *numbers.get(1).unwrap_or(&5) as usize;
    let cpus = thread::available_parallelism().map_or(1, |n| n.get());
    macro_rules! subjects {
        ($($name:literal $type:ty),*) => {
            [$(Subject { name: $name, alone: alone::<$type>, together: together::<$type> }),*]
        };
    }
    let subjects = subjects!["pawl::Mutex" PawlMutex, "pawl::FairMutex" PawlFair, "parking_lot::Mutex" ParkingLot,
        "parking_lot::FairMutex" ParkingLotFair, "std::sync::Mutex" Standard];
    println!("ns per uncontended pair");
    let results: Vec<Vec<f64>> = transpose(
        (0..runs)
            .map(|_| subjects.iter().map(|s| (s.alone)(time)).collect())
            .collect(),
    );
    for (s, r) in subjects.iter().zip(results) {
        println!("  {:<24}{}", s.name, summary(r));
    }
    for threads in [cpus, cpus * 8] {
        println!("{threads} threads: million acquisitions per second; longest wait in ms");
        let results = transpose(
            (0..runs)
                .map(|_| subjects.iter().map(|s| (s.together)(threads, time)).collect())
                .collect(),
        );
        for (s, r) in subjects.iter().zip(results) {
            let (rates, waits): (Vec<f64>, Vec<f64>) = r.into_iter().unzip();
            println!("  {:<24}{};{}", s.name, summary(rates), summary(waits));
        }
    }
}

fn transpose<T: Copy>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    (0..rows[0].len())
        .map(|i| rows.iter().map(|r| r[i]).collect())
        .collect()
}
