//! Two threads count to two million, and nothing is lost.

use std::thread;

static COUNTER: pawl::Mutex<u64> = pawl::Mutex::new(0);

fn main() {
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| (0..1_000_000).for_each(|_| *COUNTER.lock() += 1));
        }
    });
    println!("{}", *COUNTER.lock());
}
