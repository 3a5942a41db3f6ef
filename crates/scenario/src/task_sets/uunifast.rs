//! UUniFast-discard: utilizations of a given sum, by trial.
//!
//! Bini, Buttazzo, "Measuring the performance of schedulability tests" (Real-Time Systems 30, 2005)
//! draw evenly from all that are not negative; Davis, Burns (RTSS 2009) throw away those with one
//! above 1 and draw again. The outcome is distributed like [`super::FixedSum`]'s, but the closer
//! the sum is to half of the number of tasks, the less often a draw is any good.

use wastenot_model::workload::Random;

use super::utilizations::{Utilizations, check_sum};
use super::words::wrong;
use crate::Error;

/// How often it draws before it gives up.
const TRIES: usize = 1000;

/// The utilizations of `tasks` tasks, which come to `total`.
///
/// # Errors
/// There are none, or too many of them, or 1000 draws gave none.
pub fn uunifast_discard(tasks: usize, total: f64, random: &mut Random) -> Result<Vec<f64>, Error> {
    check_sum(Utilizations::UUniFastDiscard, tasks, total)?;
    let mut shares = Vec::with_capacity(tasks);
    for _ in 0..TRIES {
        if uunifast(tasks, total, random, &mut shares) {
            return Ok(shares);
        }
    }
    let what = format!(
        "uunifast-discard: {TRIES} draws, and none of {tasks} utilizations that come to {total} \
         without one above 1"
    );
    wrong(what, "take `randfixedsum`: it gives the same distribution and always succeeds")
}

/// Draws into `shares`; whether none is above 1.
fn uunifast(tasks: usize, total: f64, random: &mut Random, shares: &mut Vec<f64>) -> bool {
    shares.clear();
    let mut rest = total;
    for others in (1..tasks).rev() {
        // The share of `others` values of a sum is the largest of as many uniform ones.
        let left = rest * libm::exp(libm::log(random.unit()) / others as f64);
        shares.push(rest - left);
        rest = left;
        if shares.last().is_some_and(|&share| share > 1.0) {
            return false;
        }
    }
    shares.push(rest);
    rest <= 1.0
}
