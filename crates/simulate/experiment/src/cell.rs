//! One cell of the grid: the figures that are kept of a run.

use serde::{Deserialize, Serialize};
use wastenot_check::causes::{Causes, LostTime};
use wastenot_check::{Movable, Scope, migrations, placements, waits, waste};
use wastenot_model::{Distribution, Silent, TaskSpans, replay};
use wastenot_scenario::scenario::Variant;
use wastenot_sim::End;

use crate::longest::{Longest, Wait};
use crate::real_time::{Deadlines, RealTime};
use crate::{Fault, Run};

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
    /// The longest wait of a task of the workload, where tasks are real.
    #[serde(default)]
    pub longest: Option<Wait>,
    /// What each cause took of the waste, the largest first, where tasks are real.
    #[serde(default)]
    pub causes: Vec<(String, u64)>,
    /// Whether programs of users ran while instructions were counted: how long they take is then
    /// not what hardware would show.
    #[serde(default)]
    pub untimed: bool,
    /// What went wrong with the scheduler: its figures are unknown then.
    #[serde(default)]
    pub fault: Option<Fault>,
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

impl Run {
    /// The longest wait of a real task of the workload.
    pub fn longest_wait(&self) -> Option<Wait> {
        let mut longest = TaskSpans::new(Longest::new(&self.history, self.of_work()));
        replay(&self.history, Silent::Unknown, &mut longest);
        longest.to.finish()
    }

    /// Which tasks are real ones of the workload.
    fn of_work(&self) -> Vec<bool> {
        self.templates.iter().flatten().map(Option::is_some).collect()
    }

    /// The figures that are kept.
    pub fn cell(&self, variant: &Variant) -> Cell {
        let history = &self.history;
        let options = wastenot_check::Options::default();
        let (scope, movable) = (Scope::new(history, &options), Movable::survey(history));
        let mut waste = waste::Waste::new(history, &scope, &movable, &options);
        let mut waits = waits::Watch::new(history, &scope);
        let mut migrations = migrations::Watch::new(history, &scope, &options);
        let mut placements = placements::Watch::new(history, &scope, &movable);
        let mut longest = TaskSpans::new(Longest::new(history, self.of_work()));
        let mut all =
            ((&mut waste, (&mut waits, &mut longest)), (&mut migrations, &mut placements));
        replay(history, Silent::Unknown, &mut all);
        let (waits, migrations) = (waits.finish(), migrations.finish());
        let (waste, placements) = (waste.finish(), placements.finish());
        let is_real = self.templates.is_some();
        let mut kinds: Vec<Kind> = Vec::new();
        for template in &variant.workload.templates {
            if !kinds.iter().any(|kind| kind.name == template.name) {
                let (name, awaited) = (template.name.clone(), template.awaited);
                kinds.push(Kind { name, awaited, ..Kind::default() });
            }
        }
        for (task, known) in history.tasks() {
            let index = task.ordinal();
            let name = match &self.templates {
                None => Some(history.name(known.name)),
                Some(all) => all.get(index).copied().flatten().map(|it| {
                    let templates = &variant.workload.templates;
                    templates[it.index()].name.as_str()
                }),
            };
            let Some(kind) = kinds.iter_mut().find(|kind| Some(&*kind.name) == name) else {
                continue; // a kernel thread of the scheduler, or a stranger
            };
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
            longest: longest.to.finish(),
            causes: waste.causes.iter().filter(|_| is_real).flat_map(shares).collect(),
            untimed: history.head.source.counted().is_some()
                && !variant.workload.commands.is_empty(),
            fault: self.fault.clone(),
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

/// What each cause took of the waste, the largest first.
fn shares(causes: &Causes) -> Vec<(String, u64)> {
    let took =
        causes.iter().map(|(cause, part)| (cause.label(), part.ns[LostTime::Waste as usize]));
    let mut took: Vec<(String, u64)> =
        took.filter(|(_, ns)| *ns > 0).map(|(label, ns)| (label.to_owned(), ns)).collect();
    took.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    took
}
