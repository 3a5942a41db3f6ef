//! A counterexample in the terms of a policy: the recorded names become its queues and variables.

use wastenot_model::{CpuId, CpuSet, Machine};
use wastenot_rota::Tree;
use wastenot_rota::ir::{ClaimKind, Event, Level, Policy};

use super::Recorded;
use crate::counterexample::annexes::{self, CPUS, QueueOf, Row};
use crate::counterexample::situation::{AWAY, KEY, RUNS, WAITS};
use crate::explore::{Bounds, Found, Given, Place, Situation, Step, Task, World, Wrong};
use crate::{Error, Small};

/// The most tasks of a counterexample: the most that the search uses, and a rival for each CPU.
const TASKS: usize = Bounds::FARTHEST.tasks + CPUS;
/// The most CPUs, and the most tasks, for which other traces from the same situation are searched.
const SMALL: usize = 4;

/// The steps that are forced on a policy.
pub(super) struct Told<'r> {
    pub(super) policy: &'r Policy,
    pub(super) small: Small,
    /// What is wrong at the end. `None`: the counterexample is about a key.
    pub(super) wrong: Option<Wrong>,
    pub(super) cpu: CpuId,
    pub(super) situation: Situation,
    /// The steps, each with its queue, if it has one.
    pub(super) steps: Vec<(Step, Option<usize>)>,
    /// The name of the claim that it was found against.
    pub(super) claim: &'r str,
    /// Variables of CPUs that the policy does not have.
    pub(super) left_out: Vec<String>,
}

impl<'r> Told<'r> {
    pub(super) fn of(recorded: &'r Recorded, policy: &'r Policy) -> Result<Told<'r>, Error> {
        let small = small(policy, &recorded.machine)?;
        let about = &recorded.tables.about;
        let wrong = Wrong::ALL.into_iter().find(|wrong| wrong.name() == about.way);
        if wrong.is_none() && about.way != KEY {
            return Err(unknown("counterexample", 1, "way", &about.way));
        }
        let fit = Fit { recorded, policy, small: &small };
        let situation = fit.situation()?;
        let left_out = fit.left_out();
        let rows = recorded.steps.iter().enumerate();
        let steps = rows.map(|(n, row)| fit.step(n + 1, row, situation.tasks.len()));
        let steps: Result<Vec<_>, Error> = steps.collect();
        let steps = steps?;
        let (cpu, claim) = (about.cpu, about.claim.as_str());
        Ok(Told { policy, small, wrong, cpu, situation, steps, claim, left_out })
    }

    /// The steps of a trace that a search found.
    pub(super) fn of_found(world: &World<'r>, found: &Found) -> Told<'r> {
        let from = world.policy.idle.as_ref().map(|balance| balance.from);
        let queue = |step: &Step| match *step {
            Step::Took { queue, .. } | Step::Woken { queue, .. } => Some(queue),
            Step::Read { .. } | Step::Tried { .. } | Step::Stole { .. } => from,
            Step::Moved { from, .. } => Some(from.0),
            Step::Sets { .. } | Step::GivesUp => None,
        };
        Told {
            policy: world.policy,
            small: found.small.clone(),
            wrong: found.wrong,
            cpu: found.cpu,
            situation: found.situation.clone(),
            steps: found.steps.iter().map(|step| (step.clone(), queue(step))).collect(),
            claim: "",
            left_out: Vec::new(),
        }
    }

    pub(super) fn world(&self) -> World<'_> {
        World::new(self.policy, &self.small)
    }

    /// Whether other traces from the same situation can be searched.
    pub(super) fn machine_is_small(&self) -> bool {
        self.small.tree.cpus().len() <= SMALL && self.situation.tasks.len() <= SMALL
    }

    pub(super) fn cpus(&self) -> Vec<CpuId> {
        self.small.tree.cpus().to_vec()
    }
}

