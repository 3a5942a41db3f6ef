//! A mailbox: many write, in a bounded number of steps whatever the others do; one reads.

use crate::apart::Apart;
use crate::sync::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering};

/// A ring of letters. Writers claim a place with two atomic operations and never wait for each
/// other; a letter that was claimed but not written yet keeps the reader from those behind it.
///
/// Source: the ring of Feather-Trace, as G-EDF-MP uses it (RTAS 2014).
#[derive(Debug)]
pub struct Mailbox {
    /// Places that are not claimed. Below 0 while writers find none.
    free: Apart<AtomicIsize>,
    written: Apart<AtomicUsize>,
    /// Of the reader alone.
    read: Apart<AtomicUsize>,
    places: Vec<Place>,
}

#[derive(Debug)]
#[repr(align(64))]
struct Place {
    ready: AtomicBool,
    letter: AtomicU64,
}

/// There was no place for a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mailbox is full")]
pub struct Full;

impl Mailbox {
    /// An empty mailbox for so many letters, a power of two.
    pub fn new(size: usize) -> Mailbox {
        let size = size.next_power_of_two();
        let place = |_| Place { ready: AtomicBool::new(false), letter: AtomicU64::new(0) };
        Mailbox {
            free: Apart(AtomicIsize::new(size as isize)),
            written: Apart(AtomicUsize::new(0)),
            read: Apart(AtomicUsize::new(0)),
            places: (0..size).map(place).collect(),
        }
    }

    /// Leaves a letter.
    ///
    /// # Errors
    /// There is no place, or others were just told so.
    pub fn post(&self, letter: u64) -> Result<(), Full> {
        if self.free.fetch_sub(1, Ordering::Acquire) <= 0 {
            self.free.fetch_add(1, Ordering::Relaxed);
            return Err(Full);
        }
        // Who has a place that was just read may be given another one, and this one to somebody who
        // never looked at `free` since: what the reader did goes along from one to the other.
        let at = self.written.fetch_add(1, Ordering::AcqRel);
        let place = &self.places[at & (self.places.len() - 1)];
        place.letter.store(letter, Ordering::Relaxed);
        place.ready.store(true, Ordering::Release);
        Ok(())
    }

    /// The oldest letter, if it is written. To be asked by one thread at a time.
    pub fn read(&self) -> Option<u64> {
        let at = self.read.load(Ordering::Relaxed);
        let place = &self.places[at & (self.places.len() - 1)];
        if !place.ready.load(Ordering::Acquire) {
            return None;
        }
        let letter = place.letter.load(Ordering::Relaxed);
        place.ready.store(false, Ordering::Relaxed);
        self.read.store(at.wrapping_add(1), Ordering::Relaxed);
        self.free.fetch_add(1, Ordering::Release);
        Some(letter)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::Mailbox;
    use crate::apart::lines;

    #[test]
    fn what_writers_count_does_not_take_a_line_from_the_reader() {
        let mailbox = Mailbox::new(2);
        let mut of = [
            lines(&mailbox.free),
            lines(&mailbox.written),
            lines(&mailbox.read),
            lines(&mailbox.places),
        ];
        of.sort_by_key(|it| *it.start());
        assert!(of.is_sorted_by(|one, next| one.end() < next.start()), "{of:?}");
    }
}
