//! One cell of the grid: a variant with a seed, run once, and the figures that are kept of it.

use serde::{Deserialize, Serialize};
use wastenot_check::{Movable, Scope, migrations, placements, waits, waste};
use wastenot_model::{Distribution, History, Silent, TaskSpans, replay};
use wastenot_scenario::scenario::Variant;
use wastenot_sim::{End, Made, Options, Outcome, Stuck, checkers, edf, simulate};

use crate::Error;
use crate::choice::made;
use crate::real_time::{Deadlines, RealTime};

/// A run in full.
#[derive(Debug)]
pub struct Run {
    /// What happened.
    pub history: History,
    /// How it ended.
    pub outcome: Outcome,
    /// What a real-time scheduler showed beside.
    pub real_time: Option<RealTime>,
}

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Whether everybody who is waited for ended before the limit.
    pub done: bool,
    /// How long it took, in simulated time.
    pub time_ns: u64,
    /// Rows of its History.
    pub rows: u64,
    /// Digest of its History ([`History::digest`]): the same wherever it is run.
    pub digest: u64,
    /// CPU time that CPUs were idle while tasks waited elsewhere.
    pub waste_cpu_ns: u64,
    /// What tasks of each kind did, by name in the order of the workload.
    pub kinds: Vec<Kind>,
    /// Of each mark, how late each was, in ascending order.
    pub marks: Vec<(String, Vec<u64>)>,
    /// What a real-time scheduler showed beside.
    pub real_time: Option<RealTime>,
}

/// What the tasks of one name did, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Their name.
    pub name: String,
    /// Whether they are waited for.
    pub awaited: bool,
    /// How many there were.
    pub tasks: u64,
    /// How many of them ended.
    pub ended: u64,
    /// When the first ended.
    pub first_ns: Option<u64>,
    /// When the last ended.
    pub last_ns: Option<u64>,
    /// CPU time.
    pub cpu_ns: u64,
    /// How often they were switched in.
    pub switches: u64,
    /// How long they waited to run, where the beginning of the wait is known.
    pub waits: Distribution,
    /// How often they went to another CPU.
    pub migrations: u64,
    /// How often to another node.
    pub remote_migrations: u64,
    /// Wakeups onto a busy CPU while one that the task may use was idle.
    pub busy_wakeups: u64,
    /// Of those, while its previous CPU was idle.
    pub prev_idle_wakeups: u64,
    /// Their jobs, under a real-time scheduler.
    pub deadlines: Deadlines,
}

/// Runs `variant` once.
pub fn run(variant: &Variant, options: &Options) -> Result<Run, Error> {
    let Variant { machine, costs, workload, .. } = variant;
    let (history, outcome, real_time) = match made(&variant.scheduler)? {
        Made::Policy(policy) => {
            let (history, outcome) = simulate(machine, costs, workload, policy, options);
            (history, outcome, None)
        }
        Made::RealTime(real) => {
            let ran = edf::run_workload(machine, costs, workload, &real, options);
            let ran = ran.map_err(|wrong| unfit(variant, &real, &wrong))?;
            let real_time = RealTime::of(&ran, workload);
            (ran.history, ran.outcome, Some(real_time))
        }
    };
    if cfg!(debug_assertions) {
        let wrong = checkers::wrong(&history);
        assert!(wrong.is_empty(), "{}, seed {}: {wrong:#?}", variant.name, options.seed);
    }
    match bad_end(&outcome, &history) {
        None => Ok(Run { history, outcome, real_time }),
        Some((what, help)) => {
            Err(Error::Run { variant: variant.name.clone(), seed: options.seed, what, help })
        }
    }
}

/// Whether `variant` can be run under its scheduler.
pub(crate) fn check(variant: &Variant) -> Result<(), Error> {
    let Made::RealTime(real) = made(&variant.scheduler)? else { return Ok(()) };
    let fits = edf::fits(&variant.machine, &variant.workload, &real);
    fits.map_err(|wrong| unfit(variant, &real, &wrong))
}

fn unfit(variant: &Variant, real: &edf::Real, wrong: &edf::NotSporadic) -> Error {
    Error::NotSporadic {
        variant: variant.name.clone(),
        scheduler: real.name(),
        what: wrong.to_string(),
        help: wrong.help().to_owned(),
    }
}

/// What went wrong and what to do about it; `None` if the run ended as it should. One that reached
/// its limit did, unless somebody who is waited for can never go on.
pub(crate) fn bad_end(outcome: &Outcome, history: &History) -> Option<(String, String)> {
    Some(match &outcome.end {
        End::Limit if !outcome.stuck.is_empty() => deadlock(&outcome.stuck, history),
        End::Done | End::Limit => return None,
        End::Deadlock(stuck) => deadlock(stuck, history),
        End::Livelock { task } => (
            format!("{} goes on for ever without any time passing", history.task_label(*task)),
            "put a `compute`, a `sleep` or something to wait for into its loop".into(),
        ),
        End::Crowd { parent } => (
            format!("there are a million tasks, and {} forks more", history.task_label(*parent)),
            "let it fork fewer, or a smaller `limit` end the run".into(),
        ),
        End::Fault(fault) => (
            format!("at {} the scheduler {}", fault.time, fault.what),
            "this is a bug of the scheduler: try another one".into(),
        ),
    })
}

