//! Where tasks run: on the CPU that they were sent to, on one CPU at a time, and so that their home
//! is the CPU that they ran on last.

use std::collections::HashMap;

use wastenot_model::{CpuId, CpuSet};
use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::Model;
use super::stays::Mask;
use super::{Conformance, Rule};

/// What is known of a task.
#[derive(Default)]
struct Task {
    mask: Mask,
    /// Where it runs.
    on: Option<u16>,
    /// Where it ran last, unless its affinity changed since: then its home is another CPU.
    last: Option<u16>,
    /// The CPU of the search of its handler, which that claimed.
    found: Option<u16>,
    placement: Placement,
}

/// What became of a task since a handler began to place it. A CPU may begin to run it before the
/// record of where it was sent ends.
#[derive(Default)]
struct Placement {
    sent: Option<u16>,
    started: Option<u16>,
}

/// Checks where tasks are sent, where they run, and which home they have.
pub(super) fn check(model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
    let mut tasks: HashMap<i32, Task> = HashMap::new();
    let mut cpus: HashMap<u16, i32> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(tid) = step.task else { continue };
        let task = tasks.entry(tid).or_default();
        match step.what {
            What::Mask => {
                task.mask.set(step);
                task.last = None;
            }
            What::Place => (task.placement, task.found) = Default::default(),
            What::Find => task.found = step.to,
            What::Run => {
                let wrong = sent(task, tid, step);
                found.judge(Rule::Take, at, wrong);
            }
            What::Put => {
                task.placement = Placement::default();
                if let Some(wrong) = home(model, task, tid, step) {
                    found.judge(Rule::Put, at, Some(wrong));
                }
            }
            What::Start => {
                let cpu = step.to.unwrap_or(step.cpu);
                let beside = cpus.insert(cpu, tid).filter(|other| *other != tid);
                let wrong = started(model, task, (tid, cpu), beside);
                task.on = Some(cpu);
                task.last = Some(cpu);
                found.judge(Rule::Take, at, wrong);
            }
            What::Stop => {
                if let Some(cpu) = task.on.take().filter(|cpu| cpus.get(cpu) == Some(&tid)) {
                    cpus.remove(&cpu);
                }
            }
            // The kernel may place it elsewhere.
            What::Move | What::Leave | What::Left => task.placement = Placement::default(),
            _ => {}
        }
    }
}

/// A handler sends a task to a CPU.
fn sent(task: &mut Task, tid: i32, step: &Step) -> Option<String> {
    let cpu = step.to?;
    let claimed = task.found.take();
    task.placement.sent = Some(cpu);
    if claimed != Some(cpu) {
        return Some(format!("task {tid} is sent to CPU {cpu}, which its handler did not claim"));
    }
    if task.mask.allowed().is_some_and(|cpus| !cpus.contains(CpuId(cpu))) {
        return Some(format!("task {tid} is sent to CPU {cpu}, where it may not run"));
    }
    elsewhere(&task.placement, tid)
}

/// A task begins to run.
fn started(
    model: &Model<'_>,
    task: &mut Task,
    (tid, cpu): (i32, u16),
    beside: Option<i32>,
) -> Option<String> {
    task.placement.started.get_or_insert(cpu);
    if usize::from(cpu) >= model.cpus() {
        return Some(format!("task {tid} runs on CPU {cpu}, which the machine does not have"));
    }
    if let Some(other) = task.on.filter(|it| *it != cpu) {
        return Some(format!("task {tid} starts to run on CPU {cpu} while it runs on CPU {other}"));
    }
    if let Some(other) = beside {
        return Some(format!(
            "task {tid} starts to run on CPU {cpu} while task {other} runs there"
        ));
    }
    elsewhere(&task.placement, tid)
}

fn elsewhere(placement: &Placement, tid: i32) -> Option<String> {
    let (sent, started) = placement.sent.zip(placement.started)?;
    let wrong = sent != started;
    wrong.then(|| format!("task {tid} was sent to CPU {sent}, but starts to run on CPU {started}"))
}

/// The home of a task that is put is the CPU that it ran on last, if it may run there.
fn home(model: &Model<'_>, task: &Task, tid: i32, step: &Step) -> Option<String> {
    let (home, last) = (step.to?, task.last?);
    let may = task.mask.allowed().is_some_and(|cpus: CpuSet| cpus.contains(CpuId(last)));
    let part = QueueNumber::of(step.queue).part;
    let wrong = home != last && may && model.part_of(last) == Some(part);
    wrong.then(|| {
        format!(
            "the home of task {tid} is CPU {last}, but the task is enqueued as if its home were \
             {home}"
        )
    })
}
