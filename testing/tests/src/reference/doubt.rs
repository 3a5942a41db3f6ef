//! What is unreliable in a recording in which rows of a CPU are missing: if its data is missing, up
//! to its first row; if it lost events, from the loss to its next row.
//!
//! The missing rows may have moved any task, run it, put it to sleep or woken it. Therefore:
//!
//! - If rows are missing between the row with which a task began to wait and the next row about it,
//!   it surely waits only if the latter shows that it still does: it is switched in where it waits,
//!   or moved away from there. It does not surely wait if its CPU goes idle before, if there is no
//!   such row before the next loss or the end, or if it waited on a CPU whose rows are missing.
//! - If a task is switched in, or moved away, without having been seen to wait there, it was queued
//!   there since some time after its last row. If the CPU idled then, it was about to start that
//!   task, for at most a millisecond: that long the CPU may not have been idle.
//! - As long as rows are missing, and until a row settles which waits are reliable, any number of
//!   tasks may wait that no row reports.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{
    Carries, Change, CpuId, Entry, Event, History, Missing, Silent, TaskId, Time,
};

use super::scene::{Doing, Life, Scene};

/// An idle CPU starts a task that is queued on it within this time.
const STARTS_WITHIN_NS: u64 = 1_000_000;

/// Something that is unknown from some row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Wait(TaskId),
    Idleness(CpuId),
}

/// All doubts, by the number of rows after which they hold.
pub(super) struct Doubts {
    pub(super) all: BTreeSet<(usize, Unknown)>,
    gaps: Vec<Gap>,
    /// These rows, at these times, settle what was left open.
    settled: Vec<(usize, Time)>,
    /// The bound that a part has from the whole.
    unseen_until: Time,
    /// No row reports moves: those are missing all the time.
    moves: bool,
}

/// Rows of a CPU are missing.
struct Gap {
    cpu: CpuId,
    /// From before this row on, until this one.
    rows: (usize, usize),
    from: Time,
    to: Time,
}

impl Doubts {
    /// Whether tasks may wait at this time that no row reports.
    pub(super) fn hide(&self, now: Time) -> bool {
        let settles = |gap: &Gap| {
            // The last gap before a row left open what the row settles.
            let last =
                |row: usize| self.gaps.iter().map(|it| it.rows.0).filter(|it| *it <= row).max();
            let mine = self.settled.iter().filter(|(row, _)| last(*row) == Some(gap.rows.0));
            mine.map(|(_, time)| *time).max().unwrap_or(gap.to).max(gap.to)
        };
        now < self.unseen_until || self.gaps.iter().any(|gap| gap.from <= now && now < settles(gap))
    }

    /// The smallest number of rows after which rows are missing, among the gaps that may be between
    /// `rows` rows and now. Before that no task was queued unseen.
    fn since(&self, rows: usize) -> usize {
        let gaps = self.gaps.iter().filter(|gap| rows <= gap.rows.1);
        gaps.map(|gap| gap.rows.0).min().filter(|_| !self.moves).unwrap_or(0)
    }

    /// Whether rows, or those of this CPU, may be missing between `rows` rows and this one.
    fn lacks(&self, cpu: Option<CpuId>, rows: usize, row: usize) -> bool {
        if self.moves && cpu.is_none() {
            return true;
        }
        let of = |gap: &&Gap| cpu.is_none_or(|cpu| gap.cpu == cpu);
        self.gaps.iter().filter(of).any(|gap| gap.rows.0 <= row && rows <= gap.rows.1)
    }
}

fn gaps(history: &History, entries: &[Entry]) -> Vec<Gap> {
    let lost = |entry: &Entry| matches!(entry.event, Event::Lost { .. });
    let gap = |cpu: CpuId, begins: usize, from: Time| {
        let next = |(_, entry): &(usize, &Entry)| entry.cpu == cpu && !lost(entry);
        let next = entries.iter().enumerate().skip(begins).find(next);
        let (row, to) = next.map_or((usize::MAX, Time::MAX), |(row, entry)| (row, entry.time));
        Gap { cpu, rows: (begins, row), from, to }
    };
    let missing = Missing::find(history).into_iter().map(|missing| missing.cpu);
    let told = history.head.start.iter().flat_map(|start| start.missing.iter().copied());
    let from = history.window().from;
    let mut all: Vec<Gap> = missing.chain(told).map(|cpu| gap(cpu, 0, from)).collect();
    if all.is_empty() && history.head.start.iter().any(|start| start.unseen_until > Time(0)) {
        // Before this part; tasks that were queued then may not be seen yet.
        all.push(Gap { cpu: CpuId(u16::MAX), rows: (0, 0), from, to: from });
    }
    for (row, entry) in entries.iter().enumerate().filter(|(_, entry)| lost(entry)) {
        all.push(gap(entry.cpu, row + 1, entry.time));
    }
    all
}

/// The end of a wait.
enum Ends {
    /// A row shows that the task waited until then, or no more can be known.
    Believed,
    /// No row shows it. If its CPU went idle, the number of rows before that.
    NotBelieved { at: Time, idle: Option<usize> },
}

