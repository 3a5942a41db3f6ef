//! What each CPU did, and when it was wasted, without `State`: one piece for each time between two
//! rows.

use wastenot_model::{Activity, CpuId, History, Silent, TaskId, Window};

use super::scene::{Doing, Scene};
use super::{doubt, fits, largest, pinned};

/// What a CPU did in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When.
    pub window: Window,
    /// What it did.
    pub activity: Activity,
    /// How many tasks waited on it.
    pub waiting: u64,
    /// It was idle, and a candidate that waited elsewhere could have run there.
    pub wanted: bool,
}

/// The pieces of every CPU, in order.
pub fn lanes(history: &History) -> Vec<(CpuId, Vec<Piece>)> {
    let mut scene = Scene::start(history, Silent::Unknown);
    let pinned = pinned::assumed(history);
    let doubts = doubt::of(history, Silent::Unknown);
    let mut lanes: Vec<(CpuId, Vec<Piece>)> = history.cpus().map(|cpu| (cpu, Vec::new())).collect();
    let mut open = doubts.all.iter().peekable();
    let mut entries = history.entries().peekable();
    let (mut now, end) = (history.window().from, history.window().to);
    let mut rows = 0;
    while now < end {
        loop {
            while let Some((_, what)) = open.next_if(|(after, _)| *after <= rows) {
                match *what {
                    doubt::Unknown::Wait(task) => scene.lose_sight_of(task),
                    doubt::Unknown::Idleness(cpu) => scene.lose_idleness_of(cpu),
                }
            }
            let Some(entry) = entries.next_if(|entry| entry.time <= now) else { break };
            scene.apply(&entry);
            rows += 1;
        }
        let to = entries.peek().map_or(end, |entry| entry.time);
        let window = Window { from: now, to };
        let wanted = wanted(history, &scene, &|task| pinned.contains(task));
        for (cpu, pieces) in &mut lanes {
            let waiting = scene.queue.iter().filter(|(place, _)| *place == Some(*cpu)).count();
            let activity = match scene.cpus.get(cpu) {
                None | Some(Doing::Unknown) => Activity::Unknown,
                Some(Doing::Offline) => Activity::Offline,
                Some(Doing::Idle) if waiting > 0 => Activity::Waking,
                Some(Doing::Idle) => Activity::Idle,
                Some(Doing::Runs(task)) => Activity::Run(*task),
            };
            let wanted = wanted.contains(cpu);
            pieces.push(Piece { window, activity, waiting: waiting as u64, wanted });
        }
        now = to;
    }
    lanes
}

/// The idle CPUs that some candidate could use, if there is waste.
fn wanted(history: &History, scene: &Scene, is_pinned: &dyn Fn(&TaskId) -> bool) -> Vec<CpuId> {
    let first = |cpu| scene.queue.iter().find(|(place, _)| *place == Some(cpu));
    let with = |doing| scene.cpus.iter().filter(move |(_, is)| **is == doing).map(|(cpu, _)| *cpu);
    let (waking, idle): (Vec<CpuId>, Vec<CpuId>) =
        with(Doing::Idle).partition(|cpu| first(*cpu).is_some());
    let heads: Vec<_> = waking.iter().filter_map(|cpu| first(*cpu)).map(|(_, task)| task).collect();
    let unknown: Vec<CpuId> = with(Doing::Unknown).collect();
    let surely_waits = |(place, task): &&(Option<CpuId>, TaskId)| {
        place.is_some_and(|cpu| !unknown.contains(&cpu) || scene.is_quiet(cpu))
            && !heads.contains(&task)
            && !scene.is_only_woken(*task)
            && scene.may_move(task)
            && !is_pinned(task)
    };
    let candidates = scene.queue.iter().filter(surely_waits);
    let masks: Vec<_> =
        candidates.map(|(_, task)| scene.mask(task).and_then(|mask| history.mask(mask))).collect();
    let nowhere = scene.queue.iter().filter(|(place, _)| place.is_none()).count() as u64;
    if largest(&masks, &idle) <= nowhere {
        return Vec::new();
    }
    idle.into_iter().filter(|cpu| masks.iter().any(|mask| fits(*mask, *cpu))).collect()
}
