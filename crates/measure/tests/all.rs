//! What is measured is there, and of the right kind; how long it takes is no business of a test.

use std::time::Duration;

use wastenot_measure::{Design, Error, Full, Mailbox, measure, usable};
use wastenot_sim::Overhead;

#[test]
fn every_design_decides_on_as_many_cpus_as_there_are() {
    let usable = usable().expect("CPUs");
    for design in Design::ALL {
        for cpus in [1, 2] {
            let Some(on) = usable.get(..cpus) else {
                println!("SKIPPED: {design:?} on {cpus}: there is one CPU");
                continue;
            };
            if !design.cpus().contains(&cpus) {
                let refused = measure(design, on, Duration::ZERO);
                assert!(matches!(refused, Err(Error::Other { asked: 1, .. })), "{refused:?}");
                continue;
            }
            let rows = measure(design, on, Duration::from_millis(20))
                .unwrap_or_else(|error| panic!("{design:?} on {cpus}: {error}"));
            let kinds: Vec<Overhead> = rows.iter().map(|row| row.kind).collect();
            let expected: &[Overhead] = match design {
                Design::Messages => {
                    &[Overhead::Schedule, Overhead::RequestLatency, Overhead::Handler]
                }
                Design::Line => &[Overhead::RequestLatency],
                _ => &[Overhead::Schedule],
            };
            assert_eq!(kinds, expected, "{design:?} on {cpus}");
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
