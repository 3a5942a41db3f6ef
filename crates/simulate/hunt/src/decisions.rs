//! Which decisions a run shows, as they look from outside: where a task was placed and what else
//! there was to choose, and from where to where waiting tasks were moved.
//!
//! A genome that shows a decision which none showed before is kept, though it loses nothing: what
//! was never decided was never tried (novelty: Lehman and Stanley, 2011).

use wastenot_model::{CpuId, Distance, Entry, Event, How, Machine, Observer, State, TaskId};

/// All kinds of decisions, a bit for each.
pub const KINDS: u32 = PLACEMENTS + MOVES;
const PLACEMENTS: u32 = 3 * 4 * 2 * 2;
const MOVES: u32 = 3 * 2 * 2;

/// A kind of decisions in words.
pub fn words(kind: u32) -> String {
    let one = |n: u32, of: &[&'static str]| of[n as usize % of.len()];
    let has = |n: u32| one(n & 1, &["no other CPU is idle", "other CPUs are idle"]);
    if kind < PLACEMENTS {
        let hows = ["a woken task", "a new task", "a task woken without CPU selection"];
        let how = one(kind / 16, &hows);
        let far = one(
            kind / 4 % 4,
            &[
                "to its previous CPU",
                "to another CPU in the same cache",
                "to another CPU in the same node",
                "to a CPU on another node",
            ],
        );
        let onto = one((kind / 2) & 1, &["busy", "idle"]);
        return format!("{how} goes {far} (this CPU is {onto}, and {})", has(kind));
    }
    let kind = kind - PLACEMENTS;
    let far = one(kind / 4, &["in the same cache", "in the same node", "on another node"]);
    let task = one(kind & 1, &["the only waiting task", "one of several waiting tasks"]);
    match (kind / 2) & 1 {
        0 => format!("{task} of a CPU moves to a busy CPU {far}"),
        _ => format!("{task} of a CPU moves to an idle CPU {far}"),
    }
}

/// The decisions of a run.
pub struct Decisions<'m> {
    machine: &'m Machine,
    /// A bit for each kind.
    pub seen: u64,
}

impl Decisions<'_> {
    /// None of a run on `machine`.
    pub fn on(machine: &Machine) -> Decisions<'_> {
        Decisions { machine, seen: 0 }
    }

    /// 0 the same, 1 within a last-level cache, 2 within a node, 3 further.
    fn far(&self, from: CpuId, to: CpuId) -> u32 {
        match self.machine.distance(from, to) {
            Distance::Same => 0,
            Distance::Sibling | Distance::Llc | Distance::Unknown => 1,
            Distance::Node => 2,
            Distance::Other => 3,
        }
    }

    fn placed(&mut self, state: &State, task: TaskId, on: CpuId, how: How) {
        let how = match how {
            How::Wakeup => 0,
            How::New => 1,
            How::NoSelection => 2,
        };
        let far = state.task(task).prev.map_or(0, |prev| self.far(prev, on));
        let target = state.cpu(on);
        let is_idle = u32::from(target.is_waking() && target.waiting == 1);
        let has_idle = u32::from(state.cpus().any(|(_, cpu)| cpu.is_idle()));
        self.seen |= 1 << (((how * 4 + far) * 2 + is_idle) * 2 + has_idle);
    }

    fn moved(&mut self, state: &State, from: CpuId, to: CpuId) {
        let far = self.far(from, to).saturating_sub(1);
        let is_idle = u32::from(!state.cpu(to).is_busy());
        let leaves = u32::from(state.cpu(from).waiting > 0);
        self.seen |= 1 << (PLACEMENTS + (far * 2 + is_idle) * 2 + leaves);
    }
}

impl Observer for Decisions<'_> {
    fn event(&mut self, state: &State, entry: &Entry) {
        match entry.event {
            Event::Queued { task, on: Some(on), how, .. } => self.placed(state, task, on, how),
            Event::Migrate { task, from: Some(from), to }
                if state.task(task).phase == wastenot_model::Phase::Waiting =>
            {
                self.moved(state, from, to);
            }
            _ => {}
        }
    }
}
