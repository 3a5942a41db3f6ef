//! Claims about where tasks are put and which CPUs find them there: `no_lost_task`,
//! `no_lost_wakeup` as far as the text decides it, `hierarchy`, `wait`.

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{Attempt, Bool, Level, Stmt};
use wastenot_rota::syntax::Span;

use super::conserve::scans;
use super::sites::{Site, candidate, moves, sites, takes, taking};
use super::{Obligation, Question};
use crate::encode::{Encoder, Names, NotEncoded, cpu_sort};
use crate::explore::moves_somebody;
use crate::smt::{Script, Term, and, at_most, forall, implies, int, name, not, or};
use crate::text::{Sets, begins};
use crate::wakeup::{Variant, invariant};

/// A CPU that may run a task finds it in whichever queue it waits. The type checker ensures that
/// each path places its task exactly once.
pub(super) fn no_lost_task(policy: &Policy) -> Vec<Obligation> {
    let put = sites(policy).into_iter().map(|site| {
        let queue = site.put.queue.queue;
        let comes = format!("put into `{}` by `{}`", policy.queues[queue].name, site.event.name());
        let target = |encoder: &mut Encoder<'_>| site.puts(encoder).map(|(_, cpu)| cpu);
        found(&comes, site.put.span, served(policy, queue, target))
    });
    let moved = moves(policy).into_iter().map(|balance| {
        let queue = balance.queue;
        let comes = format!("moved into `{}` by `balance every`", policy.queues[queue].name);
        let target = |encoder: &mut Encoder<'_>| Ok(balance.target(encoder));
        found(&comes, balance.span, served(policy, queue, target))
    });
    put.chain(moved).collect()
}

fn found(comes: &str, span: Span, script: Result<Script, NotEncoded>) -> Obligation {
    Obligation {
        name: "served",
        what: format!(
            "for every task {comes}, some CPU that may run the task looks into this queue"
        ),
        span,
        question: Question::of(script),
        model_only: false,
    }
}