/// The machine as `policy` sees it.
pub(super) fn small(policy: &Policy, machine: &Machine) -> Result<Small, Error> {
    let cpus = CpuSet::first(machine.len());
    let numbers = machine.cpus.iter().flat_map(|cpu| [cpu.core, cpu.llc, cpu.node, cpu.package]);
    if let Some(number) = numbers.flatten().find(|&number| number as usize >= CPUS) {
        let what = format!("a core, cache, node or package with the number {number}");
        return Err(Error::TooLarge { what, limit: CPUS });
    }
    let rows = machine.distances.iter().flatten();
    let nodes = machine.distances.as_ref().map_or(0, Vec::len);
    if nodes > CPUS || rows.into_iter().any(|row| row.len() != nodes) {
        return Err(Error::TooLarge {
            what: format!("{nodes} nodes, or a node with a different number of distances"),
            limit: CPUS,
        });
    }
    let tree = match policy.protocol.groups_from_cpu0 {
        true => Tree::from_cpu0(machine, &cpus),
        false => Tree::of(machine, &cpus),
    };
    Ok(Small { machine: machine.clone(), tree })
}

/// The error of a value that is not a known one.
fn unknown(table: &'static str, row: usize, column: &'static str, what: &str) -> Error {
    let what: String = what.chars().take(40).collect();
    Error::BadCell {
        table,
        row,
        column,
        why: format!("is `{what}`, which is not a valid value here"),
    }
}

/// The index of a queue of `policy` and its group, which must exist.
pub(super) fn queue_of(
    recorded: &Recorded,
    policy: &Policy,
    tree: &Tree,
    (name, group): &QueueOf,
) -> Result<(usize, usize), Error> {
    let unfit = |why: String| Error::Unfit { policy: policy.name.clone(), why };
    let at = policy.queues.iter().position(|queue| queue.name == *name);
    let at = at.ok_or_else(|| {
        let names: Vec<&str> = policy.queues.iter().map(|queue| queue.name.as_str()).collect();
        unfit(format!("it has no queue `{name}`, but {}", names.join(", ")))
    })?;
    let per = policy.queues[at].per;
    let told = recorded.tables.queues.iter().find(|(queue, _)| queue == name);
    if let Some((_, told)) = told.filter(|(_, told)| Level::named(told) != Some(per)) {
        return Err(unfit(format!(
            "each {} has its own queue `{name}`, but in the counterexample each {told} has its own",
            per.name()
        )));
    }
    let count = tree.count(per);
    if *group >= count {
        return Err(unfit(format!(
            "it has {count} queues `{name}`, but the counterexample uses the queue with number \
             {group}"
        )));
    }
    Ok((at, *group))
}

struct Fit<'r> {
    recorded: &'r Recorded,
    policy: &'r Policy,
    small: &'r Small,
}

