//! The runs and waits of a task, and single runs, for the page.

use crate::tiles::{Stretch, Was};
use serde_json::{Value, json};
use wastenot_model::{Activity, CpuId, TaskId, Time, Window};

use crate::Recording;

/// Stretches of a task's way that are listed.
const STRETCHES: usize = 20_000;
/// Waits of which it is told who ended the sleep before, and where: it takes a look at every CPU.
const WOKEN: usize = 64;
/// How far a run is looked for at first, in ns; then four times as far, and so on.
const NEAR_NS: u64 = 1 << 20;

impl Recording {
    /// Where a task ran and waited; stretches that are less than `least` ns apart are one.
    pub(crate) fn way(&self, task: u32, window: Window, least: u64) -> Value {
        let task = TaskId::nth(task as usize);
        let mut joined: Vec<Stretch> = Vec::new();
        for next in self.tiles.way(task, window) {
            match joined.last_mut() {
                Some(last)
                    if last.cpu == next.cpu
                        && matches!(last.was, Was::Running) == matches!(next.was, Was::Running)
                        && next.window.from.since(last.window.to).0 < least =>
                {
                    last.window.to = next.window.to;
                }
                _ => joined.push(next),
            }
        }
        let waits = joined.iter().filter(|it| it.was != Was::Running).count();
        let stretches = joined.iter().take(STRETCHES).map(|it| {
            let [from, to] = self.ends(it.window);
            match it.was {
                Was::Running => json!([it.cpu.0, from, to, null]),
                Was::Waiting(origin) if waits <= WOKEN => {
                    let (waker, cpu) = self.woken(task, it).unwrap_or_default();
                    json!([it.cpu.0, from, to, origin.name(), waker, cpu])
                }
                Was::Waiting(origin) => json!([it.cpu.0, from, to, origin.name()]),
            }
        });
        let is_cut = joined.len() > STRETCHES;
        json!({ "stretches": stretches.collect::<Vec<_>>(), "cut": is_cut })
    }

    /// Who woke a task for a wait, and on which CPU that task ran then; nothing where the wait
    /// began before this stretch.
    fn woken(&self, task: TaskId, wait: &Stretch) -> Option<(Option<u32>, Option<u16>)> {
        let now = wait.window.from;
        let (_, _, queue) = self.tiles.at(wait.cpu, now)?;
        let waiter = queue.into_iter().find(|it| it.task == task && it.since == now)?;
        let waker = waiter.waker?;
        let runs = |cpu: &CpuId| {
            self.tiles.doing(*cpu, now).is_some_and(|is| is.activity == Activity::Run(waker))
        };
        let cpu = (0..self.tiles.cpus()).map(|cpu| CpuId(cpu as u16)).find(runs);
        Some((waker.index().map(|waker| waker as u32), cpu.map(|cpu| cpu.0)))
    }

    /// The first run of a task that begins after a time, or else the last that begins before it:
    /// CPU, from, to; null if the task has no such run.
    pub(crate) fn run(&self, task: u32, since_begin: u64, is_after: bool) -> Value {
        let (task, time, all) =
            (TaskId::nth(task as usize), self.time(since_begin), self.tiles.window());
        let mut far = NEAR_NS;
        loop {
            let (from, to) = (time.0.saturating_sub(far), time.0.saturating_add(far));
            let window = Window { from: all.from.max(Time(from)), to: all.to.min(Time(to)) };
            let runs = self.tiles.way(task, window).into_iter().filter(|it| it.was == Was::Running);
            let begin = |it: &Stretch| it.window.from;
            let found = match is_after {
                true => runs.filter(|it| it.window.from > time).min_by_key(begin),
                false => runs.filter(|it| it.window.from < time).max_by_key(begin),
            };
            // What reaches the end of what was looked at may go on.
            let is_whole = |it: &Stretch| {
                (it.window.from > window.from || window.from == all.from)
                    && (it.window.to < window.to || window.to == all.to)
            };
            if window == all || found.is_some_and(|it| is_whole(&it)) {
                let told = found.map(|it| {
                    let [from, to] = self.ends(it.window);
                    json!([it.cpu.0, from, to])
                });
                return told.unwrap_or(Value::Null);
            }
            far = far.saturating_mul(4);
        }
    }
}