/// `target` is a CPU of the group in whose queue the task waits.
fn served(
    policy: &Policy,
    queue: usize,
    target: impl Fn(&mut Encoder<'_>) -> Result<Term, NotEncoded>,
) -> Result<Script, NotEncoded> {
    let about = "Negation of the statement: for a task in the queue, some CPU that may run the \
        task looks into it.";
    let mut encoder = Encoder::new(policy, about);
    let target = target(&mut encoder)?;
    let any = Names {
        me: Some((Level::Cpu, name("c"))),
        other: Some((policy.queues[queue].per, target.clone())),
        here: Some(name("c")),
        ..Names::default()
    };
    let able = encoder.allowed(name("c"));
    let takes = takes(&mut encoder, queue, &any, &target)?;
    let candidate = candidate(&mut encoder, queue, &any, &target);
    let mut finds = vec![takes];
    if let Some(balance) = policy.idle.as_ref().filter(|balance| balance.from == queue) {
        let filter = encoder.bool(&balance.filter, &any)?;
        // Nothing has changed since: no other task overtakes a task that waits alone.
        let recheck = encoder.bool(&balance.recheck, &any)?;
        finds.push(and([candidate, filter, recheck]));
    }
    let waiting = encoder.queued(queue, target, &Names::default());
    encoder.assert("The task waits in the queue.", at_most(int(1), waiting));
    let idle = encoder.runs(name("c"), &Names::default());
    let unserved = forall([("c", cpu_sort())], implies(and([able, not(idle)]), not(or(finds))));
    encoder.assert("No idle CPU that may run the task looks into the queue.", unserved);
    let idle = encoder.runs(name("c"), &Names::default());
    encoder
        .assert("At some later time, no CPU runs a task.", forall([("c", cpu_sort())], not(idle)));
    Ok(encoder.finish())
}

/// A put looks for an idle CPU among all CPUs that would take the task, and the CPU that it wakes
/// finds the task.
pub(super) fn no_lost_wakeup(policy: &Policy) -> Vec<Obligation> {
    let each = sites(policy).into_iter().map(|site| {
        let what = format!(
            "if a sleeping CPU may run a task of `{}` and would find it, the CPU is among the CPUs \
             that can be woken for this task",
            site.event.name()
        );
        let question = Question::of(woken(policy, &site));
        // The kernel inserts the task after the handler returns; the kick may arrive before that.
        let model_only = site.put.wake != Level::Machine && site.is_followed_by_kicks();
        Obligation { name: "woken", what, span: site.put.span, question, model_only }
    });
    let kept = invariant::obligations(Variant::of(&policy.protocol)).into_iter();
    let kept = kept.map(|step| Obligation {
        name: "protocol",
        what: step.what,
        span: policy.protocol.span,
        question: Question::Unsatisfiable(step.script),
        model_only: false,
    });
    each.chain(scans(policy)).chain(kept).collect()
}

fn woken(policy: &Policy, site: &Site<'_>) -> Result<Script, NotEncoded> {
    let about = "Negation of the statement: a CPU that would find the task is among the CPUs that \
        can be woken.";
    let queue = site.put.queue.queue;
    let mut encoder = Encoder::new(policy, about);
    let (names, target) = site.puts(&mut encoder)?;
    let (taking, me, _) = taking(&mut encoder, policy.queues[queue].per);
    let able = encoder.allowed(me.clone());
    encoder.assert("The task may run on this CPU.", able);
    let takes = takes(&mut encoder, queue, &taking, &target)?;
    let candidate = candidate(&mut encoder, queue, &taking, &target);
    encoder.assert("This CPU looks into the queue of the task.", or([takes, candidate]));
    let prev = names.prev.clone().unwrap_or_else(|| me.clone());
    let inside = encoder.same(site.put.wake, prev, me.clone());
    encoder.assert("The search for an idle CPU does not cover this CPU.", not(inside));
    for kicked in site.kicked(&mut encoder, &names) {
        let kicked = encoder.same(Level::Cpu, kicked, me.clone());
        encoder.assert("No kick wakes this CPU.", not(kicked));
    }
    Ok(encoder.finish())
}

/// `Tree::of` makes groups so that levels nest, and each level covers and partitions the CPUs,
/// unless the text asks for other groups. The other conditions are checked here.
pub(super) fn hierarchy(policy: &Policy) -> Vec<Obligation> {
    let walks = policy.idle.is_some() || !policy.periodic.is_empty();
    let walked = Obligation {
        name: "walked",
        what: "the policy has a balance that searches levels; the claim does not apply to other \
            policies"
            .into(),
        span: policy.span,
        question: Question::settled(walks),
        model_only: false,
    };
    let nested = Obligation {
        name: "nested",
        what:
            "each level partitions all CPUs, and its groups lie within groups of the next level: \
             every machine is built this way"
                .into(),
        span: policy.span,
        question: Question::settled(!policy.protocol.groups_from_cpu0),
        model_only: false,
    };
    let mut all = vec![walked, nested];
    // Without `balance idle`, the periodic balance that looks furthest has to cover the machine.
    let furthest = policy.periodic.iter().map(|it| &it.balance).max_by_key(|it| it.levels.last());
    if let Some(balance) = policy.idle.as_ref().or(furthest) {
        all.push(Obligation {
            name: "covers",
            what: "the last level is the machine or the partition".into(),
            span: balance.spans.levels,
            question: Question::settled(balance.levels.last() == Some(&Level::Machine)),
            model_only: false,
        });
    }
    for periodic in policy.periodic.iter().filter(|periodic| periodic.leader.is_some()) {
        all.push(Obligation {
            name: "leader",
            what: "the leader is the lowest online CPU, and no task occupies it forever".into(),
            span: periodic.balance.spans.whole,
            question: leads(policy),
            model_only: false,
        });
    }
    all
}

/// Whether a leader ever balances: a slice may have any length, but must end.
fn leads(policy: &Policy) -> Question {
    let mut endless = Endless { policy, given: false, perhaps: false, preempts: false };
    policy.handlers.iter().for_each(|handler| endless.block(handler, true));
    match endless {
        Endless { perhaps: false, .. } => Question::Holds,
        Endless { given: true, preempts: false, .. } => Question::Fails,
        Endless { preempts: true, .. } => Question::Undecided(
            "a slice is unlimited, and the prover does not examine whether every task with this \
             slice is preempted at some time",
        ),
        _ => Question::Undecided(
            "a slice is unlimited, and the prover does not examine whether a task ever runs with \
             this slice",
        ),
    }
}

/// How a policy uses slices that never end.
struct Endless<'p> {
    policy: &'p Policy,
    /// A task runs with one: on some path that the handler certainly takes.
    given: bool,
    /// A task may run with one.
    perhaps: bool,
    /// A handler preempts tasks.
    preempts: bool,
}

impl Endless<'_> {
    /// `gone`: a handler certainly reaches this block.
    fn block(&mut self, block: &[Stmt], gone: bool) {
        for stmt in block {
            match stmt {
                Stmt::Put(put) if put.slice.is_none() => {
                    self.perhaps = true;
                    self.given |= gone && self.takes(put.queue.queue);
                }
                Stmt::Run { slice: None, .. } => {
                    (self.given, self.perhaps) = (self.given || gone, true);
                }
                Stmt::Kick { preempt: true, .. } => self.preempts = true,
                // Both happen: a CPU is found, and no CPU is found.
                Stmt::If { condition, then, otherwise } => {
                    let gone = gone && matches!(condition, Bool::Found(_));
                    [then, otherwise].iter().for_each(|block| self.block(block, gone));
                }
                _ => {}
            }
        }
    }

    /// Whether any CPU takes tasks from a queue.
    fn takes(&self, queue: usize) -> bool {
        let takes =
            |attempt: &Attempt| matches!(attempt, Attempt::Take(at, _) if at.queue == queue);
        let idle = self.policy.idle.as_ref().is_some_and(|balance| balance.from == queue);
        idle || self.policy.dispatch.iter().any(takes)
    }
}