/// Who waits for whom, and how that could end. Those that wait for a CPU come first: the others
/// spin, and wait for them.
fn deadlock(stuck: &[Stuck], history: &History) -> (String, String) {
    const SHOWN: usize = 4;
    let mut stuck: Vec<&Stuck> = stuck.iter().collect();
    stuck.sort_by_key(|it| !it.for_cpu);
    let each = stuck.iter().take(SHOWN).map(|it| {
        let task = history.task_label(it.task);
        let held = it.held_by.map(|owner| history.task_label(owner));
        let held = held.map_or_else(String::new, |owner| format!(", held by {owner}"));
        format!("{task} waits for {}{held}", it.waits_for)
    });
    let listed = each.collect::<Vec<_>>().join("; ");
    let more = stuck.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let help = match stuck.first().is_some_and(|it| it.for_cpu) {
        true => "let the spinning tasks block, or use fewer of them than CPUs",
        false => "add the unlock, put, signal or arrival that these tasks wait for",
    };
    (format!("deadlock: {listed}{more}"), help.into())
}

impl Run {
    /// The figures that are kept.
    pub fn cell(&self, variant: &Variant) -> Cell {
        let history = &self.history;
        let options = wastenot_check::Options::default();
        let (scope, movable) = (Scope::new(history, &options), Movable::survey(history));
        let mut waste = waste::Waste::new(history, &scope, &movable, &options);
        let mut waits = TaskSpans::new(waits::Watch::new(history, &scope));
        let mut migrations = migrations::Watch::new(history, &scope);
        let mut placements = placements::Watch::new(history, &scope, &movable);
        let mut all = ((&mut waste, &mut waits), (&mut migrations, &mut placements));
        replay(history, Silent::Unknown, &mut all);
        let (waits, migrations) = (waits.to.finish(), migrations.finish());
        let (waste, placements) = (waste.finish(), placements.finish());
        let mut kinds: Vec<Kind> = Vec::new();
        for template in &variant.workload.templates {
            if !kinds.iter().any(|kind| kind.name == template.name) {
                let (name, awaited) = (template.name.clone(), template.awaited);
                kinds.push(Kind { name, awaited, ..Kind::default() });
            }
        }
        for (task, known) in history.tasks() {
            let name = history.name(known.name);
            let Some(kind) = kinds.iter_mut().find(|kind| kind.name == name) else {
                continue; // a kernel thread of the scheduler
            };
            let index = task.ordinal();
            kind.tasks += 1;
            if let Some(ended) = self.outcome.ended.get(index).copied().flatten() {
                kind.ended += 1;
                kind.first_ns = Some(kind.first_ns.map_or(ended.0, |first| first.min(ended.0)));
                kind.last_ns = Some(kind.last_ns.map_or(ended.0, |last| last.max(ended.0)));
            }
            kind.cpu_ns += waits.by_task[index].run_ns;
            kind.switches += waits.by_task[index].runs;
            kind.waits.merge(&waits.by_task[index].waits);
            kind.migrations += migrations.by_task[index].count;
            kind.remote_migrations += migrations.by_task[index].remote;
            kind.busy_wakeups += placements.wakeups_by_task[index].on_busy_some_idle;
            kind.prev_idle_wakeups += placements.wakeups_by_task[index].on_busy_prev_idle;
        }
        for (name, deadlines) in self.real_time.iter().flat_map(|it| &it.deadlines) {
            if let Some(kind) = kinds.iter_mut().find(|kind| kind.name == *name) {
                kind.deadlines = *deadlines;
            }
        }
        Cell {
            done: self.outcome.end == End::Done,
            time_ns: self.outcome.time.0,
            rows: self.outcome.rows as u64,
            digest: history.digest(),
            waste_cpu_ns: waste.cpu_ns,
            kinds,
            marks: self.marks(variant),
            real_time: self.real_time.clone(),
        }
    }

    fn marks(&self, variant: &Variant) -> Vec<(String, Vec<u64>)> {
        let names = variant.workload.marks.iter();
        let mut marks: Vec<(String, Vec<u64>)> =
            names.map(|name| (name.clone(), Vec::new())).collect();
        for mark in &self.outcome.marks {
            marks[mark.mark.index()].1.push(mark.late.0);
        }
        marks.iter_mut().for_each(|(_, late)| late.sort_unstable());
        marks
    }
}
