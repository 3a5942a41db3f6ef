//! Slices: a task that a handler placed begins to run with a slice of that handler's text.

use std::collections::HashMap;

use wastenot_rota::ir::{Event, Num, Policy, Put, Stmt, Visitor, visit_block};
use wastenot_rota::step_log::{Step, What};

use super::model::Model;
use super::numbers::Known;
use super::{Conformance, Rule};
use crate::explore::range::Range;

/// The slices that the handler of an event gives; `None`: one that never ends.
#[derive(Default)]
struct Given {
    put: Vec<Option<Range>>,
    run: Vec<Option<Range>>,
}

/// Checks each task that begins to run for the first time since a handler placed it.
pub(super) fn check(model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
    let given = Event::ALL.map(|event| given(model, event));
    let mut events: HashMap<i32, u64> = HashMap::new();
    // By task: the event of the handler that placed it, and whether it sent it to a CPU.
    let mut placed: HashMap<i32, (u64, bool)> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(task) = step.task else { continue };
        match step.what {
            What::Place => {
                events.insert(task, step.queue);
                placed.remove(&task);
            }
            What::Put | What::Run => {
                let event = events.get(&task);
                placed.extend(event.map(|event| (task, (*event, step.what == What::Run))));
            }
            What::Leave | What::Left => {
                placed.remove(&task);
            }
            What::Start => {
                let Some((event, runs)) = placed.remove(&task) else { continue };
                let of = given.get(event as usize).filter(|_| event < EVENTS);
                let all = of.map_or(&[][..], |of| if runs { &of.run } else { &of.put });
                // Logs without slices have a 0 here; no text gives so short a one.
                if step.value == 0 {
                    found.count(Rule::Slice).open += 1;
                } else {
                    let wrong = (!all.iter().any(|slice| is(*slice, step.value))).then(|| {
                        let event = Step::EVENTS.get(event as usize).copied().unwrap_or("none");
                        let slice = words(step.value);
                        format!(
                            "task {task} begins with a slice {slice}, which {event} never gives"
                        )
                    });
                    found.judge(Rule::Slice, at, wrong);
                }
            }
            _ => {}
        }
    }
}

/// How many events place tasks: the first ones.
const EVENTS: u64 = Step::EVENTS.len() as u64;

fn is(slice: Option<Range>, value: i64) -> bool {
    match slice {
        None => value == FOREVER,
        Some(Range { least, most }) => least.max(1) <= value && value <= most.max(1),
    }
}

/// The slice that never ends, in the log.
const FOREVER: i64 = -1;

fn words(slice: i64) -> String {
    if slice == FOREVER { "without an end".into() } else { format!("of {slice} ns") }
}

/// What the handlers of an event give, in any partition.
fn given(model: &Model<'_>, event: Event) -> Given {
    struct Slices<'p>(&'p Policy, Given);
    impl Visitor for Slices<'_> {
        fn stmt(&mut self, stmt: &Stmt) {
            let known = Known { policy: self.0, vars: &[], ran: Range::COUNT };
            let range = |slice: &Option<Num>| slice.as_ref().map(|it| known.number(it));
            match stmt {
                Stmt::Put(Put { slice, .. }) => self.1.put.push(range(slice)),
                Stmt::Run { slice, .. } => self.1.run.push(range(slice)),
                _ => {}
            }
        }
    }
    let mut all = Given::default();
    for policy in model.policies() {
        let mut slices = Slices(policy, all);
        visit_block(&policy.handlers[event as usize], &mut slices);
        all = slices.1;
    }
    all
}
