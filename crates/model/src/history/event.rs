//! Events as they are meant ([`Entry`], [`Event`]), and as rows of 24 bytes ([`Row`]), which
//! `rows` packs further.
//!
//! `Entry` is the only way in and out: nobody else touches the fields of a row.

use super::{MaskId, NameId};
use crate::{CpuId, TaskId, Time};

/// One event with when, on whose recording CPU, and in whose context it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub time: Time,
    /// The CPU that recorded it: where the code ran, not where its effect shows.
    pub cpu: CpuId,
    /// Who was current there. For a switch this is `prev`.
    pub by: By,
    /// What happened.
    pub event: Event,
}

/// Who was current on the recording CPU, and whether an interrupt had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct By {
    /// The current task (an idle task when the CPU was idle); `None` when the source is silent.
    pub task: Option<TaskId>,
    /// Whether the task itself acted, or an interrupt that it happened to be under.
    pub context: Context,
}

/// In which context an event was recorded (the common flags of ftrace).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// The source does not say.
    Unknown,
    /// The current task.
    Task,
    /// A softirq.
    Softirq,
    /// A hard interrupt or NMI.
    Hardirq,
}

/// How a task left its CPU: `prev_state` of `sched_switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// `R`: it wants to run on.
    Runnable,
    /// `R+`: it was preempted. Runnable just like `R`.
    Preempted,
    /// `S`: interruptible sleep.
    Sleeping,
    /// `D`: uninterruptible sleep.
    Blocked,
    /// `I`: an idle kernel thread (`TASK_IDLE`).
    Idle,
    /// `T`, `t`: stopped or traced.
    Stopped,
    /// `P`: a parked kernel thread.
    Parked,
    /// `X`, `Z`: it will not run again.
    Dead,
    /// The source does not say.
    Unknown,
}

/// How a task came onto a run queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// `sched_wakeup`: a CPU was selected for it.
    Wakeup,
    /// `sched_wakeup_new`: a new task.
    New,
    /// It was still queued (delayed dequeue, 6.12 and later), so no CPU was selected.
    NoSelection,
}

/// Kernel priority: 0..=98 real-time, 100..=139 fair (120 is nice 0), -1 deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prio(pub Option<i16>);

impl Prio {
    /// The source does not say.
    pub const UNKNOWN: Prio = Prio(None);

    fn byte(self) -> u8 {
        self.0.and_then(|prio| u8::try_from(i32::from(prio) + 1).ok()).unwrap_or(255)
    }
    fn from_byte(byte: u8) -> Prio {
        Prio((byte != 255).then(|| i16::from(byte) - 1))
    }
}

/// What changed about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It may now run on these CPUs.
    Affinity(MaskId),
    /// Scheduling policy, as in `sched_setscheduler(2)` (5 is `SCHED_IDLE`).
    Policy(u8),
    /// Nice value, -20..=19.
    Nice(i8),
    /// The cgroup it is in.
    Cgroup(NameId),
    /// Its group ran out of quota (true) or has quota again (false).
    Throttled(bool),
    /// Migration was disabled (true) or enabled (false).
    MigrationDisabled(bool),
    /// Its command name.
    Name(NameId),
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as the tracepoints name them")]
pub enum Event {
    /// `cpu` stops running `prev`, which left as `left`, and runs `next`.
    Switch { cpu: CpuId, prev: TaskId, next: TaskId, left: Left, prev_prio: Prio, next_prio: Prio },
    /// `task` is being woken; it was last on `prev`. No CPU has been selected yet.
    Waking { task: TaskId, prev: Option<CpuId>, prio: Prio },
    /// `task` was put on the run queue of `on`: its wait begins.
    Queued { task: TaskId, on: Option<CpuId>, how: How, prio: Prio },
    /// `task` was moved. A sleeping task only changes its last CPU.
    Migrate { task: TaskId, from: Option<CpuId>, to: CpuId },
    /// `parent` created `child`.
    Fork { parent: TaskId, child: TaskId },
    /// `task` executes a new program; a `Changed` row with its name follows.
    Exec { task: TaskId },
    /// `task` is exiting: it still runs until its last switch.
    Exit { task: TaskId },
    /// `cpu` came up or went down.
    Cpu { cpu: CpuId, up: bool },
    /// `cpu` now runs at `khz`.
    Freq { cpu: CpuId, khz: u32 },
    /// Something about `task` changed.
    Changed { task: TaskId, what: Change },
    /// The recorder of this entry's CPU dropped `count` events (unknown: `None`) after this time.
    Lost { count: Option<u32> },
    /// A decision whose details are row `row` of the annex `decisions`.
    Decided { row: u32 },
}

