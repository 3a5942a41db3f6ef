//! The explorer as an engine. A counterexample counts only if a run of the interpreter leads to it.

use std::time::Instant;

use rayon::prelude::*;
use wastenot_rota::ir::{ClaimKind, Policy};

use super::{Answer, Engine, Says};
use crate::explore::{self, Bounds, Doubt, Effort, Searched, unseen};
use crate::replay::Patience;
use crate::{Counterexample, Error};

/// An engine that examines every situation on every small machine.
#[derive(Clone, Copy, Debug)]
pub struct Explorer {
    /// The limits on CPUs, tasks and events.
    pub bounds: Bounds,
    /// The most situations, and the time limit.
    pub effort: Effort,
}

impl Engine for Explorer {
    fn ask(&self, policy: &Policy, claims: &[&ClaimKind]) -> Result<Vec<Answer>, Error> {
        Ok(claims.par_iter().map(|claim| self.explore(policy, claim)).collect())
    }
}

impl Explorer {
    fn explore(&self, policy: &Policy, claim: &ClaimKind) -> Answer {
        let begun = Instant::now();
        let searched = search(policy, claim, self.bounds, self.effort);
        let Some(Searched { found, looked, cpus, doubt }) = searched else {
            return Answer { took: begun.elapsed(), ..Answer::default() };
        };
        let found = found.map(|found| Counterexample::Situation(Box::new(found)));
        let within = (cpus > 0).then_some(Bounds { cpus, ..self.bounds });
        let mut answer = Answer::searched(found, within);
        let unseen = || unseen(policy, claim).or_else(|| Some(doubtful(policy, doubt?)));
        if let Some(why) = unseen() {
            answer.within = None;
            if !answer.refutes() {
                answer.says = Says::Silent(Some(why));
            }
        }
        Answer { looked, took: begun.elapsed(), ..answer }
    }
}

/// Looks for a counterexample to a claim to which a run of the interpreter leads. `None`:
/// situations cannot break this claim.
pub fn search(
    policy: &Policy,
    claim: &ClaimKind,
    bounds: Bounds,
    effort: impl Into<Effort>,
) -> Option<Searched> {
    explore::search(policy, claim, bounds, effort.into(), &mut Patience::new())
}

/// The reason why a search that finds no counterexample proves nothing: it left out a case.
fn doubtful(policy: &Policy, doubt: Doubt) -> String {
    let name = |queue: usize| &policy.queues[queue].name;
    match doubt {
        Doubt::Put(event, queue) => format!(
            "it is unknown whether `{}` can take every path that enqueues a task in `{}`",
            event.name(),
            name(queue)
        ),
        Doubt::Run => {
            "the search found a state that breaks the claim, but no run that reaches this state. \
             Such a run would refute the claim. A proof that no run reaches the state would prove \
             the claim"
                .to_owned()
        }
        Doubt::Move(queue) => {
            format!(
                "it is unknown whether `balance every` ever moves a task into `{}`",
                name(queue)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WS: &str = include_str!("../../../../../policies/work-stealing.rota");

    fn conserving(text: &str) -> Searched {
        let program = wastenot_rota::compile(text).expect("it compiles");
        let bounds = Bounds { cpus: 3, tasks: 3, events: 1 };
        search(&program.policies[0], &ClaimKind::WorkConservation, bounds, u64::MAX)
            .expect("it is explored")
    }

    #[test]
    fn work_stealing_is_work_conserving_on_small_machines() {
        let Searched { found, looked, .. } = conserving(WS);
        assert!(found.is_none(), "{found:?}");
        assert!(looked > 1000, "{looked}");
    }

    #[test]
    fn two_tasks_at_least_is_one_too_many() {
        let text = WS.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (2, 2));
    }

    #[test]
    fn one_try_is_not_enough_beside_a_pinned_task() {
        let text = WS.replace("retry untried", "retry 0");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (3, 2));
    }

    #[test]
    fn a_balance_that_ends_with_the_cache_leaves_the_rest() {
        let text = WS.replace("level machine", "level llc");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!(found.small.machine.name, "2 CPUs, llc 1+1");
    }
}
