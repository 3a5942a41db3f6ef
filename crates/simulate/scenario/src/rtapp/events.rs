//! The programs of rt-app's threads: each event as steps.

use wastenot_model::workload::{
    BarrierId, ConditionId, LockId, PipeId, Step, TemplateId, Variate, Waiting,
};
use wastenot_model::{Span, shortened};

use super::{Import, PROPERTIES, unknown};
use crate::scenario::fields::{expected, integer, table, text};
use crate::scenario::names::Kind;
use crate::scenario::node::{Node, Wrong, wrong};

/// Names of events. A number or word may follow, since keys in strict JSON are unique.
const EVENTS: &[&str] = &[
    "runtime", "run", "sleep", "timer", "lock", "unlock", "wait", "signal", "broad", "sync",
    "barrier", "suspend", "resume", "sem_post", "sem_wait", "yield", "fork", "memrun", "mem",
    "iorun",
];

/// The longest time of an event, in microseconds.
const MICROSECONDS: i64 = 1_000_000_000_000;

/// The steps of one kind of thread.
pub(super) struct Events<'a> {
    thread: &'a str,
    instances: u32,
    pub(super) steps: Vec<Step>,
    /// The line of each step.
    pub(super) lines: Vec<usize>,
    /// Barriers that this thread has already reached: it counts as one party at each.
    reached: Vec<BarrierId>,
}

impl<'a> Events<'a> {
    pub(super) fn new(thread: &'a str, instances: u32) -> Events<'a> {
        let (steps, lines, reached) = (Vec::new(), Vec::new(), Vec::new());
        Events { thread, instances, steps, lines, reached }
    }
    /// Whether the last step for the mutex took it, and did not release it.
    fn holds(&self, mutex: LockId) -> bool {
        let mut steps = self.steps.iter().rev();
        let last = steps.find(|step| [Step::Lock(mutex), Step::Unlock(mutex)].contains(step));
        last == Some(&Step::Lock(mutex))
    }
    pub(super) fn push(&mut self, at: usize, step: Step) {
        self.steps.push(step);
        self.lines.push(at);
    }
}

impl Import {
    /// Adds the steps of an event.
    pub(super) fn event(
        &mut self,
        key: &str,
        at: usize,
        node: &Node,
        events: &mut Events,
    ) -> Result<(), Wrong> {
        let of_kind = EVENTS.iter().filter(|event| key.starts_with(**event));
        let Some(&event) = of_kind.max_by_key(|event| event.len()) else {
            let mut known = EVENTS.to_vec();
            known.extend(PROPERTIES.iter().map(|(name, _)| *name));
            return Err(unknown("a thread", key, at, &known));
        };
        let steps = match event {
            "run" | "runtime" => vec![Step::Compute(length(node, key)?)],
            "sleep" => vec![Step::Sleep(length(node, key)?)],
            "timer" => self.timer(node)?,
            "lock" => vec![Step::Lock(self.mutex(text(node, key)?, at)?)],
            "unlock" => vec![Step::Unlock(self.mutex(text(node, key)?, at)?)],
            "wait" => {
                let (condition, mutex) = self.condition_and_mutex(node)?;
                vec![Step::Unlock(mutex), Step::Await(condition), Step::Lock(mutex)]
            }
            "signal" => vec![Step::Signal(self.condition(reference(node)?, at)?)],
            "broad" => vec![Step::Broadcast(self.condition(reference(node)?, at)?)],
            "sync" => {
                let (condition, mutex) = self.condition_and_mutex(node)?;
                let wait = [Step::Unlock(mutex), Step::Await(condition), Step::Lock(mutex)];
                let sync = std::iter::once(Step::Signal(condition)).chain(wait);
                // In the tutorial the event takes the mutex; in the examples the thread already
                // holds it.
                let (before, after) = match events.holds(mutex) {
                    true => (None, None),
                    false => (Some(Step::Lock(mutex)), Some(Step::Unlock(mutex))),
                };
                before.into_iter().chain(sync).chain(after).collect()
            }
            "barrier" => vec![self.party(text(node, key)?, at, events)?],
            "suspend" => {
                let name = match text(node, key)? {
                    "" => events.thread,
                    name => name,
                };
                vec![Step::Await(self.suspension(name, at)?)]
            }
            "resume" => vec![Step::Broadcast(self.suspension(text(node, key)?, at)?)],
            "sem_post" => vec![Step::Put(self.semaphore(text(node, key)?, at)?)],
            "sem_wait" => vec![Step::Get(self.semaphore(text(node, key)?, at)?)],
            "yield" => vec![Step::Yield],
            "fork" => {
                let child = self.names.find(Kind::Task, text(node, key)?, node.at)?;
                vec![Step::Fork(TemplateId(child))]
            }
            _ => {
                self.note(&format!(
                    "the event `{event}`; the simulation has no memory and no devices"
                ));
                Vec::new()
            }
        };
        steps.into_iter().for_each(|step| events.push(at, step));
        Ok(())
    }

