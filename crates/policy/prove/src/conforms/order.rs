//! Queues are taken from in their order, and looks that find nothing found nothing.

use wastenot_rota::step_log::{QueueNumber, Step, What};

use super::model::Model;
use super::stays::{Stay, Stays};
use super::{Conformance, Rule};

/// A question about what was in queues during a step.
struct Asked {
    at: usize,
    begin: u64,
}

/// Checks the order of takes, looks that found nothing, and failed attempts.
pub(super) fn check(model: &Model<'_>, steps: &[Step], stays: &Stays, found: &mut Conformance) {
    let mut by_step = vec![None; steps.len()];
    for (n, stay) in stays.all.iter().enumerate() {
        if let Some((at, _)) = stay.taken {
            by_step[at] = Some(n);
        }
    }
    let looks = |step: &Step| matches!(step.what, What::Take | What::Steal | What::Attempt);
    let mut asked: Vec<Asked> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| looks(step))
        .map(|(at, step)| Asked { at, begin: step.begin })
        .collect();
    asked.sort_by_key(|it| it.begin);
    let mut sweep = Sweep::new(&stays.all);
    let mut failed = Vec::new();
    for it in asked {
        let step = &steps[it.at];
        sweep.until(it.begin);
        match (step.what, step.value, by_step[it.at]) {
            (What::Attempt, 0, _) if step.queue == 0 => {
                failed.push((it.at, attempt(model, step, &sweep)));
                let wrong = failed.last().and_then(|(_, waits)| waits.clone());
                found.judge(Rule::Look, it.at, wrong);
            }
            (What::Attempt, ..) => {}
            (_, 0, _) => found.judge(Rule::Look, it.at, look(model, step, &sweep)),
            (_, _, Some(taken)) => {
                let wrong = order(model, step, &stays.all[taken], &sweep);
                found.judge(Rule::Order, it.at, wrong);
            }
            _ => found.count(Rule::Order).open += 1,
        }
    }
    theorem(model, steps, stays, found);
}

/// Which stays surely have begun and may not have ended.
pub(super) struct Sweep<'s> {
    all: &'s [Stay],
    /// By when they surely had begun.
    order: Vec<usize>,
    next: usize,
    now: Vec<usize>,
}

impl<'s> Sweep<'s> {
    pub(super) fn new(all: &'s [Stay]) -> Sweep<'s> {
        let mut order: Vec<usize> = (0..all.len()).filter(|n| all[*n].there.is_some()).collect();
        order.sort_by_key(|n| all[*n].there);
        Sweep { all, order, next: 0, now: Vec::new() }
    }

    /// Goes on to a moment.
    pub(super) fn until(&mut self, moment: u64) {
        while let Some(&n) = self.order.get(self.next)
            && self.all[n].there.is_some_and(|there| there <= moment)
        {
            self.now.push(n);
            self.next += 1;
        }
        self.now.retain(|n| self.all[*n].until >= moment);
    }

    pub(super) fn stays(&self) -> impl Iterator<Item = &'s Stay> {
        self.now.iter().map(|n| &self.all[*n])
    }
}

/// A look found nothing: no task was there all the time that could have been taken.
fn look(model: &Model<'_>, step: &Step, sweep: &Sweep<'_>) -> Option<String> {
    let queue = QueueNumber::of(step.queue);
    let is = |stay: &&Stay| {
        stay.queue == queue && stay.covers(step.begin, step.end) && stay.may(step.cpu)
    };
    let stay = sweep.stays().find(is)?;
    let (cpu, name, task) = (step.cpu, model.name(queue), stay.task);
    Some(format!(
        "CPU {cpu} finds no task in {name}, although task {task} waited there all the time"
    ))
}

/// A whole attempt found nothing: the same of each queue that the CPU looks into.
fn attempt(model: &Model<'_>, step: &Step, sweep: &Sweep<'_>) -> Option<String> {
    let cpu = step.to.unwrap_or(step.cpu);
    let is = |stay: &&Stay| {
        stay.covers(step.begin, step.end) && stay.may(cpu) && model.looks(cpu, stay.queue)
    };
    let stay = sweep.stays().find(is)?;
    let (task, name) = (stay.task, model.name(stay.queue));
    Some(format!(
        "an attempt of CPU {cpu} fails, although task {task} waited in {name} all the time"
    ))
}

