//! compare.rs - Pawl's mutexes beside those of parking_lot and of the standard library: `cargo bench`
//!
//!   cargo bench -- [MILLISECONDS [RUNS]]
//!
//! For each: nanoseconds of an uncontended lock and unlock, and with several threads million acquisitions per second
//! and the longest wait. As Criterion has it, without its hundred crates: a warm-up, RUNS (20) samples of MILLISECONDS
//! (50), the median with the interval that has it with 95 % confidence, by bootstrapping, and the same for how many times
//! that of std::sync::Mutex it is. The mutexes take turns, so that a machine that slows down does so for all of them.

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
    for _ in 0..1000 {
        black_box(&lock).with(|n| *n += 1);
    }
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.total_cmp(b));
    values[values.len() / 2]
}

/// As many of the values as there are, each drawn from all of them (splitmix64).
fn resample(values: &[f64], state: &mut u64) -> Vec<f64> {
    let mut draw = || {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize
    };
    values.iter().map(|_| values[draw() % values.len()]).collect()
}

/// What `of` makes of the values, and between which bounds 95 % of its results with resampled ones are.
fn estimate(values: &[f64], reference: &[f64], of: fn(f64, f64) -> f64) -> String {
    const RESAMPLED: usize = 1000;
    let mut state = 1;
    let mut found: Vec<f64> = (0..RESAMPLED)
        .map(|_| {
            of(
                median(resample(values, &mut state)),
                median(resample(reference, &mut state)),
            )
        })
        .collect();
    found.sort_by(|a, b| a.total_cmp(b));
    format!(
        "{:>8.2} [{:.2} {:.2}]",
        of(median(values.to_vec()), median(reference.to_vec())),
        found[RESAMPLED / 40],
        found[RESAMPLED - 1 - RESAMPLED / 40]
    )
}

/// The values of a subject, and how many times those of the last, which is std's.
fn show(unit: &str, results: &[Vec<f64>], i: usize) -> String {
    let (own, std) = (&results[i], &results[results.len() - 1]);
    format!(
        "{} {unit}; {} x std",
        estimate(own, std, |a, _| a),
        estimate(own, std, |a, b| a / b)
    )
}

struct Subject {
    name: &'static str,
    alone: fn(Duration) -> f64,
    together: fn(usize, Duration) -> (f64, f64),
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let time = Duration::from_millis(*numbers.first().unwrap_or(&50));
    let runs = *numbers.get(1).unwrap_or(&20) as usize;
    let cpus = thread::available_parallelism().map_or(1, |n| n.get());
    macro_rules! subjects {
        ($($name:literal $type:ty),*) => {
            [$(Subject { name: $name, alone: alone::<$type>, together: together::<$type> }),*]
        };
    }
    let subjects = subjects!["pawl::Mutex" PawlMutex, "pawl::FairMutex" PawlFair, "parking_lot::Mutex" ParkingLot,
        "parking_lot::FairMutex" ParkingLotFair, "std::sync::Mutex" Standard];
    println!("uncontended lock and unlock");
    let results = transpose(
        (0..runs)
            .map(|_| subjects.iter().map(|s| (s.alone)(time)).collect())
            .collect(),
    );
    for (i, s) in subjects.iter().enumerate() {
        println!("  {:<24}{}", s.name, show("ns", &results, i));
    }
    for threads in [cpus, cpus * 8] {
        println!("{threads} threads: acquisitions; longest wait");
        let results = transpose(
            (0..runs)
                .map(|_| subjects.iter().map(|s| (s.together)(threads, time)).collect())
                .collect(),
        );
        let part = |of: fn(&(f64, f64)) -> f64| -> Vec<Vec<f64>> {
            results.iter().map(|r| r.iter().map(of).collect()).collect()
        };
        let (rates, waits) = (part(|r| r.0), part(|r| r.1));
        for (i, s) in subjects.iter().enumerate() {
            println!("  {:<24}{}; {}", s.name, show("M/s", &rates, i), show("ms", &waits, i));
        }
    }
}

fn transpose<T: Copy>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    (0..rows[0].len())
        .map(|i| rows.iter().map(|r| r[i]).collect())
        .collect()
}