/// A task waits for no more dispatches than its position in the queue: the queue is first in, first
/// out, no task is moved behind others, and each CPU that may run the task takes from that queue
/// first. The claim does not bound the time until a dispatch.
pub(super) fn wait(policy: &Policy) -> Vec<Obligation> {
    let mut all = Vec::new();
    let Sets { fed, task: set, .. } = Sets::of(policy);
    for (queue, _) in policy.queues.iter().zip(&fed).filter(|(_, fed)| **fed) {
        all.push(Obligation {
            name: "in_order",
            what: format!("`{}` is first in, first out", queue.name),
            span: queue.span,
            // Among equal keys, the task that came first is first.
            question: Question::settled(queue.key.is_none_or(|key| !set[key])),
            model_only: false,
        });
    }
    for periodic in policy.periodic.iter().filter(|it| fed[it.balance.from]) {
        all.push(Obligation {
            name: "stays",
            what: "no waiting task is moved behind other tasks".into(),
            span: periodic.balance.spans.whole,
            question: match moves_somebody(policy, periodic, 1) {
                Some(true) => Question::Fails,
                _ => Question::Undecided(
                    "it is unknown whether the target queue is still empty when the task is moved",
                ),
            },
            model_only: false,
        });
    }
    for site in sites(policy) {
        let queue = &policy.queues[site.put.queue.queue].name;
        all.push(Obligation {
            name: "first",
            what: format!(
                "for every task that `{}` enqueues in `{queue}`, some CPU that may run the task \
                 takes from this queue first",
                site.event.name()
            ),
            span: site.put.span,
            question: Question::of(first(policy, &site)),
            model_only: false,
        });
    }
    all
}

fn first(policy: &Policy, site: &Site<'_>) -> Result<Script, NotEncoded> {
    let about = "Negation of the statement: some CPU that may run the task takes from the task's \
        queue first.";
    let queue = site.put.queue.queue;
    let mut encoder = Encoder::new(policy, about);
    let (_, target) = site.puts(&mut encoder)?;
    let any = Names { me: Some((Level::Cpu, name("c"))), ..Names::default() };
    let able = encoder.allowed(name("c"));
    let first = match begins(policy) {
        Some(Attempt::Take(at, _)) if at.queue == queue => {
            let own = encoder.queue_cpu(at, &any)?;
            encoder.same(policy.queues[queue].per, own, target)
        }
        _ => Term::Bool(false),
    };
    let late = forall([("c", cpu_sort())], implies(able, not(first)));
    encoder.assert("No CPU that may run the task takes from this queue first.", late);
    Ok(encoder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_moved_to_the_end_of_another_queue_may_wait_for_more_than_stood_before_it() {
        let text = include_str!("../../../../../policies/numa-aware.rota");
        let fails = |text: &str| {
            let policy = &wastenot_rota::compile(text).expect("it compiles").policies[0];
            let fails = |it: &Obligation| matches!(it.question, Question::Fails);
            wait(policy).iter().filter(|it| fails(it)).map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!(fails(text), ["stays"]);
        let ws = include_str!("../../../../../policies/work-stealing.rota");
        assert!(fails(ws).is_empty());
    }

    #[test]
    fn that_a_kick_wakes_is_so_in_the_model_only() {
        let labels = |put: &str| {
            let text = format!(
                "policy p() {{
                    queue q : fifo per cpu
                    on new(t), wake(t), preempt(t), yield(t) {{ {put} }}
                    on block(t), exit(t) {{ }}
                    on dispatch(c) {{ take c.q }}
                    prove no_lost_wakeup
                }}"
            );
            let policy = &wastenot_rota::compile(&text).expect("it compiles").policies[0];
            let woken = no_lost_wakeup(policy).into_iter().filter(|it| it.name == "woken");
            woken.map(|it| it.model_only).collect::<Vec<_>>()
        };
        let put = "put t in home(t).q";
        assert_eq!(labels(&format!("{put} wake within cpu\n kick home(t)")), [true; 4]);
        assert_eq!(labels(&format!("{put}\n kick home(t)")), [false; 4]);
        assert_eq!(labels(put), [false; 4]);
    }
}
