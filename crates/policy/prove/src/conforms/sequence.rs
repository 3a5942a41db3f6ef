//! The order of the steps of each CPU.

use std::collections::BTreeSet;

use wastenot_rota::step_log::{Step, What};

use super::model::Model;
use super::{Conformance, Rule};

/// What a CPU did since its last attempt ended.
#[derive(Default)]
struct Cpu {
    /// Since the last attempt: its flag was set, and when it looked first.
    idle: Option<u64>,
    looked: Option<u64>,
    /// When it began to take a task.
    took: Option<u64>,
    /// It took a task: it has to clear its flag, then to search.
    owes: Option<Owes>,
    /// The task that is in its queue now: a search has to follow.
    inserted: Option<i32>,
    /// CPUs that it claimed and did not kick yet.
    claimed: BTreeSet<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owes {
    Clearing,
    Searching,
}

/// Checks the steps of each CPU.
pub(super) fn check(model: &Model<'_>, steps: &[Step], found: &mut Conformance) {
    let mut cpus: Vec<Cpu> = (0..model.cpus()).map(|_| Cpu::default()).collect();
    for (at, step) in steps.iter().enumerate() {
        let Some(cpu) = cpus.get_mut(usize::from(step.cpu)) else { continue };
        let wrong = one(cpu, step);
        match step.what {
            What::Attempt | What::Busy | What::Chain | What::In | What::Early => {
                found.judge(Rule::Sequence, at, wrong);
            }
            _ => {
                found.breaks.extend(wrong.map(|why| super::Break {
                    at,
                    rule: Rule::Sequence,
                    why,
                }));
            }
        }
    }
}

fn one(cpu: &mut Cpu, step: &Step) -> Option<String> {
    let me = step.cpu;
    if let Some(task) = cpu.inserted.take()
        && !(step.what == What::Claim && step.task == Some(task))
    {
        return Some(format!(
            "task {task} is in its queue, but CPU {me} does not search for an idle CPU"
        ));
    }
    if cpu.owes == Some(Owes::Clearing) && step.what != What::Busy {
        cpu.owes = None;
        return Some(format!("CPU {me} took a task but does not clear its idle flag"));
    }
    match step.what {
        What::Idle => cpu.idle = Some(step.end),
        What::Take | What::Steal => {
            cpu.looked.get_or_insert(step.begin);
            if step.value == 1 {
                cpu.took = Some(step.begin);
            }
        }
        What::Busy if cpu.owes == Some(Owes::Clearing) => cpu.owes = Some(Owes::Searching),
        What::Chain => cpu.owes = None,
        What::In | What::Early => cpu.inserted = step.task,
        What::Claim | What::Find => cpu.claimed.extend(step.to),
        What::Kick => {
            cpu.claimed.retain(|it| Some(*it) != step.to);
        }
        What::Attempt => return attempt(cpu, step),
        _ => {}
    }
    None
}

fn attempt(cpu: &mut Cpu, step: &Step) -> Option<String> {
    let me = step.cpu;
    let (idle, looked) = (cpu.idle.take(), cpu.looked.take());
    let took = cpu.took.take().is_some_and(|took| took >= step.begin);
    let searched = cpu.owes.take() != Some(Owes::Searching);
    if step.value == 1 {
        cpu.owes = Some(Owes::Clearing);
    }
    let could_go_on = step.queue == 1;
    let set = idle.filter(|set| *set >= step.begin);
    if !could_go_on && set.is_none() {
        return Some(format!("CPU {me} looks for a task but has not set its idle flag"));
    }
    if !could_go_on && looked.zip(set).is_some_and(|(looked, set)| looked < set) {
        return Some(format!("CPU {me} looks for a task before it sets its idle flag"));
    }
    if took != (step.value == 1) {
        let [does, says] = if took { ["took a task", "none"] } else { ["took none", "one"] };
        return Some(format!(
            "CPU {me} {does}, but the record of its attempt says that it took {says}"
        ));
    }
    if let Some(claimed) = std::mem::take(&mut cpu.claimed).first() {
        return Some(format!("CPU {me} claimed CPU {claimed} but did not kick it"));
    }
    let why = "took a task, but did not search for idle CPUs for the tasks that still wait";
    (!searched).then(|| format!("CPU {me} {why}"))
}