impl By {
    /// The source says nothing.
    pub const UNKNOWN: By = By { task: None, context: Context::Unknown };

    /// `task` acted itself.
    pub fn task(task: TaskId) -> By {
        By { task: Some(task), context: Context::Task }
    }
    /// An interrupt.
    pub fn in_interrupt(self) -> bool {
        matches!(self.context, Context::Softirq | Context::Hardirq)
    }
}

impl Left {
    /// Whether the task stays on the run queue.
    pub fn is_runnable(self) -> bool {
        matches!(self, Left::Runnable | Left::Preempted)
    }

    const ALL: [Left; 9] = [
        Left::Runnable,
        Left::Preempted,
        Left::Sleeping,
        Left::Blocked,
        Left::Idle,
        Left::Stopped,
        Left::Parked,
        Left::Dead,
        Left::Unknown,
    ];

    /// The state by its letter, as `ps` and the kernel's `print fmt` have it.
    pub fn from_letter(letter: char) -> Left {
        match letter {
            'R' => Left::Runnable,
            'S' => Left::Sleeping,
            'D' | 'K' | 'W' => Left::Blocked,
            'I' => Left::Idle,
            'T' | 't' => Left::Stopped,
            'P' => Left::Parked,
            'X' | 'x' | 'Z' => Left::Dead,
            _ => Left::Unknown,
        }
    }
    /// The letter, with `+` for preempted and `?` for unknown.
    pub fn letters(self) -> &'static str {
        ["R", "R+", "S", "D", "I", "T", "P", "X", "?"][self as usize]
    }
}

impl Entry {
    /// A switch without priorities.
    pub fn switch(time: Time, cpu: CpuId, prev: TaskId, next: TaskId, left: Left) -> Entry {
        let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
        let event = Event::Switch { cpu, prev, next, left, prev_prio, next_prio };
        Entry { time, cpu, by: By::task(prev), event }
    }

    /// Events of `cpu` were lost after `time`, nothing tells how many.
    pub(crate) fn lost(time: Time, cpu: CpuId) -> Entry {
        Entry { time, cpu, by: By::UNKNOWN, event: Event::Lost { count: None } }
    }

    /// The same entry about other tasks: `rename` is asked for each task that it names, the
    /// current one first.
    pub fn with_tasks(mut self, mut rename: impl FnMut(TaskId) -> TaskId) -> Entry {
        self.by.task = self.by.task.map(&mut rename);
        match &mut self.event {
            Event::Switch { prev: a, next: b, .. } | Event::Fork { parent: a, child: b } => {
                *a = rename(*a);
                *b = rename(*b);
            }
            Event::Waking { task, .. }
            | Event::Queued { task, .. }
            | Event::Migrate { task, .. }
            | Event::Exec { task }
            | Event::Exit { task }
            | Event::Changed { task, .. } => *task = rename(*task),
            Event::Cpu { .. } | Event::Freq { .. } | Event::Lost { .. } | Event::Decided { .. } => {
            }
        }
        self
    }

    /// Calls `each` with every task that it names, the current one first.
    pub fn each_task(&self, mut each: impl FnMut(TaskId)) {
        self.with_tasks(|task| {
            each(task);
            task
        });
    }
}

