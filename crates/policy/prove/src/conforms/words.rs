//! Steps in words.

use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::Model;

/// A step as a sentence without its subject's time.
pub(super) fn words(model: &Model<'_>, step: &Step) -> String {
    let cpu = step.cpu;
    let task = step.task.map_or("no task".to_owned(), |task| format!("task {task}"));
    let to = step.to.map_or("no CPU".to_owned(), |to| format!("CPU {to}"));
    let queue = || model.name(QueueNumber::of(step.queue));
    match step.what {
        What::Mask => {
            format!("{task}: CPUs that may run it (word {}): {:#x}", step.queue, step.value)
        }
        What::Place => {
            let event = Step::EVENTS.get(step.queue as usize).copied().unwrap_or("?");
            let again = if step.value == 1 { ", which waited" } else { "" };
            format!("CPU {cpu} places {task}{again}: {event}")
        }
        What::Put => format!("CPU {cpu} puts {task} into {}, key {}", queue(), step.value),
        What::In => format!("{task} is in {}", queue()),
        What::Early => format!("{task} is perhaps not yet in {}", queue()),
        What::Find => format!("CPU {cpu} claims for {task}: {to}"),
        What::Claim => format!("CPU {cpu} searches for {task} in {} and claims {to}", queue()),
        What::Kick => format!("CPU {cpu} kicks {to}"),
        What::Run => format!("CPU {cpu} sends {task} to {to}"),
        What::Idle => format!("CPU {cpu} sets the idle flag of {to}"),
        What::Busy => format!("CPU {cpu} clears the idle flag of {to}"),
        What::Take if step.value == 0 => format!("CPU {cpu} finds no task in {}", queue()),
        What::Take => format!("CPU {cpu} takes a task from {}", queue()),
        What::Select => format!("CPU {cpu} chooses group {}", step.queue),
        What::Steal if step.value == 0 => format!("CPU {cpu} fails to steal from {}", queue()),
        What::Steal => format!("CPU {cpu} steals a task from {}", queue()),
        What::Move => format!("CPU {cpu} moves {task} into {}, key {}", queue(), step.value),
        What::Attempt => {
            let on = if step.queue == 1 { " (its own task can continue)" } else { "" };
            let came = if step.value == 1 { "took a task" } else { "found no task" };
            format!("{to} {came}{on}")
        }
        What::Chain => format!(
            "CPU {cpu} searches for idle CPUs that can run waiting tasks{}",
            if step.value == 0 { ": no CPU sleeps" } else { "" }
        ),
        What::Start if step.value == 0 => format!("{task} begins to run on {to}"),
        What::Start => format!("{task} begins to run on {to}, slice {}", step.value),
        What::Stop => format!("{task} stops on {to}"),
        What::Leave => format!("the kernel takes {task} out of its queue"),
        What::Left => format!("{task} changes to another scheduling class"),
        What::Regular => {
            let came = if step.value == 1 { "moved a task" } else { "moved no task" };
            format!("a regular balance of {to} {came}")
        }
        What::Above => format!(
            "a task of a higher class {} on {to}",
            if step.value == 1 { "starts" } else { "stops" }
        ),
    }
}
