//! What was exactly so: at one moment on one CPU, and of one task on all.

use wastenot_model::{Activity, CpuId, Origin, TaskId, Time, Window};

use crate::tiles::Tiles;
use crate::tiles::strip::{Doing, Queue, Reader, Waiter, Waiting};

/// What a task did in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Was {
    /// It ran.
    Running,
    /// It waited; this is how its wait began.
    Waiting(Origin),
}

/// A stretch of time in which a task ran or waited on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where.
    pub cpu: CpuId,
    /// When, within the window that was asked for.
    pub window: Window,
    /// What it did.
    pub was: Was,
}

impl Tiles {
    /// What `cpu` did at `time`, since when, and who waited on it, in the order in which they came.
    pub fn at(&self, cpu: CpuId, time: Time) -> Option<(Doing, Time, Vec<Waiter>)> {
        let lane = self.lanes.get(cpu.index()).filter(|_| self.window.holds(time))?;
        let reader = lane.strip.read(&self.heap, time, Waiting::default());
        Some((reader.now.1, reader.active_since, reader.queue.in_order()))
    }

    /// What `cpu` did at `time`, where nothing else is asked.
    pub(crate) fn doing(&self, cpu: CpuId, time: Time) -> Option<Doing> {
        let lane = self.lanes.get(cpu.index()).filter(|_| self.window.holds(time))?;
        Some(lane.strip.read(&self.heap, time, ()).now.1)
    }

    /// Where `task` ran and waited in `window`, by CPU and time. It takes time for each change of
    /// any CPU then.
    pub fn way(&self, task: TaskId, window: Window) -> Vec<Stretch> {
        let mut way = Vec::new();
        let Some((from, to)) = self.window.clip(window.from, window.to) else { return way };
        for (n, lane) in self.lanes.iter().enumerate() {
            let of = Of { task, waits: None };
            let reader = lane.strip.read(&self.heap, from, of);
            way_on(reader, CpuId(n as u16), Window { from, to }, &mut way);
        }
        way
    }
}

/// Keeps whether one task waits.
struct Of {
    task: TaskId,
    waits: Option<Origin>,
}

impl Queue for Of {
    fn clear(&mut self) {
        self.waits = None;
    }
    fn join(&mut self, waiter: Waiter) {
        if waiter.task == self.task {
            self.waits = Some(waiter.origin);
        }
    }
    fn leave(&mut self, task: TaskId) {
        if task == self.task {
            self.waits = None;
        }
    }
}

fn way_on(mut reader: Reader<'_, Of>, cpu: CpuId, window: Window, way: &mut Vec<Stretch>) {
    let task = reader.queue.task;
    let mut open: Option<(Time, Was)> = None;
    loop {
        let (now, is) = reader.now;
        let was = match is.activity {
            Activity::Run(runs) if runs == task => Some(Was::Running),
            _ => reader.queue.waits.map(Was::Waiting),
        };
        let now = now.clamp(window.from, window.to);
        if open.map(|(_, was)| was) != was {
            if let Some((from, was)) = open.filter(|(from, _)| *from < now) {
                way.push(Stretch { cpu, window: Window { from, to: now }, was });
            }
            open = was.map(|was| (now, was));
        }
        if now >= window.to || !reader.step() {
            break;
        }
    }
    if let Some((from, was)) = open.filter(|(from, _)| *from < window.to) {
        way.push(Stretch { cpu, window: Window { from, to: window.to }, was });
    }
}
