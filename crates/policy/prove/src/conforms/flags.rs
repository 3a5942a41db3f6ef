//! Idle flags: since when one is surely set, and who may claim it.

use wastenot_rota::step_log::{Step, What};

use super::model::Model;
use super::{Conformance, Rule, is_search};

/// The idle flag of each CPU.
pub(super) struct Flags {
    /// By CPU, in order: surely set from one moment until another.
    set: Vec<Vec<(u64, u64)>>,
    /// By CPU: each time it was set.
    sets: Vec<Vec<(u64, u64)>>,
    /// By CPU: each time it was cleared, and by which step; claims by others included.
    clears: Vec<Vec<Clear>>,
}

#[derive(Clone, Copy)]
struct Clear {
    at: usize,
    begin: u64,
    end: u64,
    claims: bool,
}

impl Flags {
    pub(super) fn of(model: &Model<'_>, steps: &[Step]) -> Flags {
        let mut flags = Flags {
            set: vec![Vec::new(); model.cpus()],
            sets: vec![Vec::new(); model.cpus()],
            clears: vec![Vec::new(); model.cpus()],
        };
        for (at, step) in steps.iter().enumerate() {
            let Some(of) = step.to.map(usize::from).filter(|of| *of < model.cpus()) else {
                continue;
            };
            let (begin, end, claims) = (step.begin, step.end, is_search(step.what));
            match step.what {
                What::Idle => flags.sets[of].push((begin, end)),
                What::Busy | What::Find | What::Claim => {
                    flags.clears[of].push(Clear { at, begin, end, claims });
                }
                _ => {}
            }
        }
        for cpu in 0..model.cpus() {
            flags.set[cpu] = certain(&flags.sets[cpu], &flags.clears[cpu]);
        }
        flags
    }

    /// Whether the flag of a CPU surely was set all the time.
    pub(super) fn covers(&self, cpu: u16, from: u64, until: u64) -> bool {
        let Some(set) = self.set.get(usize::from(cpu)) else { return false };
        let after = set.partition_point(|(since, _)| *since <= from);
        set[..after].last().is_some_and(|(_, last)| until <= *last)
    }

    /// By CPU: surely set from one moment until another.
    pub(super) fn certain(&self, cpu: usize) -> &[(u64, u64)] {
        self.set.get(cpu).map_or(&[], Vec::as_slice)
    }

    /// Each claim has a flag that was set before and that no other step cleared.
    pub(super) fn check(&self, model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
        for cpu in 0..model.cpus() {
            let mut used = vec![false; self.sets[cpu].len()];
            for claim in self.clears[cpu].iter().filter(|it| it.claims) {
                let set = self.set_for(cpu, *claim, &used);
                if let Some(set) = set {
                    used[set] = true;
                }
                let who = steps[claim.at].cpu;
                let wrong = set
                    .is_none()
                    .then(|| format!("CPU {who} claims CPU {cpu}, whose idle flag is not set"));
                found.judge(Rule::Claim, claim.at, wrong);
            }
        }
    }

    /// The first time that the flag was set for this claim.
    fn set_for(&self, cpu: usize, claim: Clear, used: &[bool]) -> Option<usize> {
        let sets = &self.sets[cpu];
        // Only what was set after the last clear that surely was between counts.
        let until = sets.partition_point(|(begin, _)| *begin < claim.end);
        let clears = &self.clears[cpu];
        let before = clears.partition_point(|it| it.end < claim.begin);
        let last = clears[..before].iter().map(|it| it.begin).max().unwrap_or(0);
        (0..until).rev().take_while(|n| sets[*n].1 >= last).filter(|n| !used[*n]).last()
    }
}

/// From when to when the flag surely was set. Both lists are in the order of their ends.
fn certain(sets: &[(u64, u64)], clears: &[Clear]) -> Vec<(u64, u64)> {
    // By clear: the first moment at which it or a later one may have taken effect.
    let mut first = vec![u64::MAX; clears.len() + 1];
    for n in (0..clears.len()).rev() {
        first[n] = first[n + 1].min(clears[n].begin);
    }
    let span = |&(begin, end): &(u64, u64)| {
        let next = clears.partition_point(|it| it.end <= begin);
        (end < first[next]).then_some((end, first[next]))
    };
    sets.iter().filter_map(span).collect()
}
