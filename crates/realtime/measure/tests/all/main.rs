//! What is measured is there, and of the right kind; how long it takes is no business of a test.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wastenot_measure::{
    Benchmark, Error, Full, Lock, Mailbox, Queued, Row, Ticket, measure, take_beside, usable,
};

#[test]
fn every_benchmark_decides_on_as_many_cpus_as_there_are() {
    let usable = usable().expect("CPUs");
    for benchmark in Benchmark::ALL {
        for cpus in [1, 2] {
            let Some(on) = usable.get(..cpus) else {
                let test = format!("{benchmark:?} on {cpus}");
                wastenot_needs::skipped(&test, "there is one CPU", "use a machine with two");
                continue;
            };
            if !benchmark.cpus().contains(&cpus) {
                let refused = measure(benchmark, on, Duration::ZERO);
                assert!(matches!(refused, Err(Error::Other { asked: 1, .. })), "{refused:?}");
                continue;
            }
            let measured = |ms| {
                let rows = measure(benchmark, on, Duration::from_millis(ms));
                rows.unwrap_or_else(|error| panic!("{benchmark:?} on {cpus}: {error}"))
            };
            let kinds = |rows: &[Row]| rows.iter().map(|row| row.kind).collect::<Vec<_>>();
            // Who shares the machine may have to wait until all threads run.
            let mut all = [20, 200, 2_000, 20_000].into_iter().map(measured);
            let rows = all.find(|rows| kinds(rows) == benchmark.kinds());
            let rows =
                rows.unwrap_or_else(|| panic!("{benchmark:?} on {cpus}: not every kind is seen"));
            for row in &rows {
                let quantiles = [0.5, 0.99, 0.999, 1.0].map(|share| row.lengths.quantile(share));
                assert!(quantiles.is_sorted() && quantiles[3] == Some(row.lengths.max), "{row:?}");
            }
        }
    }
}

#[test]
fn a_full_mailbox_says_so_and_takes_letters_again_once_one_is_read() {
    let mailbox = Mailbox::new(4);
    (0..4).for_each(|letter| mailbox.post(letter).expect("there is room"));
    assert_eq!(mailbox.post(4), Err(Full));
    assert_eq!(mailbox.read(), Some(0));
    assert_eq!(mailbox.post(5), Ok(()));
    assert_eq!(mailbox.post(6), Err(Full));
    let rest: Vec<u64> = std::iter::from_fn(|| mailbox.read()).collect();
    assert_eq!(rest, [1, 2, 3, 5]);
}

/// A lock that counts how often it was given back.
struct Counted<L>(L, AtomicUsize);

impl<L: Lock> Lock for Counted<L> {
    fn acquire(&self, me: usize) {
        self.0.acquire(me);
    }
    fn try_acquire(&self, me: usize) -> bool {
        self.0.try_acquire(me)
    }
    fn release(&self, me: usize) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.release(me);
    }
}

#[test]
fn whoever_takes_a_second_lock_that_is_free_keeps_its_own() {
    fn keeps<L: Lock>(lock: impl Fn() -> L) {
        for (own, other) in [(0, 1), (1, 0)] {
            let locks = [(); 2].map(|()| Counted(lock(), AtomicUsize::new(0)));
            locks[own].acquire(own);
            take_beside((own, &locks[own]), (other, &locks[other]), own);
            assert!(!locks[own].try_acquire(other) && !locks[other].try_acquire(other));
            assert_eq!(locks[own].1.load(Ordering::Relaxed), 0, "{own} beside {other}");
            locks[other].release(own);
            assert!(locks[other].try_acquire(other));
        }
    }
    keeps(Ticket::new);
    keeps(|| Queued::new(2));
}