/// An entry packed into 24 bytes. What the fields mean depends on `kind`; see [`Row::pack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    time: u64,
    task: u32,
    other: u32,
    aux: u32,
    cpu: u16,
    kind: u8,
    flags: u8,
}

const NONE: u32 = u32::MAX;
const NO_CPU: u32 = 0xffff;
const CONTEXTS: [Context; 4] =
    [Context::Unknown, Context::Task, Context::Softirq, Context::Hardirq];
/// `flags`: two bits of context, then three bits that tell variants of a kind apart.
const VARIANT: u8 = 2;

const SWITCH: u8 = 0;
const WAKING: u8 = 1;
const QUEUED: u8 = 2;
const MIGRATE: u8 = 3;
const FORK: u8 = 4;
const EXEC: u8 = 5;
const EXIT: u8 = 6;
const CPU: u8 = 7;
const FREQ: u8 = 8;
const CHANGED: u8 = 9;
const LOST: u8 = 10;
const DECIDED: u8 = 11;

fn cpu_bits(cpu: Option<CpuId>) -> u32 {
    cpu.map_or(NO_CPU, |cpu| u32::from(cpu.0))
}
fn bits_cpu(bits: u32) -> Option<CpuId> {
    (bits & NO_CPU != NO_CPU).then_some(CpuId(bits as u16))
}

impl Row {
    /// The time, without unpacking the rest.
    pub fn time(&self) -> Time {
        Time(self.time)
    }
    /// The recording CPU, without unpacking the rest.
    pub fn cpu(&self) -> CpuId {
        CpuId(self.cpu)
    }

    /// Kind, flags and all that is neither time nor CPU nor task, in 48 bits.
    pub(super) fn what(&self) -> u64 {
        u64::from(self.aux) | u64::from(self.kind) << 32 | u64::from(self.flags) << 40
    }
    /// Its two tasks, or what stands in their place.
    pub(super) fn tasks(&self) -> [u32; 2] {
        [self.task, self.other]
    }
    /// The row of which these are the parts.
    #[inline(always)]
    pub(super) fn from_parts(time: u64, cpu: u16, what: u64, [task, other]: [u32; 2]) -> Row {
        let (aux, kind, flags) = (what as u32, (what >> 32) as u8, (what >> 40) as u8);
        Row { time, task, other, aux, cpu, kind, flags }
    }

    /// Its fields, for a digest.
    pub(crate) fn words(&self) -> [u64; 3] {
        let small = u64::from(self.cpu) | u64::from(self.kind) << 16 | u64::from(self.flags) << 24;
        let ids = u64::from(self.task) | u64::from(self.other) << 32;
        [self.time, ids, u64::from(self.aux) | small << 32]
    }

