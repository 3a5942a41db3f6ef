//! Makes a genome as small as it can be while something holds of it: as while it is a finding by
//! the same cause, with all seeds, gone in the same control.

use std::collections::HashSet;

use wastenot_experiment::Error;
use wastenot_model::workload::Random;

use crate::archive::{Archive, Elite};
use crate::finding::{Finding, Look, confirm, nearness};
use crate::genome::{FEW, Genome, Space, child, on_few, smaller};
use crate::oracle::Promise;

/// The most genomes that are tried for one.
const TRIED: usize = 5000;
/// How many other genomes are shrunk, where one is still large.
const OTHERS: usize = 6;
/// How many genomes on few CPUs are tried, where it is large after that.
const ON_FEW: usize = 4096;

/// The smallest finding by the cause of one: shrunk from it, or, if that is still large, from other
/// genomes with a loss of this cause, the smallest first, and from what a search on few CPUs finds,
/// which starts from all of them.
///
/// # Errors
/// Those of `look`.
pub(crate) fn smallest(
    finding: &Finding,
    archives: [&Archive; 2],
    space: &Space,
    seed: u64,
    promise: &Promise,
    look: &Look<'_>,
) -> Result<Finding, Error> {
    let cause = &finding.cause;
    let mut least = shrink(finding, promise, look)?;
    let is_large = |it: &Finding| it.genome.machine().cpus() > FEW;
    let instead = |genome: &Genome, than: &Finding| -> Result<Option<Finding>, Error> {
        let other = confirm(genome, cause, promise, look)?;
        let Some(other) = other.filter(|it| it.control == than.control) else { return Ok(None) };
        let other = shrink(&other, promise, look)?;
        Ok((other.genome.size() < than.genome.size()).then_some(other))
    };
    let mut elites: Vec<&Elite> = archives.into_iter().flat_map(|it| it.of(cause)).collect();
    elites.sort_by_key(|it| it.genome.size());
    for other in elites.iter().filter(|it| it.grade >= 1.0).take(OTHERS) {
        if is_large(&least)
            && let Some(other) = instead(&other.genome, &least)?
        {
            least = other;
        }
    }
    let known = elites.iter().map(|it| it.genome.clone());
    let first: Vec<Genome> = on_few(&least.genome).into_iter().chain(known).collect();
    let mut few = Archive::default();
    for n in 0..ON_FEW {
        if !is_large(&least) {
            break;
        }
        let genome = match first.get(n) {
            Some(genome) => genome.clone(),
            None => {
                let mut random = Random::stream(seed, 3, n as u64);
                child(space, &mut random, |random| parent(&few, random))
            }
        };
        if genome.machine().cpus() > FEW {
            continue;
        }
        let near = nearness(&genome, cause, promise, look)?;
        if few.keep(&genome, cause, near)
            && near >= 1.0
            && let Some(other) = instead(&genome, &least)?
        {
            least = other;
        }
    }
    Ok(least)
}

/// Of three of an archive that are drawn, the nearest to a finding.
fn parent<'a>(of: &'a Archive, random: &mut Random) -> Option<&'a Genome> {
    let drawn = [0; 3].map(|_| of.iter().nth(random.below(of.len().max(1) as u64) as usize));
    let elites = drawn.into_iter().flatten().map(|(_, elite)| elite);
    elites.max_by(|a, b| a.grade.total_cmp(&b.grade)).map(|it| &it.genome)
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
