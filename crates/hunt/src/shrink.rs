//! Makes a finding as small as it can be while it is still one: by the same cause, with all seeds,
//! gone in a control.

use wastenot_experiment::Error;

use crate::finding::{Finding, Look, confirm};
use crate::genome::smaller;
use crate::oracle::Promise;

/// The most genomes that are tried for one finding.
const TRIED: usize = 5000;

/// The smallest finding that is reached from this one by taking away one thing after the other.
///
/// # Errors
/// Those of `look`.
pub fn shrink(finding: &Finding, promise: &Promise, look: &Look<'_>) -> Result<Finding, Error> {
    let mut least = finding.clone();
    let mut tried = 0;
    'again: loop {
        for genome in smaller(&least.genome) {
            tried += 1;
            if tried > TRIED {
                break 'again;
            }
            let smaller = confirm(&genome, &finding.cause, promise, look)?;
            if let Some(smaller) = smaller.filter(|it| it.control.is_like(&finding.control)) {
                least = smaller;
                continue 'again;
            }
        }
        break;
    }
    Ok(least)
}
