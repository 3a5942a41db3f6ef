//! The protocol of wakeups as emitted, in every order that the memory of a machine allows. Guests
//! of QEMU whose CPUs take turns never show these orders, and neither do the explorer and the
//! invariant: there, each access is one step that all CPUs see at once.
//!
//! A queue is its length under a lock, as in the kernel; looks read the length without the lock. A
//! flag is read as any other variable before it is exchanged (`claim` in emit/text/claim.c). An
//! exchange in BPF is a full barrier.

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// What CPUs share.
struct Shared<const CPUS: usize> {
    idle: [AtomicBool; CPUS],
    /// How many tasks wait, as looks read it, and the lock under which it changes.
    queued: AtomicUsize,
    lock: Mutex<()>,
    kicked: [AtomicBool; CPUS],
    taken: AtomicUsize,
}

/// How it is emitted, or not.
#[derive(Clone, Copy)]
struct How {
    /// A put has a barrier between the insertion and the search.
    barrier: bool,
    /// Who took a task searches CPUs for those that wait.
    chain: bool,
    /// A CPU sets its flag before it looks.
    first: bool,
}

const RIGHT: How = How { barrier: true, chain: true, first: true };

impl<const CPUS: usize> Shared<CPUS> {
    fn new() -> Shared<CPUS> {
        Shared {
            idle: std::array::from_fn(|_| AtomicBool::new(false)),
            queued: AtomicUsize::new(0),
            lock: Mutex::new(()),
            kicked: std::array::from_fn(|_| AtomicBool::new(false)),
            taken: AtomicUsize::new(0),
        }
    }

    /// An exchange in BPF.
    fn exchange(flag: &AtomicBool, value: bool) -> bool {
        fence(Ordering::SeqCst);
        let before = flag.swap(value, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        before
    }

    /// Claims an idle CPU, and kicks it.
    fn search(&self) -> bool {
        let claim = |cpu: &usize| {
            let flag = &self.idle[*cpu];
            flag.load(Ordering::Relaxed) && Self::exchange(flag, false)
        };
        let Some(cpu) = (0..CPUS).find(claim) else { return false };
        self.kicked[cpu].store(true, Ordering::Release);
        true
    }

    fn put(&self, how: How) {
        {
            let _held = self.lock.lock();
            let queued = self.queued.load(Ordering::Relaxed);
            self.queued.store(queued + 1, Ordering::Relaxed);
        }
        if how.barrier {
            fence(Ordering::SeqCst);
        }
        self.search();
    }

    /// One dispatch. Whether it took a task.
    fn dispatch(&self, cpu: usize, how: How) -> bool {
        if how.first {
            Self::exchange(&self.idle[cpu], true);
        }
        let mut took = false;
        if self.queued.load(Ordering::Relaxed) > 0 {
            let _held = self.lock.lock();
            let queued = self.queued.load(Ordering::Relaxed);
            took = queued > 0;
            if took {
                self.queued.store(queued - 1, Ordering::Relaxed);
            }
        }
        if !how.first {
            Self::exchange(&self.idle[cpu], true);
        }
        if took {
            self.taken.fetch_add(1, Ordering::Relaxed);
            Self::exchange(&self.idle[cpu], false);
            if how.chain && self.queued.load(Ordering::Relaxed) > 0 {
                self.search();
            }
        }
        took
    }
}

/// Two CPUs look for a task, and `tasks` are put. In the end, kicks arrive; then no task may wait
/// beside a CPU that sleeps.
fn every_order<const CPUS: usize>(how: How, tasks: usize) {
    let mut limits = loom::model::Builder::new();
    limits.preemption_bound = Some(3);
    limits.check(move || {
        let shared = Arc::new(Shared::<CPUS>::new());
        let cpus: Vec<_> = (0..CPUS)
            .map(|cpu| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.dispatch(cpu, how))
            })
            .collect();
        (0..tasks).for_each(|_| shared.put(how));
        let mut busy: Vec<bool> =
            cpus.into_iter().map(|cpu| cpu.join().expect("it ends")).collect();
        // Who sleeps and was kicked looks again, until nobody is.
        while let Some(cpu) =
            (0..CPUS).find(|cpu| !busy[*cpu] && shared.kicked[*cpu].swap(false, Ordering::AcqRel))
        {
            busy[cpu] = shared.dispatch(cpu, how);
        }
        let waits = shared.queued.load(Ordering::Relaxed);
        assert!(waits == 0 || busy.iter().all(|busy| *busy), "a wakeup is lost: {waits} wait");
    });
}

fn loses(how: How, tasks: usize) -> bool {
    std::panic::catch_unwind(|| every_order::<2>(how, tasks)).is_err()
}

#[test]
fn no_wakeup_is_lost_in_any_order_of_memory() {
    every_order::<1>(RIGHT, 1);
    every_order::<1>(RIGHT, 2);
    every_order::<2>(RIGHT, 1);
    every_order::<2>(RIGHT, 2);
}

#[test]
fn each_part_of_the_protocol_is_needed() {
    assert!(loses(How { barrier: false, ..RIGHT }, 1), "the search may come before the insertion");
    assert!(loses(How { first: false, ..RIGHT }, 1), "the flag has to be set before the look");
    assert!(loses(How { chain: false, ..RIGHT }, 2), "a claimed CPU may take another task");
}
