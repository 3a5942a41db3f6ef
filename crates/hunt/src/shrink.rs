//! Makes a finding as small as it can be while it is still one: by the same cause, with all seeds,
//! gone in a control.

use wastenot_experiment::Error;
use wastenot_scenario::scenario::Choice;

use crate::finding::{Finding, Look, confirm};
use crate::genome::smaller;

/// The most genomes that are tried for one finding.
const TRIED: usize = 3000;

/// The smallest finding that is reached from this one by taking away one thing after the other.
///
/// # Errors
/// Those of `look`.
pub fn shrink(finding: &Finding, choice: &Choice, look: &Look<'_>) -> Result<Finding, Error> {
    let mut least = finding.clone();
    let mut tried = 0;
    'again: loop {
        for genome in smaller(&least.genome) {
            tried += 1;
            if tried > TRIED {
                break 'again;
            }
            let smaller = confirm(&genome, &finding.cause, choice, look)?;
            if let Some(smaller) = smaller.filter(|it| it.control.is_like(&finding.control)) {
                least = smaller;
                continue 'again;
            }
        }
        break;
    }
    Ok(least)
}
