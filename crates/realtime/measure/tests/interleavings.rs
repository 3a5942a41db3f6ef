//! Locks and mailboxes under all interleavings of a few threads with up to three preemptions.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use wastenot_measure::{Lock, Mailbox, Queued, Ticket, take_beside};

/// Two threads, each in the lock twice, the second time if nobody has it: nobody meets anybody
/// there. (Of three that spin loom tries orders without end in which those two that wait take
/// turns.)
fn excludes<L: Lock + 'static>(lock: impl Fn() -> L + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let lock = Arc::new(lock());
        // Not atomic in what is done with it: a load, then a store.
        let inside = Arc::new(AtomicUsize::new(0));
        let enter = |me: usize| {
            let (lock, inside) = (lock.clone(), inside.clone());
            move || {
                let mut entered = 0;
                for waits in [true, false] {
                    match waits {
                        true => lock.acquire(me),
                        false if lock.try_acquire(me) => {}
                        false => continue,
                    }
                    entered += 1;
                    let seen = inside.load(Ordering::Relaxed);
                    inside.store(seen + 1, Ordering::Relaxed);
                    lock.release(me);
                }
                entered
            }
        };
        let other = thread::spawn(enter(1));
        let entered = enter(0)() + other.join().expect("it ends");
        assert_eq!(inside.load(Ordering::Relaxed), entered);
    });
}

#[test]
fn nobody_meets_anybody_in_a_ticket_lock() {
    excludes(Ticket::new);
}

#[test]
fn nobody_meets_anybody_in_a_queued_lock() {
    excludes(|| Queued::new(2));
}

#[test]
fn whoever_wants_two_locks_gets_them_whichever_it_has_first() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let locks = Arc::new([Ticket::new(), Ticket::new()]);
        let inside = Arc::new(AtomicUsize::new(0));
        let both = |me: usize| {
            let (locks, inside) = (locks.clone(), inside.clone());
            move || {
                let other = 1 - me;
                locks[me].acquire(me);
                take_beside((me, &locks[me]), (other, &locks[other]), me);
                let seen = inside.load(Ordering::Relaxed);
                inside.store(seen + 1, Ordering::Relaxed);
                locks[other].release(me);
                locks[me].release(me);
            }
        };
        let second = thread::spawn(both(1));
        both(0)();
        second.join().expect("it ends");
        assert_eq!(inside.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn letters_come_once_and_of_each_writer_in_order() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let mailbox = Arc::new(Mailbox::new(2));
        let writer = |name: u64| {
            let mailbox = mailbox.clone();
            // What did not fit is not posted again: the others have to come through.
            thread::spawn(move || (0..2).filter(|n| mailbox.post(10 * name + n).is_ok()).count())
        };
        let writers = [writer(1), writer(2)];
        let mut letters: Vec<u64> = (0..2).filter_map(|_| mailbox.read()).collect();
        let posted: usize = writers.into_iter().map(|it| it.join().expect("it ends")).sum();
        letters.extend(std::iter::from_fn(|| mailbox.read()));
        assert_eq!(letters.len(), posted, "{letters:?}");
        for name in [1, 2] {
            let of: Vec<u64> = letters.iter().copied().filter(|it| it / 10 == name).collect();
            assert!(of.is_sorted_by(|a, b| a < b), "{letters:?}");
        }
    });
}
