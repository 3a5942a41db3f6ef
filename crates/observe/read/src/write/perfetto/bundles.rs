//! Events as full ftrace events, in bundles of one CPU each.

use std::borrow::Cow;
use std::io::Write;

use wastenot_model::{
    By, Change, Context, CpuId, Entry, Event, History, How, NameId, Prio, TaskId,
};

use super::wire::Message;
use super::{Packets, Sequence};
use crate::perfetto::fields::{
    bundle, event, fork, frequency, hotplug, life, migrate, packet, rename, switch, wake,
};
use crate::perfetto::states::States;

/// A bundle is written when it reaches this many bytes.
const BUNDLE: usize = 32 << 10;

/// The open bundle of each CPU.
pub(super) struct Bundles<'h> {
    history: &'h History,
    states: States,
    cpus: Vec<Open>,
    tasks: Vec<Named>,
}

#[derive(Default)]
struct Open {
    events: Message,
    lost: bool,
    /// The stamp of the last event in it, and that of the last event of the previous bundle.
    stamp: Option<u64>,
    last: Option<u64>,
}

/// The name under which a reader of the file knows a task.
#[derive(Clone, Copy)]
struct Named {
    name: NameId,
    told: bool,
}

impl<'h> Bundles<'h> {
    pub(super) fn new(history: &'h History) -> Bundles<'h> {
        let release = history.head.source.release();
        Bundles {
            history,
            states: States::of(release),
            cpus: (0..history.cpu_count()).map(|_| Open::default()).collect(),
            tasks: history
                .tasks()
                .map(|(_, task)| Named { name: task.name, told: false })
                .collect(),
        }
    }

    pub(super) fn push<W: Write>(&mut self, entry: &Entry, packets: &mut Packets<W>) {
        let cpu = entry.cpu.index();
        if cpu >= self.cpus.len() {
            self.cpus.resize_with(cpu + 1, Open::default);
        }
        if let Event::Lost { .. } = entry.event {
            self.flush(cpu, packets);
            self.cpus[cpu].lost = true;
            return;
        }
        self.introduce(entry);
        self.write(entry);
        if self.cpus[cpu].events.bytes().len() >= BUNDLE {
            self.flush(cpu, packets);
        }
    }

    pub(super) fn finish<W: Write>(&mut self, packets: &mut Packets<W>) {
        (0..self.cpus.len()).for_each(|cpu| self.flush(cpu, packets));
    }

    fn flush<W: Write>(&mut self, cpu: usize, packets: &mut Packets<W>) {
        let start = self.history.window().from.0;
        let open = &mut self.cpus[cpu];
        if open.events.is_empty() && !open.lost {
            return;
        }
        packets.write(Sequence::Ftrace, |packet| {
            packet.message(packet::FTRACE_EVENTS, |message| {
                message.int(bundle::CPU, cpu as u32);
                if open.lost {
                    message.uint(bundle::LOST_EVENTS, 1);
                }
                message.uint(bundle::PREVIOUS_BUNDLE_END, open.last.unwrap_or(start));
                message.append(&open.events);
            });
        });
        open.events.clear();
        (open.lost, open.last) = (false, open.stamp);
    }

    /// Events name the task that they are about, but not the current task, nor one that forks or
    /// executes: a task that was not named yet is named first.
    fn introduce(&mut self, entry: &Entry) {
        let by = entry.by.task.filter(|_| !matches!(entry.event, Event::Switch { .. }));
        let acts = match entry.event {
            Event::Fork { parent, .. } => Some(parent),
            Event::Exec { task } => Some(task),
            _ => None,
        };
        for task in by.into_iter().chain(acts) {
            let known = task.index().and_then(|index| self.tasks.get(index));
            if known.is_some_and(|known| !known.told) {
                let name = self.name(task);
                self.rename(entry, task, &name, &name);
            }
        }
    }

    fn rename(&mut self, entry: &Entry, task: TaskId, old: &str, new: &str) {
        let tid = self.tid(task);
        self.event(entry, event::TASK_RENAME, |message| {
            message.int(rename::PID, tid);
            message.text(rename::OLD, old);
            message.text(rename::NEW, new);
        });
    }

    fn tid(&self, task: TaskId) -> i32 {
        self.history.task(task).map_or(0, |task| task.tid)
    }

    /// The task's name at this point of the file, where it then counts as written.
    fn name(&mut self, task: TaskId) -> Cow<'h, str> {
        match task.index().and_then(|index| self.tasks.get_mut(index)) {
            None => self.history.task_name(task).into(),
            Some(known) => {
                known.told = true;
                self.history.name(known.name).into()
            }
        }
    }

    fn event(&mut self, entry: &Entry, kind: u32, build: impl FnOnce(&mut Message)) {
        let current = entry.by.task.map(|task| self.tid(task));
        let open = &mut self.cpus[entry.cpu.index()];
        open.stamp = Some(entry.time.0);
        open.events.message(bundle::EVENT, |message| {
            message.uint(event::TIMESTAMP, entry.time.0);
            if let Some(current) = current {
                message.int(event::PID, current);
            }
            if let Some(flags) = flags(entry.by) {
                message.uint(event::COMMON_FLAGS, flags);
            }
            message.message(kind, build);
        });
    }

