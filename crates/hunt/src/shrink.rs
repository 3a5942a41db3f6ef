//! Makes a genome as small as it can be while something holds of it: as while it is a finding by
//! the same cause, with all seeds, gone in the same control.

use std::collections::HashSet;

use wastenot_experiment::Error;
use wastenot_model::workload::Random;

use crate::archive::Archive;
use crate::finding::{Finding, Look, confirm, graded};
use crate::genome::{FEW, Genome, Space, on_few, smaller, vary};
use crate::oracle::Promise;

/// The most genomes that are tried for one.
const TRIED: usize = 5000;
/// How many other genomes are shrunk, where one is still large.
const OTHERS: usize = 6;
/// How many variations of it on few CPUs are tried, where it is large after that.
const ON_FEW: u64 = 2048;

/// The smallest finding by the cause of one: shrunk from it, or, if that is still large, from other
/// genomes with a loss of this cause, the smallest first, and from variations of it on few CPUs.
///
/// # Errors
/// Those of `look`.
pub fn smallest(
    finding: &Finding,
    archives: [&Archive; 2],
    space: &Space,
    seed: u64,
    promise: &Promise,
    look: &Look<'_>,
) -> Result<Finding, Error> {
    let mut least = shrink(finding, promise, look)?;
    let is_small = |it: &Finding| it.genome.machine().cpus() <= FEW;
    let instead = |genome: &Genome, than: &Finding| -> Result<Option<Finding>, Error> {
        let other = confirm(genome, &finding.cause, promise, look)?;
        let Some(other) = other.filter(|it| it.control == than.control) else { return Ok(None) };
        let other = shrink(&other, promise, look)?;
        Ok((other.genome.size() < than.genome.size()).then_some(other))
    };
    let elites = archives.into_iter().flat_map(Archive::iter);
    let same = elites.filter(|(niche, elite)| niche.cause == finding.cause && elite.grade >= 1.0);
    let mut others: Vec<&Genome> = same.map(|(_, elite)| &elite.genome).collect();
    others.sort_by_key(|it| it.size());
    for genome in others.into_iter().take(OTHERS) {
        if is_small(&least) {
            return Ok(least);
        }
        if let Some(other) = instead(genome, &least)? {
            least = other;
        }
    }
    let few = on_few(&least.genome);
    let mut best: Option<(f64, Genome)> = None;
    for n in 0..ON_FEW {
        if is_small(&least) {
            break;
        }
        let mut random = Random::stream(seed, 3, n);
        let drawn = &few[random.below(few.len() as u64) as usize];
        let of = best.as_ref().filter(|_| random.below(2) == 0).map_or(drawn, |(_, it)| it);
        let genome = vary(of, space, &mut random);
        if genome.machine().cpus() > FEW {
            continue;
        }
        let losses = graded(&genome, promise, look)?;
        let Some(&(_, grade)) = losses.iter().find(|(cause, _)| *cause == finding.cause) else {
            continue;
        };
        if best.as_ref().is_some_and(|(it, _)| *it >= grade) {
            continue;
        }
        if grade >= 1.0
            && let Some(other) = instead(&genome, &least)?
        {
            least = other;
        }
        best = Some((grade, genome));
    }
    Ok(least)
}

/// The smallest finding that is reached from this one by taking away one thing after the other.
fn shrink(finding: &Finding, promise: &Promise, look: &Look<'_>) -> Result<Finding, Error> {
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