pub(super) fn of(history: &History, silent: Silent) -> Doubts {
    let entries: Vec<Entry> = history.entries().collect();
    let gaps = gaps(history, &entries);
    let start = history.head.start.as_ref();
    let unseen_until = start.map_or(Time(0), |start| start.unseen_until);
    let carries = history.head.carries;
    let moves = carries.has(Carries::PLACEMENT) && !carries.has(Carries::MIGRATIONS);
    let mut doubts =
        Doubts { all: BTreeSet::new(), gaps, settled: Vec::new(), unseen_until, moves };
    let untold = carries.has(Carries::PLACEMENT) && !carries.has(Carries::NEW);
    if doubts.gaps.is_empty() && !moves && !untold {
        return doubts;
    }
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
    let judge = Judge { entries: &entries, end: history.window().to };
    let waiting: Vec<TaskId> = scene.queue.iter().map(|(_, task)| *task).collect();
    waiting.into_iter().for_each(|task| judge.wait(task, 0, &mut scene, &mut doubts));
    for (row, entry) in entries.iter().enumerate() {
        if let Some((task, cpu)) = comes_unseen(entry, &scene) {
            let seen = last.get(&task).copied().unwrap_or(0);
            // A task that no row has put on a run queue may be new, even if no row reports new
            // tasks.
            let new = untold && matches!(scene.life(task), Life::New | Life::Unknown);
            if new || doubts.lacks(None, seen, row) {
                let since = if new { 0 } else { doubts.since(seen) };
                let idle = idle.get(&cpu).copied();
                judge.idleness(cpu, (seen, since), idle, entry.time, &mut doubts);
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

/// Whether a quota throttles the task whose throttling a row reports.
fn held_by(entry: &Entry, scene: &Scene) -> bool {
    let Event::Changed { task, what: Change::Throttled(_) } = entry.event else { return false };
    scene.held().any(|(other, _)| other == task)
}

/// The task that is switched in, or moved away, where it was not seen to wait.
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
}

impl Judge<'_> {
    /// If `task` has waited since `rows` rows, decides whether that is reliable.
    fn wait(&self, task: TaskId, rows: usize, scene: &mut Scene, doubts: &mut Doubts) {
        let Some(&(place, _)) = scene.queue.iter().find(|(_, other)| *other == task) else {
            return;
        };
        // A task that may wait anywhere may be about to start on any idle CPU.
        if place.is_none() {
            return;
        }
        let (row, ends) = self.ends(task, place, rows, doubts);
        let Ends::NotBelieved { at, idle } = ends else { return };
        if !doubts.lacks(None, rows, row) {
            return;
        }
        doubts.settled.push((row, at));
        doubts.all.insert((rows, Unknown::Wait(task)));
        if let Some(cpu) = place {
            if scene.cpus[&cpu] == Doing::Idle {
                doubts.all.insert((rows, Unknown::Idleness(cpu)));
            }
            doubts.all.extend(idle.map(|row| (row + 1, Unknown::Idleness(cpu))));
        }
        scene.lose_sight_of(task);
    }

    /// What the next row about the task shows, and the index of that row.
    fn ends(
        &self,
        task: TaskId,
        place: Option<CpuId>,
        rows: usize,
        doubts: &Doubts,
    ) -> (usize, Ends) {
        for (row, entry) in self.entries.iter().enumerate().skip(rows) {
            let believed = |it: bool| match it {
                true => (row, Ends::Believed),
                false => (row, Ends::NotBelieved { at: entry.time, idle: None }),
            };
            let sees = || place.is_none_or(|cpu| !doubts.lacks(Some(cpu), rows, row));
            match entry.event {
                // A gap that only begins here hides nothing before.
                Event::Lost { .. } => return believed(!doubts.lacks(None, rows, row)),
                Event::Fork { child, .. } if child == task => return believed(true),
                Event::Changed { task: other, what: Change::Throttled(true) } if other == task => {
                    return believed(true);
                }
                Event::Switch { prev, .. } if prev == task => return believed(false),
                Event::Switch { cpu, next, .. } if next.is_idle() && place == Some(cpu) => {
                    return (row, Ends::NotBelieved { at: entry.time, idle: Some(row) });
                }
                Event::Switch { cpu, next, .. } if next == task => {
                    return believed(place.is_none_or(|place| place == cpu) && sees());
                }
                Event::Waking { task: other, .. } | Event::Queued { task: other, .. }
                    if other == task =>
                {
                    return believed(false);
                }
                Event::Migrate { task: other, from, .. } if other == task => {
                    return believed(from.is_none() || (from == place && sees()));
                }
                _ => {}
            }
        }
        (self.entries.len(), Ends::NotBelieved { at: self.end, idle: None })
    }

    /// A task was queued on `cpu` at some time after `seen` rows, and after the row count at which
    /// rows are missing, and left at `now`.
    fn idleness(
        &self,
        cpu: CpuId,
        (seen, lacks): (usize, usize),
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
        let from = from.max(seen).max(late).max(lacks);
        doubts.all.insert((from, Unknown::Idleness(cpu)));
    }
}