    fn write(&mut self, entry: &Entry) {
        match entry.event {
            Event::Switch { .. } => self.switch(entry),
            Event::Waking { task, prev, prio } => {
                self.wake(entry, event::SCHED_WAKING, task, prev, prio);
            }
            Event::Queued { task, on, how, prio } => {
                let kind =
                    if how == How::New { event::SCHED_WAKEUP_NEW } else { event::SCHED_WAKEUP };
                self.wake(entry, kind, task, on, prio);
            }
            Event::Migrate { task, from, to } => self.migrate(entry, task, from, to),
            Event::Fork { parent, child } => self.fork(entry, parent, child),
            Event::Exec { task } => self.life(entry, event::SCHED_PROCESS_EXEC, task),
            Event::Exit { task } => self.life(entry, event::SCHED_PROCESS_EXIT, task),
            Event::Cpu { cpu, up } => self.event(entry, event::SCHED_CPU_HOTPLUG, |message| {
                message.int(hotplug::CPU, cpu.0);
                message.int(hotplug::ERROR, 0);
                message.int(hotplug::UP, u8::from(up));
            }),
            Event::Freq { cpu, khz } => self.event(entry, event::CPU_FREQUENCY, |message| {
                message.int(frequency::KHZ, khz);
                message.int(frequency::CPU, cpu.0);
            }),
            Event::Changed { task, what: Change::Name(name) } => {
                let old = self.name(task);
                if let Some(known) = task.index().and_then(|index| self.tasks.get_mut(index)) {
                    known.name = name;
                }
                let new = self.name(task);
                self.rename(entry, task, &old, &new);
            }
            Event::Changed { .. } | Event::Decided { .. } | Event::Lost { .. } => {}
        }
    }

    fn switch(&mut self, entry: &Entry) {
        let Event::Switch { prev, next, left, prev_prio, next_prio, .. } = entry.event else {
            return;
        };
        let (prev_comm, next_comm) = (self.name(prev), self.name(next));
        let (prev, next) = (self.tid(prev), self.tid(next));
        let state = self.states.bits(left);
        self.event(entry, event::SCHED_SWITCH, |message| {
            message.text(switch::PREV_COMM, &prev_comm);
            message.int(switch::PREV_PID, prev);
            prio(message, switch::PREV_PRIO, prev_prio);
            if let Some(state) = state {
                message.uint(switch::PREV_STATE, state);
            }
            message.text(switch::NEXT_COMM, &next_comm);
            message.int(switch::NEXT_PID, next);
            prio(message, switch::NEXT_PRIO, next_prio);
        });
    }

    fn wake(
        &mut self,
        entry: &Entry,
        kind: u32,
        task: TaskId,
        target: Option<CpuId>,
        priority: Prio,
    ) {
        let (comm, tid) = (self.name(task), self.tid(task));
        self.event(entry, kind, |message| {
            message.text(wake::COMM, &comm);
            message.int(wake::PID, tid);
            prio(message, wake::PRIO, priority);
            message.int(wake::SUCCESS, 1);
            if let Some(cpu) = target {
                message.int(wake::TARGET_CPU, cpu.0);
            }
        });
    }

    fn migrate(&mut self, entry: &Entry, task: TaskId, from: Option<CpuId>, to: CpuId) {
        let (comm, tid) = (self.name(task), self.tid(task));
        self.event(entry, event::SCHED_MIGRATE_TASK, |message| {
            message.text(migrate::COMM, &comm);
            message.int(migrate::PID, tid);
            if let Some(cpu) = from {
                message.int(migrate::ORIG_CPU, cpu.0);
            }
            message.int(migrate::DEST_CPU, to.0);
        });
    }

    fn fork(&mut self, entry: &Entry, parent: TaskId, child: TaskId) {
        let (parent_comm, child_comm) = (self.name(parent), self.name(child));
        let (parent, child) = (self.tid(parent), self.tid(child));
        self.event(entry, event::SCHED_PROCESS_FORK, |message| {
            message.text(fork::PARENT_COMM, &parent_comm);
            message.int(fork::PARENT_PID, parent);
            message.text(fork::CHILD_COMM, &child_comm);
            message.int(fork::CHILD_PID, child);
        });
    }

    fn life(&mut self, entry: &Entry, kind: u32, task: TaskId) {
        let (name, tid) = (self.name(task), self.tid(task));
        let pid = self.history.task(task).and_then(|task| task.pid);
        self.event(entry, kind, |message| {
            message.text(life::NAME, &name);
            message.int(life::PID, tid);
            if let (event::SCHED_PROCESS_EXIT, Some(pid)) = (kind, pid) {
                message.int(life::TGID, pid);
            }
        });
    }
}

fn prio(message: &mut Message, field: u32, prio: Prio) {
    if let Some(prio) = prio.0 {
        message.int(field, prio);
    }
}

/// The bits of `common_flags` for the context.
fn flags(by: By) -> Option<u64> {
    match by.context {
        Context::Unknown => None,
        Context::Task => Some(0),
        Context::Softirq => Some(0x10),
        Context::Hardirq => Some(0x08),
    }
}