    fn timer(&mut self, node: &Node) -> Result<Vec<Step>, Wrong> {
        let (_, timer) = table(node, "timer")?;
        let missing =
            || wrong(node.at, "the timer has no `period`", "add `period`, in microseconds");
        let period = timer.get("period").ok_or_else(missing)?;
        let period = integer(period, "period", 0..=MICROSECONDS)?;
        let name = timer.get("ref").map_or(Ok(""), |node| text(node, "ref"))?;
        if !name.starts_with("unique") {
            self.note("the sharing of timers; each thread has its own timer");
        }
        let mode = timer.get("mode").map_or(Ok("relative"), |node| text(node, "mode"))?;
        if mode != "absolute" {
            self.note(
                "the mode of timers that restart after a missed period; all timers catch up, as \
                 `absolute` timers do",
            );
        }
        // A period of zero disables the timer.
        let beat = (period > 0).then(|| Step::Beat(Span::us(period as u64)));
        Ok(beat.into_iter().collect())
    }

    /// What suspended threads wait for: the name of a thread, or a name that several threads use.
    fn suspension(&mut self, name: &str, at: usize) -> Result<ConditionId, Wrong> {
        self.condition(&format!("suspended:{name}"), at)
    }

    /// Every thread that reaches a barrier is one of its parties.
    fn party(&mut self, name: &str, at: usize, events: &mut Events) -> Result<Step, Wrong> {
        let barrier = match self.names.known(Kind::Barrier, name) {
            Some(barrier) => BarrierId(barrier),
            None => {
                let barrier = self.workload.barrier(name, 0, Waiting::Block);
                self.names.add(Kind::Barrier, name, barrier.0, at)?;
                barrier
            }
        };
        if !events.reached.contains(&barrier) {
            events.reached.push(barrier);
            self.workload.barriers[barrier.index()].parties += events.instances;
        }
        Ok(Step::Barrier(barrier))
    }

    fn condition_and_mutex(&mut self, node: &Node) -> Result<(ConditionId, LockId), Wrong> {
        let (_, names) = table(node, "wait")?;
        let name = |key: &str| {
            let help = "write { \"ref\": \"queue\", \"mutex\": \"m\" }";
            let node = names
                .get(key)
                .ok_or_else(|| wrong(node.at, format!("the event has no `{key}`"), help))?;
            text(node, key)
        };
        let mutex = self.mutex(name("mutex")?, node.at)?;
        Ok((self.condition(name("ref")?, node.at)?, mutex))
    }

    fn mutex(&mut self, name: &str, at: usize) -> Result<LockId, Wrong> {
        if let Some(lock) = self.names.known(Kind::Lock, name) {
            return Ok(LockId(lock));
        }
        let lock = self.workload.lock(name, Waiting::Block);
        self.names.add(Kind::Lock, name, lock.0, at)?;
        Ok(lock)
    }

    fn condition(&mut self, name: &str, at: usize) -> Result<ConditionId, Wrong> {
        if let Some(condition) = self.names.known(Kind::Condition, name) {
            return Ok(ConditionId(condition));
        }
        let condition = self.workload.condition(name);
        self.names.add(Kind::Condition, name, condition.0, at)?;
        Ok(condition)
    }

    fn semaphore(&mut self, name: &str, at: usize) -> Result<PipeId, Wrong> {
        if let Some(pipe) = self.names.known(Kind::Pipe, name) {
            return Ok(PipeId(pipe));
        }
        let pipe = self.workload.pipe(name, None, Waiting::Block);
        self.workload.pipes[pipe.index()].sync = false;
        self.names.add(Kind::Pipe, name, pipe.0, at)?;
        Ok(pipe)
    }
}

/// A time in microseconds.
fn length(node: &Node, key: &str) -> Result<Variate, Wrong> {
    let key = shortened(key);
    let length = integer(node, &key, 0..=MICROSECONDS)?;
    Ok(Variate::Fixed(Span::us(length as u64)))
}

/// A name, or an object with the name under `ref`.
fn reference(node: &Node) -> Result<&str, Wrong> {
    match table(node, "signal") {
        Ok((_, of)) => {
            let name = of.get("ref").ok_or_else(|| expected(node, "signal", "a name"))?;
            text(name, "ref")
        }
        Err(_) => text(node, "signal"),
    }
}
