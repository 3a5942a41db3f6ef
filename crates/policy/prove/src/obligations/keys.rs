//! Claims about the keys of ordered queues: `vt_monotone`, `lag`. They are shown along every path
//! of every handler.

use wastenot_rota::ir::{Event, Level, Num, Policy, Stmt, Visitor, visit_block};
use wastenot_rota::syntax::Span;

use super::along::{Step, along, asked};
use super::sites::{Site, sites};
use super::{Obligation, Question};
use crate::encode::Names;
use crate::smt::{and, int, less, not};
use crate::text::Sets;

/// No handler decreases the key of a task, and the key is greater after the task ran.
pub(super) fn monotone(policy: &Policy) -> Vec<Obligation> {
    let mut all = vec![ordered(policy)];
    all.extend(passes(policy));
    // A new task had no key before.
    for event in Event::ALL.into_iter().filter(|event| *event != Event::New) {
        for (key, span) in keys(policy) {
            let name = &policy.task_vars[key].name;
            let what = format!("`{name}` does not decrease in `{}`", event.name());
            let script = along(policy, event, &what, |_, step, _| {
                let Step::Sets(var, before, after) = step else { return Ok(None) };
                Ok((*var == key).then(|| less(after.clone(), before.clone())))
            });
            if let Some(question) = asked(script) {
                all.push(Obligation { name: "rises", what, span, question, model_only: false });
            }
        }
    }
    all
}

/// The claims say nothing about queues that are first in, first out.
fn ordered(policy: &Policy) -> Obligation {
    let wakes = |site: &Site<'_>| matches!(site.event, Event::New | Event::Wake);
    let keyed = |site: &Site<'_>| policy.queues[site.put.queue.queue].key.is_some();
    Obligation {
        name: "ordered",
        what: "new and woken tasks are enqueued in queues that are ordered by a key".into(),
        span: policy.span,
        question: Question::settled(sites(policy).iter().any(|it| wakes(it) && keyed(it))),
        model_only: false,
    }
}

/// A key that never changes does not fall either, so the key also has to rise while its task runs.
fn passes(policy: &Policy) -> Vec<Obligation> {
    let each = keys(policy).into_iter().map(|(key, span)| {
        let name = &policy.task_vars[key].name;
        // One of the two is enough, since no handler decreases the key.
        let starts = !sets(policy, Event::Stop, key) && sets(policy, Event::Start, key);
        let (event, what) = match starts {
            true => (Event::Start, "after its task started to run than before"),
            false => (Event::Stop, "when its task stops than when the task started to run"),
        };
        let what = format!("`{name}` is greater {what}");
        let script = along(policy, event, &what, |encoder, step, names| {
            let Step::Ends(before) = step else { return Ok(None) };
            let rose = less(before[key].clone(), names.vars[key].clone());
            if starts {
                return Ok(Some(not(rose)));
            }
            let ran = encoder.num(&Num::Ran, names)?;
            Ok(Some(and([less(int(0), ran), not(rose)])))
        });
        let question = asked(script).unwrap_or(Question::Fails);
        Obligation { name: "passes", what, span, question, model_only: false }
    });
    each.collect()
}

/// Whether a handler ever sets a variable of its task.
fn sets(policy: &Policy, event: Event, var: usize) -> bool {
    struct Sets(usize, bool);
    impl Visitor for Sets {
        fn stmt(&mut self, stmt: &Stmt) {
            self.1 |= matches!(stmt, Stmt::SetTask(var, _) if *var == self.0);
        }
    }
    let mut sets = Sets(var, false);
    visit_block(&policy.handlers[event as usize], &mut sets);
    sets.1
}

/// A task that is new or wakes is put no further than `bound` behind the least key of its queue. A
/// task that is moved to another queue keeps its distance from the least key.
pub(super) fn lag(policy: &Policy, bound: &Num) -> Vec<Obligation> {
    let mut all = vec![ordered(policy)];
    all.extend(rebased(policy));
    for event in [Event::New, Event::Wake] {
        let what = format!(
            "`{}` enqueues or starts no task that is behind the least key by more than the bound",
            event.name()
        );
        let script = along(policy, event, &what, |encoder, step, names| {
            let (queue, at, key, reads) = match step {
                Step::Puts(queue, at, reads) => {
                    let Some(key) = policy.queues[*queue].key else { return Ok(None) };
                    (*queue, at.clone(), key, reads)
                }
                // The bound applies to the order of the queue from which that CPU takes.
                Step::Runs(cpu, reads) => {
                    let Some((order, key)) = policy.order() else { return Ok(None) };
                    let me = Some((Level::Cpu, cpu.clone()));
                    let at = encoder.queue_cpu(order, &Names { me, ..Names::default() })?;
                    (order.queue, at, key, reads)
                }
                _ => return Ok(None),
            };
            let bound = encoder.num(bound, names)?;
            let read = encoder.min_keys_read(queue, &at, reads);
            let behind = |least| less(names.vars[key].clone(), least - bound.clone());
            // Further than `bound` behind every least key that the handler read.
            Ok(Some(and(read.into_iter().map(behind))))
        });
        let Some(question) = asked(script) else { continue };
        let span = policy.span;
        all.push(Obligation { name: "lags", what, span, question, model_only: false });
    }
    all
}

fn rebased(policy: &Policy) -> Vec<Obligation> {
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    let fed = Sets::of(policy).fed;
    let taken = policy.idle.iter().chain(periodic).filter(|balance| fed[balance.from]);
    let ordered = taken.filter_map(|balance| {
        let queue = &policy.queues[balance.from];
        Some((balance, queue.key?, &queue.name))
    });
    let each = ordered.map(|(balance, key, queue)| {
        let same = balance.into.is_none_or(|into| policy.queues[into].key == Some(key));
        Obligation {
            name: "rebased",
            what: format!(
                "a task that is taken from `{queue}` keeps its distance to the least key"
            ),
            span: balance.spans.steal,
            question: Question::settled(balance.rebase == Some(key) && same),
            model_only: false,
        }
    });
    each.collect()
}

/// Variables that order queues.
fn keys(policy: &Policy) -> Vec<(usize, Span)> {
    let mut keys: Vec<(usize, Span)> = Vec::new();
    for queue in &policy.queues {
        if let Some(key) = queue.key
            && !keys.iter().any(|(known, _)| *known == key)
        {
            keys.push((key, policy.task_vars[key].span));
        }
    }
    keys
}
