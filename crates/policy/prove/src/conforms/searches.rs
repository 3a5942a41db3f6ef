//! Searches for idle CPUs that found none.

use std::collections::HashMap;

use wastenot_model::{CpuId, CpuSet};
use wastenot_rota::ir::Level;
use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::flags::Flags;
use super::model::Model;
use super::order::Sweep;
use super::stays::Stays;
use super::{Conformance, Rule};

/// A search fails only if each CPU that it looks at was busy at some moment. The chain looks for
/// each task that waits.
pub(super) fn check(
    model: &Model<'_>,
    steps: &[Step],
    stays: &Stays,
    flags: &Flags,
    found: &mut Conformance,
) {
    let masks = Masks::of(steps);
    let mut asked: Vec<usize> = (0..steps.len())
        .filter(|n| match steps[*n].what {
            What::Find | What::Claim => steps[*n].to.is_none(),
            What::Chain => true,
            _ => false,
        })
        .collect();
    asked.sort_by_key(|n| steps[*n].begin);
    let mut searched: HashMap<(u16, i32), Vec<u64>> = HashMap::new();
    for step in steps.iter().filter(|it| it.what == What::Claim) {
        let Some(task) = step.task else { continue };
        searched.entry((step.cpu, task)).or_default().push(step.begin);
    }
    let mut sweep = Sweep::new(&stays.all);
    for at in asked {
        let step = &steps[at];
        let wrong = match step.what {
            What::Chain => {
                sweep.until(step.begin);
                let has = |task: i32| {
                    let all = searched.get(&(step.cpu, task)).map_or(&[][..], Vec::as_slice);
                    let after = all.partition_point(|begin| *begin < step.begin);
                    all.get(after).is_some_and(|begin| *begin < step.end)
                };
                chain(model, step, flags, &sweep, has)
            }
            // A search within a narrower level is around a place that the log does not tell.
            _ if step.value != Level::Machine as i64 => {
                found.count(Rule::Search).open += 1;
                continue;
            }
            _ => search(model, step, flags, &masks),
        };
        found.judge(Rule::Search, at, wrong);
    }
}

fn search(model: &Model<'_>, step: &Step, flags: &Flags, masks: &Masks) -> Option<String> {
    let task = step.task?;
    let allowed = masks.of_task(task, step.begin, step.end)?;
    let queue = (step.what == What::Claim).then(|| QueueNumber::of(step.queue));
    let part = match queue {
        Some(queue) => queue.part,
        // A handler looks in the partition of its task.
        None => model.part_of(step.cpu).filter(|_| model.parts() == 1)?,
    };
    let looks = |cpu: u16| queue.is_none_or(|queue| model.looks(cpu, queue));
    let is = |cpu: &&CpuId| {
        allowed.contains(**cpu) && looks(cpu.0) && flags.covers(cpu.0, step.begin, step.end)
    };
    let cpu = model.cpus_of(part).iter().find(is)?.0;
    Some(format!(
        "the search for an idle CPU for task {task} finds none, although the idle flag of CPU \
         {cpu} was set all the time"
    ))
}

/// `has` tells whether it searched for a task: then the search is judged by itself.
fn chain(
    model: &Model<'_>,
    step: &Step,
    flags: &Flags,
    sweep: &Sweep<'_>,
    has: impl Fn(i32) -> bool,
) -> Option<String> {
    let part = step.queue as usize;
    let sleeps = |cpu: &&CpuId| flags.covers(cpu.0, step.begin, step.end);
    let asleep: Vec<u16> = model.cpus_of(part).iter().filter(sleeps).map(|it| it.0).collect();
    sweep.stays().filter(|stay| stay.queue.part == part && !stay.queue.pinned).find_map(|stay| {
        if has(stay.task) || !stay.covers(step.begin, step.end) {
            return None;
        }
        let takes = |cpu: &&u16| stay.may(**cpu) && model.looks(**cpu, stay.queue);
        let cpu = asleep.iter().find(takes)?;
        let (by, task) = (step.cpu, stay.task);
        Some(format!(
            "after CPU {by} took a task, it wakes no CPU for the waiting task {task}, although CPU \
             {cpu} sleeps"
        ))
    })
}

/// The affinity of tasks, as it was recorded.
struct Masks {
    of: HashMap<i32, Vec<Mask>>,
}

/// An affinity. It is not older than one moment, and surely there from another.
struct Mask {
    maybe: u64,
    surely: u64,
    cpus: CpuSet,
}

impl Masks {
    fn of(steps: &[Step]) -> Masks {
        let mut words: HashMap<i32, HashMap<u64, u64>> = HashMap::new();
        let mut of: HashMap<i32, Vec<Mask>> = HashMap::new();
        // An affinity changes while its task is in no queue: after the last step of the task.
        let mut last: HashMap<i32, u64> = HashMap::new();
        for step in steps {
            let Some(task) = step.task else { continue };
            if step.what == What::Mask {
                let words = words.entry(task).or_default();
                words.insert(step.queue, step.value as u64);
                let cpus = words.iter().flat_map(|(word, bits)| {
                    let (word, bits) = (*word, *bits);
                    let is_set = move |n: &u64| bits >> n & 1 == 1;
                    (0..64).filter(is_set).map(move |n| CpuId((word * 64 + n) as u16))
                });
                let maybe = last.get(&task).copied().unwrap_or(0);
                let cpus = cpus.collect();
                of.entry(task).or_default().push(Mask { maybe, surely: step.end, cpus });
            } else if matches!(step.what, What::Place | What::Stop | What::Start | What::Leave) {
                last.insert(task, step.begin);
            }
        }
        Masks { of }
    }

    /// The affinity that a task surely had all the time.
    fn of_task(&self, task: i32, from: u64, until: u64) -> Option<&CpuSet> {
        let all = self.of.get(&task)?;
        let after = all.partition_point(|it| it.surely <= from);
        let same = all.get(after).is_none_or(|next| next.maybe >= until);
        all[..after].last().filter(|_| same).map(|it| &it.cpus)
    }
}
