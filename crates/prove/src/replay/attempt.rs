//! An attempt of an idle CPU, forced: it does what its text says, in the recorded order.

use wastenot_model::CpuId;
use wastenot_rota::interpret::{Forced, Found, Read};
use wastenot_rota::ir::{Attempt, Balance, Num, Policy};

use super::Otherwise;
use super::stage::Stage;
use crate::explore::{Events, Step, failing};

/// The attempt finds nobody, though somebody waits.
pub(super) fn fails(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    let cpu = stage.told.cpu;
    lead(stage, cpu)?;
    match stage.wanted(cpu) {
        Some(_) => Ok(()),
        None => Err(format!("nobody waits any more that may run on CPU {cpu}").into()),
    }
}

/// So do those of all idle CPUs. Steps are recorded of one; that the others can fail too, the
/// explorer says.
pub(super) fn round(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    fails(stage)?;
    let situation = &stage.told.situation;
    let idle = stage.told.cpus().into_iter().filter(|&cpu| situation.is_idle(cpu));
    all_fail(stage, idle.collect())
}

/// So do those of all CPUs.
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

/// Leads `cpu` through all recorded steps.
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

/// Where in its text a CPU is.
struct Cursor {
    cpu: CpuId,
    /// Index into the policy's dispatch.
    attempt: usize,
    scan: Option<Scan>,
    /// It has a task, or sleeps.
    over: bool,
}

/// How far a balance is at one of its levels.
struct Scan {
    level: usize,
    unread: Vec<usize>,
    /// Candidates that passed and were not tried yet, with what the re-check remembers.
    passed: Vec<(usize, Vec<i64>)>,
    /// How many may still be tried.
    tries: u64,
}

/// What the text has a CPU do next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Takes((usize, usize)),
    /// One of these candidates.
    Reads(Vec<usize>),
    /// One of these.
    Tries(Vec<usize>),
    Sleeps,
}

impl Cursor {
    fn new(cpu: CpuId) -> Cursor {
        Cursor { cpu, attempt: 0, scan: None, over: false }
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
        match (self.next(&stage.forced, stage.told.policy), step) {
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
                if balances && passed.contains(group) =>
            {
                match (self.tries(stage, *group), refused) {
                    (Found::Nobody, false) | (Found::Refused, true) => Ok(()),
                    (found, _) => Err(stage.tried(self.cpu, *group, found).into()),
                }
            }
            (Next::Sleeps, Step::GivesUp) => Ok(()),
            // What it does instead is told by whoever lets it go on.
            _ => Err(Otherwise(Vec::new())),
        }
    }

    /// What the CPU does next, in the order of its text.
    fn next(&mut self, forced: &Forced, policy: &Policy) -> Next {
        loop {
            let levels = policy.idle.as_ref().map_or(0, |balance| balance.levels.len());
            match (&self.scan, policy.dispatch.get(self.attempt)) {
                (Some(scan), _) if !scan.unread.is_empty() => {
                    return Next::Reads(scan.unread.clone());
                }
                (Some(scan), _) if !scan.passed.is_empty() && scan.tries > 0 => {
                    return Next::Tries(scan.passed.iter().map(|(group, _)| *group).collect());
                }
                (Some(scan), _) if scan.level + 1 < levels => {
                    self.scan = Some(self.begin(forced, scan.level + 1));
                }
                (None, None) => return Next::Sleeps,
                (None, Some(Attempt::Balance)) if levels > 0 => {
                    self.scan = Some(self.begin(forced, 0));
                }
                (None, Some(Attempt::Take(..))) => {
                    if let Some(at) = forced.clone().takes_from(self.cpu, self.attempt) {
                        return Next::Takes(at);
                    }
                    self.attempt += 1;
                }
                _ => (self.scan, self.attempt) = (None, self.attempt + 1),
            }
        }
    }

    fn begin(&self, forced: &Forced, level: usize) -> Scan {
        let tries = forced.tries_max().unwrap_or(u64::MAX);
        Scan { level, unread: forced.candidates(self.cpu, level), passed: Vec::new(), tries }
    }

    /// Looks into a queue; if it takes a task, that in words.
    fn takes(&mut self, stage: &mut Stage<'_>, at: (usize, usize)) -> Option<String> {
        self.attempt += 1;
        let Found::Task(task) = stage.forced.takes(self.cpu, at) else { return None };
        self.over = true;
        let (cpu, task, queue) = (self.cpu, task.ordinal(), stage.queue(at));
        Some(format!("CPU {cpu} takes task {task} from {queue}"))
    }

    /// Reads a candidate; whether it passes.
    fn reads(&mut self, stage: &mut Stage<'_>, group: usize) -> bool {
        let Read { passed, seen } = stage.forced.reads(self.cpu, group, &memory(stage));
        let Some(scan) = &mut self.scan else { return passed };
        scan.unread.retain(|&unread| unread != group);
        if passed {
            scan.passed.push((group, seen));
        }
        passed
    }

    fn tries(&mut self, stage: &mut Stage<'_>, group: usize) -> Found {
        let Some(scan) = &mut self.scan else { return Found::Nobody };
        scan.tries = scan.tries.saturating_sub(1);
        let at = scan.passed.iter().position(|(passed, _)| *passed == group);
        let seen = at.map(|at| scan.passed.remove(at).1).unwrap_or_default();
        let found = stage.forced.tries(self.cpu, group, seen);
        self.over |= matches!(found, Found::Task(_));
        found
    }

    /// The CPU goes on by itself, until it has a task or sleeps; what it does, in words.
    fn goes_on(&mut self, stage: &mut Stage<'_>) -> Vec<String> {
        let mut words = Vec::new();
        while !self.over {
            match self.next(&stage.forced, stage.told.policy) {
                Next::Takes(at) => {
                    let (cpu, queue) = (self.cpu, stage.queue(at));
                    let found = self.takes(stage, at);
                    words.push(found.unwrap_or_else(|| {
                        format!("CPU {cpu} looks into {queue}: {}", stage.nobody(at))
                    }));
                }
                Next::Reads(unread) => {
                    let passed = self.reads(stage, unread[0]);
                    words.push(stage.says(self.cpu, unread[0], passed));
                }
                Next::Tries(passed) => {
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

/// What the re-check of the policy remembers.
pub(super) fn memory(stage: &Stage<'_>) -> Vec<Num> {
    stage.told.policy.idle.as_ref().map(Balance::remembered).unwrap_or_default()
}