impl Fit<'_> {
    fn queue(&self, queue: &QueueOf) -> Result<(usize, usize), Error> {
        queue_of(self.recorded, self.policy, &self.small.tree, queue)
    }

    fn situation(&self) -> Result<Situation, Error> {
        let tasks = &self.recorded.tables.tasks;
        if tasks.len() > TASKS {
            let what = format!("{} tasks", tasks.len());
            return Err(Error::TooLarge { what, limit: TASKS });
        }
        let mut situation =
            Situation { tasks: Vec::new(), vars: World::new(self.policy, self.small).vars() };
        for (n, task) in tasks.iter().enumerate() {
            let task = self.task(n + 1, task)?;
            if let Place::Runs(cpu) = task.place
                && !situation.is_idle(cpu)
            {
                return Err(bad(n + 1, "cpu", "already runs another task"));
            }
            situation.tasks.push(task);
        }
        for (cpu, name, value) in &self.recorded.tables.variables {
            if let Some(var) = self.var(name) {
                situation.vars[cpu.index()][var] = *value;
            }
        }
        Ok(situation)
    }

    fn var(&self, name: &str) -> Option<usize> {
        self.policy.cpu_vars.iter().position(|var| var.name == *name)
    }

    /// The recorded variables that the policy lacks. A fixed text may do without a variable, and is
    /// forced nevertheless.
    fn left_out(&self) -> Vec<String> {
        let named = self.recorded.tables.variables.iter().map(|(_, name, _)| name);
        let mut left: Vec<String> =
            named.filter(|name| self.var(name).is_none()).cloned().collect();
        left.sort();
        left.dedup();
        left
    }

    fn task(&self, row: usize, task: &annexes::Task) -> Result<Task, Error> {
        let mask = task.allowed.iter().fold(0u32, |mask, cpu| mask | 1 << cpu.0);
        if mask == 0 {
            return Err(bad(row, "allowed", "names no CPU"));
        }
        if wastenot_model::nice::with_scx_weight(task.weight).is_none() {
            return Err(bad(row, "weight", "is not the weight of any nice value"));
        }
        let place = match (task.place.as_str(), task.cpu, &task.queue) {
            (RUNS, Some(cpu), _) => Place::Runs(cpu),
            (WAITS, _, Some(queue)) => {
                let (queue, group) = self.queue(queue)?;
                Place::Waits { queue, group }
            }
            // A step puts the task there, so it is treated as waiting there.
            (AWAY, _, Some(queue)) => {
                let (queue, group) = self.queue(queue)?;
                Place::Waits { queue, group }
            }
            (AWAY, ..) => Place::Away,
            (place, ..) => return Err(unknown("situation", row, "place", place)),
        };
        Ok(Task { place, mask, weight: task.weight })
    }

    fn step(&self, n: usize, row: &Row, tasks: usize) -> Result<(Step, Option<usize>), Error> {
        let missing = |column| Error::BadCell {
            table: "steps",
            row: n,
            column,
            why: "is missing".to_owned(),
        };
        let task = || match row.task {
            Some(task) if task < tasks => Ok(task),
            _ => Err(missing("task")),
        };
        let cpu = || row.cpu.ok_or_else(|| missing("cpu"));
        let at = |queue: &Option<QueueOf>, column| match queue {
            Some(queue) => self.queue(queue),
            None => Err(missing(column)),
        };
        let queue = || at(&row.queue, "queue");
        let event = || {
            let event = row.event.as_deref().ok_or_else(|| missing("event"))?;
            Event::named(event).ok_or_else(|| unknown("steps", n, "event", event))
        };
        let step = match row.kind.as_str() {
            "takes" => {
                let (queue, group) = queue()?;
                Step::Took { queue, group }
            }
            "reads" => {
                let passed = row.passed.ok_or_else(|| missing("passed"))?;
                Step::Read { group: queue()?.1, passed }
            }
            "tries" => {
                let refused = row.refused.ok_or_else(|| missing("refused"))?;
                Step::Tried { group: queue()?.1, refused }
            }
            "steals" => Step::Stole { group: queue()?.1, task: task()? },
            "moves" => {
                let into = at(&row.into, "into")?;
                Step::Moved { by: cpu()?, task: task()?, from: queue()?, into }
            }
            "puts" => {
                let (queue, group) = queue()?;
                let event = event()?;
                if !event.places() {
                    return Err(unknown("steps", n, "event", event.name()));
                }
                Step::Woken { task: task()?, event, prev: cpu()?, queue, group }
            }
            "sets" => Step::Sets {
                event: event()?,
                var: 0,
                before: row.before.ok_or_else(|| missing("before"))?,
                after: row.after.ok_or_else(|| missing("after"))?,
                least: self.recorded.tables.about.claim != ClaimKind::VtMonotone.name(),
                given: self.given()?,
            },
            "sleeps" => Step::GivesUp,
            kind => return Err(unknown("steps", n, "kind", kind)),
        };
        let about = row.queue.as_ref().map(|queue| self.queue(queue)).transpose()?;
        Ok((step, about.map(|(queue, _)| queue)))
    }

    fn given(&self) -> Result<Given, Error> {
        let numbers = &self.recorded.tables.numbers;
        let number = |name: &str| {
            let found = numbers.iter().find(|(known, _)| known == name);
            let missing = Error::BadCell {
                table: "numbers",
                row: numbers.len(),
                column: "number",
                why: format!("does not name `{name}`"),
            };
            found.map(|(_, value)| *value).ok_or(missing)
        };
        Ok(Given {
            var: number("var")?,
            least: number("least")?,
            ran: number("ran")?,
            now: number("now")?,
            weight: number("weight")?,
        })
    }
}

fn bad(row: usize, column: &'static str, why: &str) -> Error {
    Error::BadCell { table: "situation", row, column, why: why.to_owned() }
}
