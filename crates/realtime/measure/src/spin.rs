//! Locks for which CPUs spin, first come, first served.

use crate::apart::Apart;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, spin_loop};

/// A lock. Whoever takes it says who it is: a number below that for which the lock was made.
pub trait Lock: Send + Sync {
    /// Spins until it is `me` who has the lock.
    fn acquire(&self, me: usize);
    /// Takes it if nobody has it; whether `me` has it now.
    fn try_acquire(&self, me: usize) -> bool;
    /// Hands the lock on. `me` has it.
    fn release(&self, me: usize);
}

/// Takes `other` beside `own`, which is held, as Linux does (`double_lock_balance`): at once if
/// nobody has it. All wait for locks in the order of their numbers: whoever would wait for an
/// earlier one gives its own back meanwhile.
pub fn take_beside<L: Lock>(own: (usize, &L), other: (usize, &L), me: usize) {
    if other.1.try_acquire(me) {
        return;
    }
    if other.0 < own.0 {
        own.1.release(me);
        other.1.acquire(me);
        own.1.acquire(me);
    } else {
        other.1.acquire(me);
    }
}

/// A ticket lock: everybody looks at one line.
#[derive(Debug, Default)]
pub struct Ticket {
    next: AtomicUsize,
    serves: AtomicUsize,
}

impl Ticket {
    /// A lock that nobody has.
    pub fn new() -> Ticket {
        Ticket { next: AtomicUsize::new(0), serves: AtomicUsize::new(0) }
    }
}

impl Lock for Ticket {
    fn acquire(&self, _: usize) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serves.load(Ordering::Acquire) != ticket {
            spin_loop();
        }
    }
    fn try_acquire(&self, _: usize) -> bool {
        // Nobody has the lock if the next ticket is the one that is served. Who gave it back said
        // so here, and what it did is seen along with that.
        let served = self.serves.load(Ordering::Acquire);
        let taken = served.wrapping_add(1);
        self.next.compare_exchange(served, taken, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
    fn release(&self, _: usize) {
        let next = self.serves.load(Ordering::Relaxed).wrapping_add(1);
        self.serves.store(next, Ordering::Release);
    }
}

/// A queue in which everybody looks at a line of its own: Mellor-Crummey, Scott, "Algorithms for
/// scalable synchronization on shared-memory multiprocessors", ACM TOCS 9 (1991).
#[derive(Debug)]
pub struct Queued {
    /// Who came last, plus 1; 0: nobody has the lock.
    last: Apart<AtomicUsize>,
    places: Vec<Place>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Place {
    waits: AtomicBool,
    /// Who came after, plus 1.
    after: AtomicUsize,
}

impl Queued {
    /// A lock for so many, that nobody has.
    pub fn new(count: usize) -> Queued {
        let place = |_| Place { waits: AtomicBool::new(false), after: AtomicUsize::new(0) };
        Queued { last: Apart(AtomicUsize::new(0)), places: (0..count).map(place).collect() }
    }
}

impl Lock for Queued {
    fn acquire(&self, me: usize) {
        let place = &self.places[me];
        place.after.store(0, Ordering::Relaxed);
        place.waits.store(true, Ordering::Relaxed);
        let before = self.last.swap(me + 1, Ordering::AcqRel);
        if before == 0 {
            return;
        }
        self.places[before - 1].after.store(me + 1, Ordering::Release);
        while place.waits.load(Ordering::Acquire) {
            spin_loop();
        }
    }
    fn try_acquire(&self, me: usize) -> bool {
        self.places[me].after.store(0, Ordering::Relaxed);
        self.last.compare_exchange(0, me + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
    fn release(&self, me: usize) {
        let place = &self.places[me];
        let alone = self.last.compare_exchange(me + 1, 0, Ordering::Release, Ordering::Relaxed);
        if alone.is_ok() {
            return;
        }
        // Somebody came after, and is about to say who.
        let after = loop {
            match place.after.load(Ordering::Acquire) {
                0 => spin_loop(),
                after => break after - 1,
            }
        };
        self.places[after].waits.store(false, Ordering::Release);
    }
}
