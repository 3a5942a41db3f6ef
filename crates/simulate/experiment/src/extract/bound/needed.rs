//! CPU time that is needed from tasks that are not awaited: the workers of a pile.

use wastenot_model::workload::Step;

use super::plan::{Op, Plan, Walk};

/// The maximum number of steps of a task that are read.
const STEPS: usize = 1 << 22;

/// CPU time that tasks that are not awaited must have: before each token that they put and an
/// awaited task takes. `tokens` has how many these are, of each pipe. Which task puts how many of
/// them is not fixed, so the shortest ones count.
pub(super) fn needed(plan: &Plan, tokens: impl Iterator<Item = u64>, fastest: u64) -> u64 {
    let of = |(id, count): (usize, u64)| {
        let mut gaps = Vec::new();
        for member in plan.members.iter().filter(|member| !member.awaited && count > 0) {
            let walk = plan.walk(member.template, member.ordinal, fastest);
            // A task that puts more tokens than can be counted may do so without any work.
            gaps.extend(gaps_of(walk, id, count)?);
        }
        gaps.sort_unstable();
        Some(gaps.into_iter().take(count as usize).fold(0, u64::saturating_add))
    };
    tokens.enumerate().filter_map(of).max().unwrap_or(0)
}

/// What a task computes before each of the first `count` tokens that it puts into a pipe.
fn gaps_of(mut walk: Walk<'_>, id: usize, count: u64) -> Option<Vec<u64>> {
    let (mut gaps, mut gap) = (Vec::new(), 0);
    if !walk.puts_into(id) {
        return Some(gaps);
    }
    for _ in 0..STEPS {
        match walk.next() {
            None => return Some(gaps),
            Some(Op::Compute(span)) => gap = u64::saturating_add(gap, span),
            Some(Op::Step(Step::Put(put))) if put.index() == id => {
                gaps.push(std::mem::take(&mut gap));
                if gaps.len() as u64 == count {
                    return Some(gaps);
                }
            }
            Some(_) => {}
        }
    }
    None
}