/// A task was taken: none that the CPU may take was before it.
fn order(model: &Model<'_>, step: &Step, taken: &Stay, sweep: &Sweep<'_>) -> Option<String> {
    let keyed = model.is_ordered(taken.queue);
    let is_before = |stay: &Stay| match keyed {
        true => stay.key.wrapping_sub(taken.key) < 0,
        false => stay.there.is_some_and(|there| there <= taken.from),
    };
    let is = |stay: &&Stay| {
        stay.queue == taken.queue
            && stay.task != taken.task
            && stay.covers(step.begin, step.end)
            && stay.may(step.cpu)
            && is_before(stay)
    };
    let stay = sweep.stays().find(is)?;
    let (cpu, name) = (step.cpu, model.name(taken.queue));
    let (task, before) = (taken.task, stay.task);
    Some(format!("CPU {cpu} takes task {task} from {name}, but task {before} was ahead of it"))
}

/// Theorem 2: an attempt that fails while a task waits needs a removal by another CPU. Each counts
/// once for each CPU.
fn theorem(model: &Model<'_>, steps: &[Step], stays: &Stays, found: &mut Conformance) {
    let mut spans: Vec<&Stay> = stays.all.iter().filter(|it| it.there.is_some()).collect();
    spans.sort_by_key(|it| it.there);
    // The longest stay bounds how far back one has to look.
    let mut used: Vec<Vec<bool>> = vec![Vec::new(); model.cpus()];
    let over = |it: &Stay| it.gone.min(it.perhaps);
    let mut removals: Vec<&Stay> = stays.all.iter().filter(|it| over(it) < u64::MAX).collect();
    removals.sort_by_key(|it| over(it));
    let mut active: Vec<&Stay> = Vec::new();
    let mut next = 0;
    let mut failed: Vec<(usize, &Step)> = steps
        .iter()
        .enumerate()
        .filter(|(_, it)| it.what == What::Attempt && it.queue == 0 && it.value == 0)
        .collect();
    failed.sort_by_key(|(_, it)| it.begin);
    for (at, step) in failed {
        found.failed += 1;
        let cpu = step.to.unwrap_or(step.cpu);
        while let Some(stay) = spans.get(next).filter(|it| it.there <= Some(step.end)) {
            active.push(stay);
            next += 1;
        }
        active.retain(|it| it.until >= step.begin);
        let mine = active.iter().filter(|it| it.may(cpu) && model.looks(cpu, it.queue));
        let mut reached = step.begin;
        for stay in mine {
            if stay.there.is_some_and(|there| there <= reached) {
                reached = reached.max(stay.until);
            }
        }
        if reached < step.end {
            continue;
        }
        found.beside += 1;
        let used = &mut used[usize::from(cpu)];
        used.resize(removals.len(), false);
        let first = removals.partition_point(|it| over(it) < step.begin);
        let by_other = |n: &usize| {
            let it = removals[*n];
            let own = it.taken.is_some_and(|(_, by)| by == cpu);
            let within = it.until <= step.end;
            !used[*n] && within && !own && it.may(cpu) && model.looks(cpu, it.queue)
        };
        let removal = (first..removals.len())
            .take_while(|n| over(removals[*n]) <= step.end.saturating_add(REACH))
            .find(by_other);
        let wrong = match removal {
            Some(n) => {
                used[n] = true;
                None
            }
            None => {
                found.beyond += 1;
                Some(format!(
                    "an attempt of CPU {cpu} fails, although it may take a waiting task and no \
                     other CPU removed a task (Theorem 2)"
                ))
            }
        };
        found.judge(Rule::Attempt, at, wrong);
    }
}

/// How many moments after an attempt a removal that began within it may end.
const REACH: u64 = 10_000;
