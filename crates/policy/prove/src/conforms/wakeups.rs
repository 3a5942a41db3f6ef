//! Lost wakeups: a CPU sleeps, a task waits that it would take, and no wakeup is pending.

use std::collections::BTreeMap;

use wastenot_rota::step_log::{Step, What};

use super::flags::Flags;
use super::model::Model;
use super::stays::Stays;
use super::{Conformance, Rule};

/// What happens at a moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// A wakeup is on its way from here on; it may be several.
    Way(usize, i64),
    Waits(usize, bool),
    Sleeps(u16, bool),
}

/// Looks at every state in which no wakeup is on the way.
pub(super) fn check(
    model: &Model<'_>,
    steps: &[Step],
    stays: &Stays,
    flags: &Flags,
    found: &mut Conformance,
) {
    let mut changes = ways(model, steps);
    for (n, stay) in stays.all.iter().enumerate() {
        // What is in the queue of one CPU waits for that CPU only.
        if let Some(there) = stay.there.filter(|there| *there < stay.until) {
            changes.push((there, Change::Waits(n, true)));
            changes.push((stay.until, Change::Waits(n, false)));
        }
    }
    for cpu in 0..model.cpus() {
        for (from, until) in flags.certain(cpu) {
            changes.push((*from, Change::Sleeps(cpu as u16, true)));
            changes.push((*until, Change::Sleeps(cpu as u16, false)));
        }
    }
    changes.sort();
    let mut ways = vec![0i64; model.parts()];
    let mut waits: Vec<usize> = Vec::new();
    let mut sleeps = vec![0u32; model.cpus()];
    let last = steps.last().map_or(0, |step| step.end);
    let mut told: Vec<(i32, u16)> = Vec::new();
    for (n, (moment, change)) in changes.iter().enumerate() {
        match change {
            // A queue of another text may be in a partition that there is not.
            Change::Way(part, more) => ways.get_mut(*part).into_iter().for_each(|it| *it += more),
            Change::Waits(stay, true) => waits.push(*stay),
            Change::Waits(stay, false) => waits.retain(|it| it != stay),
            Change::Sleeps(cpu, true) => sleeps[usize::from(*cpu)] += 1,
            Change::Sleeps(cpu, false) => sleeps[usize::from(*cpu)] -= 1,
        }
        // A state lasts from one moment to another.
        if changes.get(n + 1).is_none_or(|(next, _)| next == moment) || *moment >= last {
            continue;
        }
        for &stay in &waits {
            let stay = &stays.all[stay];
            if ways.get(stay.queue.part).is_none_or(|ways| *ways > 0) {
                continue;
            }
            if stay.early {
                found.count(Rule::Wakeup).open += 1;
                continue;
            }
            found.count(Rule::Wakeup).judged += 1;
            let is = |cpu: &u16| {
                sleeps[usize::from(*cpu)] > 0 && stay.may(*cpu) && model.looks(*cpu, stay.queue)
            };
            let Some(cpu) = (0..model.cpus() as u16).find(is) else { continue };
            if told.contains(&(stay.task, cpu)) {
                continue;
            }
            told.push((stay.task, cpu));
            let (task, name) = (stay.task, model.name(stay.queue));
            let at = steps.partition_point(|step| step.end <= *moment).min(steps.len() - 1);
            let why =
                format!("CPU {cpu} sleeps, task {task} waits in {name}, and no wakeup is pending");
            found.breaks.push(super::Break { at, rule: Rule::Wakeup, why });
        }
    }
}

/// When wakeups are on the way in each partition.
fn ways(model: &Model<'_>, steps: &[Step]) -> Vec<(u64, Change)> {
    let mut all = Vec::new();
    let mut way = |part: Option<usize>, from: u64, until: u64| {
        if let Some(part) = part.filter(|_| from <= until) {
            all.push((from, Change::Way(part, 1)));
            // What it brings about is certain at the moment after.
            all.push((until.saturating_add(1), Change::Way(part, -1)));
        }
    };
    // By task: since when it is being put. By CPU: since when it is awake and will look.
    let mut puts: BTreeMap<i32, (Option<usize>, u64)> = BTreeMap::new();
    let mut awake: BTreeMap<u16, u64> = BTreeMap::new();
    // By CPU: when it was claimed last, and when it began to set its flag.
    let mut claimed: BTreeMap<u16, u64> = BTreeMap::new();
    let mut set: BTreeMap<u16, u64> = BTreeMap::new();
    for step in steps {
        let part = model.part_of(step.cpu);
        match step.what {
            What::Put | What::Move => {
                let part = Some((step.queue >> 32) as usize);
                puts.extend(step.task.map(|task| (task, (part, step.begin))));
            }
            // The search for a task that was put ends its put; early ones are never over.
            What::Claim | What::Find | What::Start | What::Leave | What::Left => {
                if let Some(to) = step.to.filter(|_| step.what == What::Claim) {
                    awake.entry(to).or_insert(step.begin);
                    claimed.insert(to, step.end);
                }
                if let Some((part, from)) = step.task.and_then(|task| puts.remove(&task)) {
                    way(part, from, step.end);
                }
            }
            What::Idle | What::Busy => {
                if let Some(to) = step.to {
                    awake.entry(to).or_insert(step.begin);
                    if step.what == What::Idle {
                        set.insert(to, step.begin);
                    }
                }
            }
            What::Attempt => {
                let to = step.to.unwrap_or(step.cpu);
                // If another CPU claimed this CPU after it set its flag, it looks again.
                let again = claimed.get(&to) >= set.get(&to) && claimed.contains_key(&to);
                if step.value == 0
                    && step.queue == 0
                    && !again
                    && let Some(from) = awake.remove(&to)
                {
                    way(model.part_of(to), from, step.end);
                } else if step.value == 1 {
                    awake.entry(to).or_insert(step.begin);
                }
            }
            What::Chain => {
                if let Some(from) = awake.remove(&step.cpu) {
                    way(part, from, step.end);
                }
            }
            _ => {}
        }
    }
    for (cpu, from) in awake {
        way(model.part_of(cpu), from, u64::MAX - 1);
    }
    for (part, from) in puts.into_values() {
        way(part, from, u64::MAX - 1);
    }
    all
}
