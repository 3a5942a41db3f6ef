//! Resolves a tid to the task that has it at this moment: tids are reused, task ids are not.

use std::collections::HashMap;

use wastenot_model::{NameId, Sink, Task, TaskId};

use crate::raw::Comm;

/// `PID_MAX_LIMIT` of 64-bit kernels: no tid is larger.
const PID_LIMIT: usize = 4 << 20;
const NONE: u32 = u32::MAX;

/// What is known of a task while its History is assembled.
struct Known {
    tid: i32,
    name: NameId,
    comm: Comm,
    /// Created by a fork that the trace holds.
    forked: bool,
    /// It went to sleep and was not woken since: if it runs now, clocks disagree or events are
    /// missing.
    asleep: bool,
    /// Since it ran while asleep: when and on which CPU that was.
    ran_asleep: Option<(u64, u16)>,
    first_seen: u64,
}

/// Tids and the tasks that have them now.
pub(crate) struct Tasks {
    /// By tid, up to the largest one seen: at most 16 MiB.
    slots: Vec<u32>,
    /// Tids that no kernel assigns; a damaged file has them.
    odd: HashMap<i32, u32>,
    known: Vec<Known>,
    /// Names by tid that the file keeps separately from its events (saved command lines).
    hints: HashMap<i32, String>,
    pids: HashMap<i32, i32>,
    /// Wakeups seen after the run that they caused, on another CPU; and the largest lead.
    pub(crate) skewed: u64,
    pub(crate) skew_ns_max: u64,
    pub(crate) switches_in: u64,
}

impl Tasks {
    pub(crate) fn new(hints: HashMap<i32, String>, pids: HashMap<i32, i32>) -> Tasks {
        Tasks {
            slots: Vec::new(),
            odd: HashMap::new(),
            known: Vec::new(),
            hints,
            pids,
            skewed: 0,
            skew_ns_max: 0,
            switches_in: 0,
        }
    }

    /// A new task took `tid`, of process `pid`.
    pub(crate) fn meet(&mut self, tid: i32, pid: Option<i32>) {
        self.hints.remove(&tid);
        match pid {
            Some(pid) => self.pids.insert(tid, pid),
            None => self.pids.remove(&tid),
        };
    }

    /// The index in `known` of a tid, or `NONE`.
    #[inline]
    fn slot(&mut self, tid: i32) -> u32 {
        match self.slots.get(tid as u32 as usize) {
            Some(slot) => *slot,
            None => self.odd.get(&tid).copied().unwrap_or(NONE),
        }
    }

    fn set_slot(&mut self, tid: i32, slot: u32) {
        let index = tid as u32 as usize;
        if index >= PID_LIMIT {
            self.odd.insert(tid, slot);
            return;
        }
        if index >= self.slots.len() {
            self.slots.resize((index + 1).next_power_of_two(), NONE);
        }
        self.slots[index] = slot;
    }

    /// The task that currently has `tid`.
    #[inline]
    pub(crate) fn get<S: Sink + ?Sized>(
        &mut self,
        tid: i32,
        comm: &Comm,
        time: u64,
        sink: &mut S,
    ) -> TaskId {
        match self.slot(tid) {
            NONE => self.create(tid, comm, time, sink),
            slot => TaskId::nth(slot as usize),
        }
    }

    /// The task that a fork creates. A child whose clock is ahead may have acted already.
    pub(crate) fn fork<S: Sink + ?Sized>(
        &mut self,
        tid: i32,
        comm: &Comm,
        time: u64,
        sink: &mut S,
    ) -> TaskId {
        const AHEAD_NS: u64 = 1_000_000;
        let slot = self.slot(tid);
        let ahead = self
            .known
            .get(slot as usize)
            .is_some_and(|known| !known.forked && time - known.first_seen.min(time) < AHEAD_NS);
        let id = match ahead {
            true => TaskId::nth(slot as usize),
            false => self.create(tid, comm, time, sink),
        };
        self.known(id).forked = true;
        id
    }

    #[cold]
    fn create<S: Sink + ?Sized>(
        &mut self,
        tid: i32,
        comm: &Comm,
        time: u64,
        sink: &mut S,
    ) -> TaskId {
        let text = match comm.is_told() {
            true => comm.text(),
            // `<...>` is how the kernel's tools print a task whose name they do not have.
            false => self.hints.get(&tid).cloned().unwrap_or_else(|| "<...>".to_owned()),
        };
        let name = sink.name(&text);
        let id = sink.task(Task { tid, pid: self.pids.get(&tid).copied(), name });
        let known = Known {
            tid,
            name,
            comm: if comm.is_told() { *comm } else { Comm::new(text.as_bytes()) },
            forked: false,
            asleep: false,
            ran_asleep: None,
            first_seen: time,
        };
        let slot = id.index().expect("no idle task");
        match self.known.get_mut(slot) {
            // A sink that drops dead tasks reuses their numbers.
            Some(forgotten) => *forgotten = known,
            None => self.known.push(known),
        }
        self.set_slot(tid, slot as u32);
        id
    }

    #[inline]
    fn known(&mut self, task: TaskId) -> &mut Known {
        let index = task.index().expect("idle tasks have no entry");
        &mut self.known[index]
    }

    /// The new name of `task`, if `comm` differs from its name so far.
    #[inline]
    pub(crate) fn renamed<S: Sink + ?Sized>(
        &mut self,
        task: TaskId,
        comm: &Comm,
        sink: &mut S,
    ) -> Option<NameId> {
        let known = self.known(task);
        match known.comm == *comm || !comm.is_told() {
            true => None,
            false => self.rename(task, comm, sink),
        }
    }

    #[cold]
    fn rename<S: Sink + ?Sized>(
        &mut self,
        task: TaskId,
        comm: &Comm,
        sink: &mut S,
    ) -> Option<NameId> {
        let known = self.known(task);
        let before = std::mem::replace(&mut known.comm, *comm);
        if before.is(*comm) {
            return None;
        }
        let name = sink.name(&comm.text());
        known.name = name;
        let tid = known.tid;
        sink.correct(task, &Task { tid, pid: self.pids.get(&tid).copied(), name });
        Some(name)
    }

    /// The current name of `task`.
    pub(crate) fn name(&mut self, task: TaskId) -> NameId {
        self.known(task).name
    }

    /// `task` left its CPU.
    #[inline]
    pub(crate) fn left(&mut self, task: TaskId, asleep: bool, dead: bool) {
        let known = self.known(task);
        known.asleep = asleep;
        known.ran_asleep = None;
        if dead {
            self.bury(task);
        }
    }

    /// From here on its tid belongs to another task.
    #[cold]
    fn bury(&mut self, task: TaskId) {
        let tid = self.known(task).tid;
        self.set_slot(tid, NONE);
    }

    /// `task` runs on `cpu`.
    #[inline]
    pub(crate) fn ran(&mut self, task: TaskId, time: u64, cpu: u16) {
        self.switches_in += 1;
        let known = self.known(task);
        if known.asleep {
            known.asleep = false;
            known.ran_asleep = Some((time, cpu));
        }
    }

    /// `task` was woken by a record of `cpu`.
    #[inline]
    pub(crate) fn woken(&mut self, task: TaskId, time: u64, cpu: u16) {
        let known = self.known(task);
        known.asleep = false;
        if let Some((ran, on)) = known.ran_asleep.take()
            && on != cpu
        {
            let skew = time - ran.min(time);
            self.skewed += 1;
            self.skew_ns_max = self.skew_ns_max.max(skew);
        }
    }
}
