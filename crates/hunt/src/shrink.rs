//! Makes a genome as small as it can be while something holds of it: as while it is a finding by
//! the same cause, with all seeds, gone in the same control.

use std::collections::HashSet;

use wastenot_experiment::Error;

use crate::finding::{Finding, Look, confirm};
use crate::genome::{Genome, smaller};
use crate::oracle::Promise;

/// The most genomes that are tried for one.
const TRIED: usize = 5000;

/// The smallest finding that is reached from this one by taking away one thing after the other.
///
/// # Errors
/// Those of `look`.
pub fn shrink(finding: &Finding, promise: &Promise, look: &Look<'_>) -> Result<Finding, Error> {
    let same = |genome: &Genome| {
        let smaller = confirm(genome, &finding.cause, promise, look)?;
        Ok(smaller.filter(|it| it.control == finding.control))
    };
    Ok(least(&finding.genome, &same)?.unwrap_or_else(|| finding.clone()))
}

/// What `holds` gives for the smallest genome that is reached from this one by taking away one
/// thing after the other, while it gives something; `None` if nothing can be taken away.
///
/// # Errors
/// Those of `holds`.
pub fn least<T>(
    genome: &Genome,
    holds: &dyn Fn(&Genome) -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    let (mut genome, mut last) = (genome.clone(), None);
    let mut tried = HashSet::new();
    'again: loop {
        for next in smaller(&genome) {
            if !tried.insert(next.clone()) {
                continue;
            }
            if tried.len() > TRIED {
                break 'again;
            }
            if let Some(held) = holds(&next)? {
                (genome, last) = (next, Some(held));
                continue 'again;
            }
        }
        break;
    }
    Ok(last)
}
