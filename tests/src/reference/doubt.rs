//! What cannot be believed of a recording in which rows of a CPU are missing.
//!
//! Any task may have been moved, run, put to sleep or woken by rows that are missing. Therefore:
//!
//! - A task that began to wait while rows were missing surely waits only if the next row about it
//!   shows that it still does: it is switched in where it waits, or moved away from there. It does
//!   not if its CPU goes idle before, if there is no such row, or if it waited on a CPU whose rows
//!   are missing.
//! - Where a task comes to run, or is moved away, without having been seen to wait there, it was
//!   queued there since some time after its last row. If the CPU idled then, it was about to start
//!   that task, for at most a millisecond: so long it may not have been idle.
//! - As long as rows are missing, and until a row settles what they left open, any number of tasks
//!   may wait of which no row tells.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{Change, CpuId, Entry, Event, History, Missing, Silent, TaskId, Time};

use super::scene::{Doing, Scene};

/// An idle CPU starts within so long what is queued on it.
const STARTS_WITHIN_NS: u64 = 1_000_000;

/// Something that is unknown from some row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Wait(TaskId),
    Idleness(CpuId),
}

/// All of it, by the number of rows after which it holds.
pub(super) struct Doubts {
    pub(super) all: BTreeSet<(usize, Unknown)>,
    /// Until then tasks may wait of which no row tells.
    pub(super) until: Time,
}

/// How a wait goes on.
enum Ends {
    /// A row shows that the task waited until then, or nothing more can be said.
    Believed,
    /// It does not. If its CPU went idle, after how many rows.
    NotBelieved { at: Time, idle: Option<usize> },
}

pub(super) fn of(history: &History, silent: Silent) -> Doubts {
    let missing = Missing::find(history);
    let until = |missing: &Missing| missing.until.unwrap_or(Time::MAX);
    let mut doubts =
        Doubts { all: BTreeSet::new(), until: missing.iter().map(until).max().unwrap_or(Time(0)) };
    if missing.is_empty() {
        return doubts;
    }
    let entries: Vec<Entry> = history.entries().collect();
    let complete = entries.partition_point(|entry| entry.time < doubts.until);
    let mute: BTreeSet<CpuId> = missing.iter().map(|missing| missing.cpu).collect();
    let mut scene = Scene::start(history, silent);
    let mut last = BTreeMap::<TaskId, usize>::new();
    let mut idle: BTreeMap<CpuId, (usize, Option<usize>)> = BTreeMap::new();
    idle.extend(
        scene
            .cpus
            .iter()
            .filter(|(_, doing)| **doing == Doing::Idle)
            .map(|(cpu, _)| (*cpu, (0, None))),
    );
    let judge = Judge { entries: &entries, end: history.window().to, mute, complete };
    let waiting: Vec<TaskId> = scene.queue.iter().map(|(_, task)| *task).collect();
    waiting.into_iter().for_each(|task| judge.wait(task, 0, &mut scene, &mut doubts));
    for (row, entry) in entries.iter().enumerate() {
        if let Some((task, cpu)) = comes_unseen(entry, &scene) {
            let seen = last.get(&task).copied().unwrap_or(0);
            if seen <= complete {
                doubts.until = doubts.until.max(entry.time);
                judge.idleness(cpu, seen, idle.get(&cpu).copied(), entry.time, &mut doubts);
            }
        }
        let held = held_by(entry, &scene);
        scene.apply(entry);
        let held = held != held_by(entry, &scene);
        for task in about(entry, held) {
            last.insert(task, row + 1);
            judge.wait(task, row + 1, &mut scene, &mut doubts);
        }
        if let Event::Switch { cpu, next, .. } = entry.event {
            match idle.get_mut(&cpu) {
                _ if next.is_idle() => drop(idle.insert(cpu, (row + 1, None))),
                Some((_, end @ None)) => *end = Some(row),
                _ => {}
            }
        }
    }
    doubts
}

/// The tasks whose place or life a row is about.
fn about(entry: &Entry, changes_who_is_held: bool) -> Vec<TaskId> {
    let tasks = match entry.event {
        Event::Switch { prev, next, .. } => vec![prev, next],
        Event::Waking { task, .. } | Event::Queued { task, .. } | Event::Migrate { task, .. } => {
            vec![task]
        }
        Event::Fork { child, .. } => vec![child],
        Event::Changed { task, .. } if changes_who_is_held => vec![task],
        _ => Vec::new(),
    };
    tasks.into_iter().filter(|task| !task.is_idle()).collect()
}

