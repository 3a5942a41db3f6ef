//! Keys of ordered queues, without any solver: every handler with numbers that may come about.

use wastenot_model::CpuId;
use wastenot_rota::ir::{ClaimKind, Event, Policy};

use super::found::{Found, Searched};
use super::lives::lives;
use super::numbers::breaks;
use super::situation::{Place, Situation, Task};
use super::step::Step;
use super::world::World;
use crate::machines;

/// Looks for a handler that lets a key fall, or does not let it rise though its task ran
/// (`vt_monotone`); or that puts a task too far back (`lag`). Each begins as others have left it.
/// `None`: nothing was found, which says nothing.
pub(super) fn search(policy: &Policy, claim: &ClaimKind) -> Option<Searched> {
    let small = machines(policy, 1).into_iter().next()?;
    let world = World::new(policy, &small);
    let mut looked = 0;
    let broken = lives(&world).into_iter().find_map(|call| {
        looked += 1;
        applies(claim, call.event).then(|| breaks(&world, claim, &call)).flatten()
    });
    // Some numbers are not all numbers: that none of these breaks the claim is no proof.
    let step = broken?;
    let rises = matches!(step, Step::Sets { before, after, .. } if before == after);
    let why = match claim {
        ClaimKind::Lag(_) => "a task is enqueued too far behind the other tasks of its queue",
        _ if rises => "a task has run but its key has not risen, and this can repeat forever",
        _ => "the key of a task falls, so the task may be first forever",
    };
    let task = Task { place: Place::Away, mask: 1, weight: 100 };
    let situation = Situation { tasks: vec![task], vars: world.vars() };
    let (cpu, steps, why, wrong) = (CpuId(0), vec![step], why.to_owned(), None);
    let found = Some(Found { wrong, small: small.clone(), situation, cpu, steps, why });
    Some(Searched { found, looked, cpus: 1, doubt: None })
}

/// Whether a claim says anything of an event: a new task had no key that could fall.
fn applies(claim: &ClaimKind, event: Event) -> bool {
    !(matches!(claim, ClaimKind::VtMonotone) && event == Event::New)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VRT: &str = include_str!("../../../../../policies/fair-vtime.rota");

    fn found(text: &str) -> Option<Step> {
        let program = wastenot_rota::compile(text).expect("it compiles");
        let searched = search(&program.policies[0], &ClaimKind::VtMonotone)?;
        searched.found.map(|found| found.steps[0].clone())
    }

    #[test]
    fn a_key_that_is_set_to_the_least_of_its_queue_may_fall() {
        assert_eq!(found(VRT), None);
        let text =
            VRT.replace("t.vt := max(t.vt, min_vt(home(t).q) - lag)", "t.vt := min_vt(home(t).q)");
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::Wake, .. })));
        let text = VRT.replace(
            "on new(t), wake(t) {",
            "on new(t) { t.vt := min_vt(home(t).q)\n put t in home(t).q }\n    on wake(t) {",
        );
        assert_eq!(found(&text), None, "a new task had no key");
        let text = VRT.replace("t.vt += scaled(ran, t.weight)", "t.vt := scaled(ran, t.weight)");
        assert!(matches!(found(&text), Some(Step::Sets { event: Event::Stop, .. })));
    }

    #[test]
    fn a_key_that_never_changes_is_no_virtual_time() {
        let text = VRT.replace("t.vt += scaled(ran, t.weight)", "");
        let step = found(&text).expect("nothing passes");
        assert!(
            matches!(step, Step::Sets { event: Event::Stop, before, after, .. } if before == after)
        );
    }

    /// The least key of the queue rises when a task is taken that waited there with that key: a
    /// task that a claimed CPU runs directly never waited.
    #[test]
    fn a_task_that_runs_directly_leaves_the_least_key_as_it_is() {
        let text = VRT
            .replace("t.vt := max(t.vt, min_vt(c.q) - lag)", "")
            .replace(
                "t.vt := max(t.vt, min_vt(home(t).q) - lag)",
                "t.vt := max(t.vt, min_vt(home(t).q)) + 100s",
            )
            .replace(
                "on preempt(t), yield(t) { put",
                "on preempt(t), yield(t) {
                     if t.vt < 1s { t.vt := min_vt(home(t).q) }
                     put",
            );
        let step = found(&text).expect("a key that falls after a direct run");
        let Step::Sets { event, before, after, .. } = step else { panic!("{step:?}") };
        assert!(event == Event::Preempt && after == 0 && before > 0, "{step:?}");
    }
}
