//! UUniFast-discard: utilizations of a given sum, by trial.
//!
//! Bini, Buttazzo, "Measuring the performance of schedulability tests" (Real-Time Systems 30, 2005)
//! draw uniformly from all lists of numbers that are not negative; Davis, Burns (RTSS 2009) discard
//! lists with a number above 1 and draw again. The result has the same distribution as
//! [`super::FixedSum`]'s, but the closer the sum is to half of the number of tasks, the more draws
//! are discarded.

use wastenot_model::workload::Random;

use super::utilizations::{Utilizations, check_sum};
use super::words::wrong;
use crate::Error;

/// How often it draws before it gives up.
const TRIES: usize = 1000;

/// The utilizations of `tasks` tasks, with the sum `total`.
///
/// # Errors
/// If there are no such utilizations, or too many tasks, or if all of 1000 draws were
/// discarded.
pub fn uunifast_discard(tasks: usize, total: f64, random: &mut Random) -> Result<Vec<f64>, Error> {
    check_sum(Utilizations::UUniFastDiscard, tasks, total)?;
    let mut shares = Vec::with_capacity(tasks);
    for _ in 0..TRIES {
        if uunifast(tasks, total, random, &mut shares) {
            return Ok(shares);
        }
    }
    let what = format!(
        "uunifast-discard failed: in {TRIES} draws of {tasks} utilizations with the sum {total}, \
         one utilization was always above 1"
    );
    wrong(what, "use `randfixedsum`: it has the same distribution and always succeeds")
}

/// Draws into `shares`; returns whether none is above 1.
fn uunifast(tasks: usize, total: f64, random: &mut Random, shares: &mut Vec<f64>) -> bool {
    shares.clear();
    let mut rest = total;
    for others in (1..tasks).rev() {
        // The rest for `others` values of a sum is distributed like the largest of that many
        // uniform ones.
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