    /// Packs an entry. Inlined where the kind is known, it is a few stores.
    #[inline(always)]
    pub fn pack(entry: &Entry) -> Row {
        let by = entry.by.task.map_or(NONE, |task| task.0);
        let mut row = Row {
            time: entry.time.0,
            task: NONE,
            other: by,
            aux: 0,
            cpu: entry.cpu.0,
            kind: 0,
            flags: entry.by.context as u8,
        };
        match entry.event {
            Event::Switch { cpu: _, prev, next, left, prev_prio, next_prio } => {
                row.kind = SWITCH;
                (row.task, row.other) = (prev.0, next.0);
                row.aux = left as u32
                    | u32::from(prev_prio.byte()) << 8
                    | u32::from(next_prio.byte()) << 16;
            }
            Event::Waking { task, prev, prio } => {
                (row.kind, row.task) = (WAKING, task.0);
                row.aux = cpu_bits(prev) | u32::from(prio.byte()) << 16;
            }
            Event::Queued { task, on, how, prio } => {
                (row.kind, row.task) = (QUEUED, task.0);
                row.aux = cpu_bits(on) | u32::from(prio.byte()) << 16;
                row.flags |= (how as u8) << VARIANT;
            }
            Event::Migrate { task, from, to } => {
                (row.kind, row.task) = (MIGRATE, task.0);
                row.aux = cpu_bits(from) | u32::from(to.0) << 16;
            }
            Event::Fork { parent, child } => {
                (row.kind, row.task, row.other) = (FORK, child.0, parent.0);
            }
            Event::Exec { task } => (row.kind, row.task) = (EXEC, task.0),
            Event::Exit { task } => (row.kind, row.task) = (EXIT, task.0),
            Event::Cpu { cpu, up } => {
                (row.kind, row.task) = (CPU, u32::from(cpu.0));
                row.aux = u32::from(up);
            }
            Event::Freq { cpu, khz } => {
                (row.kind, row.task, row.aux) = (FREQ, u32::from(cpu.0), khz);
            }
            Event::Changed { task, what } => {
                (row.kind, row.task) = (CHANGED, task.0);
                let (variant, aux) = match what {
                    Change::Affinity(mask) => (0, mask.0),
                    Change::Policy(policy) => (1, u32::from(policy)),
                    Change::Nice(nice) => (2, nice as u8 as u32),
                    Change::Cgroup(name) => (3, name.0),
                    Change::Throttled(on) => (4, u32::from(on)),
                    Change::MigrationDisabled(on) => (5, u32::from(on)),
                    Change::Name(name) => (6, name.0),
                };
                row.flags |= variant << VARIANT;
                row.aux = aux;
            }
            Event::Lost { count } => (row.kind, row.aux) = (LOST, count.unwrap_or(NONE)),
            Event::Decided { row: index } => (row.kind, row.aux) = (DECIDED, index),
        }
        row
    }

    /// The entry that was packed.
    #[inline]
    pub fn unpack(&self) -> Entry {
        match self.kind {
            SWITCH => self.unpack_switch(),
            WAKING => self.unpack_waking(),
            QUEUED => self.unpack_queued(),
            _ => self.unpack_rare(),
        }
    }

    /// Calls one of these with the entry. The frequent kinds are told apart here, so that whoever
    /// is compiled into `each` knows the kind and never builds an entry in memory.
    #[inline(always)]
    pub(crate) fn with(&self, each: &mut impl Each) {
        match self.kind {
            SWITCH => each.entry(&self.unpack_switch()),
            WAKING => each.entry(&self.unpack_waking()),
            QUEUED => each.entry(&self.unpack_queued()),
            _ => each.rare(&self.unpack_rare()),
        }
    }

    #[inline(always)]
    fn entry(&self, by: By, event: Event) -> Entry {
        Entry { time: Time(self.time), cpu: CpuId(self.cpu), by, event }
    }
    #[inline(always)]
    fn context(&self) -> Context {
        CONTEXTS[usize::from(self.flags & 3)]
    }
    #[inline(always)]
    fn by(&self) -> By {
        By { task: (self.other != NONE).then_some(TaskId(self.other)), context: self.context() }
    }

    #[inline(always)]
    fn unpack_switch(&self) -> Entry {
        let event = Event::Switch {
            cpu: CpuId(self.cpu),
            prev: TaskId(self.task),
            next: TaskId(self.other),
            left: Left::ALL[(self.aux as usize & 0xff).min(8)],
            prev_prio: Prio::from_byte((self.aux >> 8) as u8),
            next_prio: Prio::from_byte((self.aux >> 16) as u8),
        };
        self.entry(By { task: Some(TaskId(self.task)), context: self.context() }, event)
    }

    #[inline(always)]
    fn unpack_waking(&self) -> Entry {
        let prio = Prio::from_byte((self.aux >> 16) as u8);
        let event = Event::Waking { task: TaskId(self.task), prev: bits_cpu(self.aux), prio };
        self.entry(self.by(), event)
    }

