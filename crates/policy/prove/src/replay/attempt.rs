//! A forced attempt of an idle CPU: the CPU executes its text, with reads and tries in the recorded
//! order.

use wastenot_model::CpuId;
use wastenot_rota::attempt::{Next, Progress};
use wastenot_rota::interpret::{Found, Read};
use wastenot_rota::ir::{Balance, Num};

use super::Otherwise;
use super::stage::Stage;
use crate::explore::{Events, Step, failing};

/// The attempt of the CPU finds no task, though a task waits.
pub(super) fn fails(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let cpu = stage.told.cpu;
    lead(stage, cpu)?;
    match stage.wanted(cpu) {
        Some(_) => Ok(()),
        None => Err(format!("no task that may run on CPU {cpu} waits any more").into()),
    }
}

/// The attempts of all idle CPUs fail. The steps of one CPU are recorded; the explorer decides
/// whether the attempts of the others can fail too.
pub(super) fn round(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    fails(stage)?;
    let situation = &stage.told.situation;
    let idle = stage.told.cpus().into_iter().filter(|&cpu| situation.is_idle(cpu));
    all_fail(stage, idle.collect())
}

/// The attempts of all CPUs fail.
pub(super) fn lost(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    fails(stage)?;
    all_fail(stage, stage.told.cpus())
}

fn all_fail(stage: &Stage<'_>, cpus: Vec<CpuId>) -> Result<(), Otherwise> {
    let told = stage.told;
    let count = |of: fn(&Step) -> bool| told.steps.iter().filter(|(step, _)| of(step)).count();
    let events = Events {
        wakes: count(|step| matches!(step, Step::Woken { .. })).min(1),
        moves: count(|step| matches!(step, Step::Moved { .. })).min(1),
        only: told.steps.iter().find_map(|(step, _)| match *step {
            Step::Moved { by, task, from, into } => Some((by, task, from, into)),
            _ => None,
        }),
    };
    for cpu in cpus.into_iter().filter(|&cpu| cpu != told.cpu) {
        if failing(&told.world(), &told.situation, cpu, events).is_none() {
            let mut alone = Stage::at(told, stage.afresh());
            return Err(Otherwise(Cursor::new(cpu).goes_on(&mut alone)));
        }
    }
    Ok(())
}

/// Forces all recorded steps on `cpu`.
fn lead(stage: &mut Stage<'_>, cpu: CpuId) -> Result<(), Otherwise> {
    let mut cursor = Cursor::new(cpu);
    for (step, queue) in &stage.told.steps {
        if let Err(Otherwise(mut words)) = cursor.step(stage, step, *queue) {
            words.extend(cursor.goes_on(stage));
            return Err(Otherwise(words));
        }
        stage.as_recorded();
    }
    Ok(())
}

/// The position of a CPU in its text.
struct Cursor {
    cpu: CpuId,
    progress: Progress,
    /// The CPU has a task, or sleeps.
    over: bool,
}

impl Cursor {
    fn new(cpu: CpuId) -> Cursor {
        Cursor { cpu, progress: Progress::default(), over: false }
    }

    /// Does a recorded step, if it is one that the text allows now.
    fn step(
        &mut self,
        stage: &mut Stage<'_>,
        step: &Step,
        queue: Option<usize>,
    ) -> Result<(), Otherwise> {
        match *step {
            Step::Woken { task, event, prev, queue, group } => {
                return stage.wakes((event, task), prev, (queue, group), self.cpu);
            }
            Step::Moved { by, task, from, into } => return stage.pulls((by, task), from, into),
            _ => {}
        }
        let from = stage.told.policy.idle.as_ref().map(|balance| balance.from);
        let balances = queue.is_some() && queue == from;
        match (self.next(stage), step) {
            (Next::Takes(at), Step::Took { queue, group }) if at == (*queue, *group) => {
                self.takes(stage, at).map_or(Ok(()), |words| Err(words.into()))
            }
            (Next::Reads(unread), Step::Read { group, passed })
                if balances && unread.contains(group) =>
            {
                let now = self.reads(stage, *group);
                match now == *passed {
                    true => Ok(()),
                    false => Err(stage.says(self.cpu, *group, now).into()),
                }
            }
            (Next::Tries(passed), Step::Tried { group, refused })
                if balances && passed.iter().any(|(passed, _)| passed == group) =>
            {
                match (self.tries(stage, *group), refused) {
                    (Found::Nobody, false) | (Found::Refused, true) => Ok(()),
                    (found, _) => Err(stage.tried(self.cpu, *group, found).into()),
                }
            }
            (Next::Sleeps, Step::GivesUp) => Ok(()),
            // `goes_on` reports what the CPU does instead.
            _ => Err(Otherwise(Vec::new())),
        }
    }

    /// The next action of the CPU, in the order of its text.
    fn next(&mut self, stage: &Stage<'_>) -> Next<'_> {
        self.progress.next(stage.told.policy, &stage.forced.looks(self.cpu))
    }

    /// Looks into a queue. `Some`: the words of the step if the CPU takes a task.
    fn takes(&mut self, stage: &mut Stage<'_>, at: (usize, usize)) -> Option<String> {
        self.progress.took_none();
        let Found::Task(task) = stage.forced.takes(self.cpu, at) else { return None };
        self.over = true;
        let (cpu, task, queue) = (self.cpu, task.ordinal(), stage.queue(at));
        Some(format!("CPU {cpu} takes task {task} from {queue}"))
    }

    /// Reads a candidate, and returns whether it passes the filter.
    fn reads(&mut self, stage: &mut Stage<'_>, group: usize) -> bool {
        let Read { passed, seen } = stage.forced.reads(self.cpu, group, &memory(stage));
        self.progress.read(group, passed.then_some(seen));
        passed
    }

    fn tries(&mut self, stage: &mut Stage<'_>, group: usize) -> Found {
        let seen = self.progress.tries(group);
        let found = stage.forced.tries(self.cpu, group, seen);
        self.over |= matches!(found, Found::Task(_));
        found
    }

    /// Lets the CPU go on until it has a task or sleeps. Returns its steps in words.
    fn goes_on(&mut self, stage: &mut Stage<'_>) -> Vec<String> {
        let mut words = Vec::new();
        while !self.over {
            match self.next(stage) {
                Next::Takes(at) => {
                    let (cpu, queue) = (self.cpu, stage.queue(at));
                    let found = self.takes(stage, at);
                    words.push(found.unwrap_or_else(|| {
                        format!("CPU {cpu} looks into {queue}: {}", stage.no_task(at))
                    }));
                }
                Next::Reads(unread) => {
                    let group = unread[0];
                    let passed = self.reads(stage, group);
                    words.push(stage.says(self.cpu, group, passed));
                }
                Next::Tries(passed) => {
                    let passed: Vec<usize> = passed.iter().map(|(group, _)| *group).collect();
                    let order = stage.forced.order(self.cpu, &passed);
                    let group = order.first().copied().unwrap_or(passed[0]);
                    let found = self.tries(stage, group);
                    words.push(stage.tried(self.cpu, group, found));
                }
                Next::Sleeps => {
                    self.over = true;
                    words.push(format!("CPU {} goes to sleep", self.cpu));
                }
            }
        }
        words
    }
}

/// The numbers that the re-check of the policy remembers.
pub(super) fn memory(stage: &Stage<'_>) -> Vec<Num> {
    stage.told.policy.idle.as_ref().map(Balance::remembered).unwrap_or_default()
}