/// Whether a quota holds back the task about which a row says so.
fn held_by(entry: &Entry, scene: &Scene) -> bool {
    let Event::Changed { task, what: Change::Throttled(_) } = entry.event else { return false };
    scene.held().any(|(other, _)| other == task)
}

/// The task that comes to run, or is moved away, where it was not seen to wait.
fn comes_unseen(entry: &Entry, scene: &Scene) -> Option<(TaskId, CpuId)> {
    let place = |task: TaskId| scene.queue.iter().find(|(_, other)| *other == task);
    match entry.event {
        Event::Switch { cpu, prev, next, .. } if prev != next && !next.is_idle() => {
            place(next).is_none().then_some((next, cpu))
        }
        Event::Migrate { task, from: Some(from), .. } if !task.is_idle() => {
            let unseen = place(task).is_none() && scene.may_be_queued(&task);
            unseen.then_some((task, from))
        }
        _ => None,
    }
}

struct Judge<'h> {
    entries: &'h [Entry],
    end: Time,
    /// The CPUs of which rows are missing.
    mute: BTreeSet<CpuId>,
    /// From this row on none is.
    complete: usize,
}

impl Judge<'_> {
    /// If `task` waits since `rows` rows, looks whether that is to be believed.
    fn wait(&self, task: TaskId, rows: usize, scene: &mut Scene, doubts: &mut Doubts) {
        let Some(&(place, _)) = scene.queue.iter().find(|(_, other)| *other == task) else {
            return;
        };
        if rows > self.complete {
            return;
        }
        let Ends::NotBelieved { at, idle } = self.ends(task, place, rows) else { return };
        doubts.until = doubts.until.max(at);
        doubts.all.insert((rows, Unknown::Wait(task)));
        if let Some(cpu) = place {
            if scene.cpus[&cpu] == Doing::Idle {
                doubts.all.insert((rows, Unknown::Idleness(cpu)));
            }
            doubts.all.extend(idle.map(|row| (row + 1, Unknown::Idleness(cpu))));
        }
        scene.lose_sight_of(task);
    }

    fn ends(&self, task: TaskId, place: Option<CpuId>, rows: usize) -> Ends {
        let sees = place.is_none_or(|cpu| !self.mute.contains(&cpu));
        for (row, entry) in self.entries.iter().enumerate().skip(rows) {
            let no = |idle: Option<usize>| Ends::NotBelieved { at: entry.time, idle };
            match entry.event {
                Event::Lost { .. } => return Ends::Believed,
                Event::Fork { child, .. } if child == task => return Ends::Believed,
                Event::Changed { task: other, what: Change::Throttled(true) } if other == task => {
                    return Ends::Believed;
                }
                Event::Switch { prev, .. } if prev == task => return no(None),
                Event::Switch { cpu, next, .. } if next.is_idle() && place == Some(cpu) => {
                    return no(Some(row));
                }
                Event::Switch { cpu, next, .. } if next == task => {
                    let there = place.is_none_or(|place| place == cpu) && sees;
                    return if there { Ends::Believed } else { no(None) };
                }
                Event::Waking { task: other, .. } | Event::Queued { task: other, .. }
                    if other == task =>
                {
                    return no(None);
                }
                Event::Migrate { task: other, from, .. } if other == task => {
                    let there = from.is_none() || (from == place && sees);
                    return if there { Ends::Believed } else { no(None) };
                }
                _ => {}
            }
        }
        Ends::NotBelieved { at: self.end, idle: None }
    }

    /// A task was queued on `cpu` at some time after `seen` rows, and left at `now`.
    fn idleness(
        &self,
        cpu: CpuId,
        seen: usize,
        stretch: Option<(usize, Option<usize>)>,
        now: Time,
        doubts: &mut Doubts,
    ) {
        let Some((from, ended)) = stretch else { return };
        if ended.is_some_and(|row| row < seen) {
            return;
        }
        let end = ended.map_or(now, |row| self.entries[row].time);
        let early = Time(end.0.saturating_sub(STARTS_WITHIN_NS));
        let late = self.entries.iter().take_while(|entry| entry.time <= early).count();
        let late = ended.map_or(late, |row| late.min(row + 1));
        doubts.all.insert((from.max(seen).max(late), Unknown::Idleness(cpu)));
    }
}