    #[inline(always)]
    fn unpack_queued(&self) -> Entry {
        let event = Event::Queued {
            task: TaskId(self.task),
            on: bits_cpu(self.aux),
            how: [How::Wakeup, How::New, How::NoSelection]
                [usize::from(self.flags >> VARIANT).min(2)],
            prio: Prio::from_byte((self.aux >> 16) as u8),
        };
        self.entry(self.by(), event)
    }

    fn unpack_rare(&self) -> Entry {
        let task = TaskId(self.task);
        let event = match self.kind {
            MIGRATE => Event::Migrate {
                task,
                from: bits_cpu(self.aux),
                to: CpuId((self.aux >> 16) as u16),
            },
            FORK => Event::Fork { parent: TaskId(self.other), child: task },
            EXEC => Event::Exec { task },
            EXIT => Event::Exit { task },
            CPU => Event::Cpu { cpu: CpuId(self.task as u16), up: self.aux != 0 },
            FREQ => Event::Freq { cpu: CpuId(self.task as u16), khz: self.aux },
            CHANGED => Event::Changed {
                task,
                what: match self.flags >> VARIANT {
                    0 => Change::Affinity(MaskId(self.aux)),
                    1 => Change::Policy(self.aux as u8),
                    2 => Change::Nice(self.aux as u8 as i8),
                    3 => Change::Cgroup(NameId(self.aux)),
                    4 => Change::Throttled(self.aux != 0),
                    5 => Change::MigrationDisabled(self.aux != 0),
                    _ => Change::Name(NameId(self.aux)),
                },
            },
            LOST => Event::Lost { count: (self.aux != NONE).then_some(self.aux) },
            _ => Event::Decided { row: self.aux },
        };
        self.entry(self.by(), event)
    }
}

/// Takes entries as [`Row::with`] unpacks them.
pub(crate) trait Each {
    /// One of a frequent kind; compiled once for each.
    fn entry(&mut self, entry: &Entry);
    /// One of another kind.
    fn rare(&mut self, entry: &Entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_24_bytes() {
        assert_eq!(size_of::<Row>(), 24);
    }

    #[test]
    fn every_event_comes_back() {
        let (a, b, cpu) = (TaskId::nth(0), TaskId::nth(9), CpuId(130));
        let prio = |p| Prio(Some(p));
        let mut events = vec![
            Event::Waking { task: a, prev: None, prio: prio(-1) },
            Event::Waking { task: a, prev: Some(cpu), prio: Prio::UNKNOWN },
            Event::Migrate { task: a, from: None, to: cpu },
            Event::Migrate { task: a, from: Some(CpuId(0)), to: cpu },
            Event::Exec { task: a },
            Event::Exit { task: b },
            Event::Cpu { cpu, up: true },
            Event::Cpu { cpu, up: false },
            Event::Freq { cpu, khz: 2_100_000 },
            Event::Lost { count: None },
            Event::Lost { count: Some(7) },
            Event::Decided { row: 3 },
        ];
        for how in [How::Wakeup, How::New, How::NoSelection] {
            events.push(Event::Queued { task: a, on: Some(cpu), how, prio: prio(120) });
        }
        for what in [
            Change::Affinity(MaskId(4)),
            Change::Policy(5),
            Change::Nice(-20),
            Change::Cgroup(NameId(2)),
            Change::Throttled(true),
            Change::MigrationDisabled(false),
            Change::Name(NameId(8)),
        ] {
            events.push(Event::Changed { task: b, what });
        }
        for context in CONTEXTS {
            for &event in &events {
                let by = By { task: Some(b), context };
                let entry = Entry { time: Time(5), cpu, by, event };
                assert_eq!(Row::pack(&entry).unpack(), entry);
            }
        }
        for left in Left::ALL {
            let event = Event::Switch {
                cpu,
                prev: a,
                next: b,
                left,
                prev_prio: prio(0),
                next_prio: prio(139),
            };
            let entry = Entry { time: Time(5), cpu, by: By::task(a), event };
            assert_eq!(Row::pack(&entry).unpack(), entry);
        }
    }
}
