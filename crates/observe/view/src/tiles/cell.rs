//! What happened on some CPUs in a stretch of time, in a few numbers.

use std::ops::AddAssign;

use wastenot_model::{Activity, TaskId};

use crate::tiles::Doing;

/// What held for longer than all else together, if something did so; else something that held. By
/// votes of which unequal ones cancel each other out (Boyer and Moore, 1981).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vote<T> {
    pub(crate) what: Option<T>,
    /// How much longer it held than what was set off against it.
    lead_ns: u64,
}

impl<T> Default for Vote<T> {
    fn default() -> Vote<T> {
        Vote { what: None, lead_ns: 0 }
    }
}

impl<T: Copy + PartialEq> Vote<T> {
    pub(crate) fn add(&mut self, what: T, ns: u64) {
        if self.what == Some(what) {
            self.lead_ns += ns;
        } else if self.lead_ns >= ns && self.what.is_some() {
            self.lead_ns -= ns;
        } else {
            *self = Vote { what: Some(what), lead_ns: ns - self.lead_ns };
        }
    }
}

impl<T: Copy + PartialEq> AddAssign for Vote<T> {
    fn add_assign(&mut self, other: Vote<T>) {
        if let Some(what) = other.what {
            self.add(what, other.lead_ns);
        }
    }
}

/// The sum of what CPUs did in a stretch of time: CPU time in ns, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Some task ran.
    pub busy_ns: u64,
    /// There was nothing to run.
    pub idle_ns: u64,
    /// A task was queued there and about to start.
    pub waking_ns: u64,
    /// Nothing is known.
    pub unknown_ns: u64,
    /// It was down.
    pub offline_ns: u64,
    /// The part of `idle_ns` in which a task that could have run there waited elsewhere.
    pub wanted_ns: u64,
    /// Task time: how long tasks waited there, summed over tasks.
    pub waiting_ns: u64,
    /// The most tasks that waited on one CPU at once.
    pub waiting_max: u32,
    /// The part in which a task waited there while a CPU that it may use was idle.
    pub in_vain_ns: u64,
    /// Which task ran.
    pub(crate) task: Vote<TaskId>,
    /// Why tasks waited in vain.
    pub(crate) why: Vote<u8>,
}

impl Sum {
    /// A CPU did so for `ns`, of which it was wanted elsewhere for `wanted_ns`.
    #[inline]
    pub(crate) fn add(&mut self, is: Doing, ns: u64, wanted_ns: u64) {
        let part = match is.activity {
            Activity::Run(task) => {
                self.task.add(task, ns);
                &mut self.busy_ns
            }
            Activity::Idle => &mut self.idle_ns,
            Activity::Waking => &mut self.waking_ns,
            Activity::Unknown => &mut self.unknown_ns,
            Activity::Offline => &mut self.offline_ns,
        };
        *part += ns;
        self.wanted_ns += wanted_ns;
        self.waiting_ns = self.waiting_ns.saturating_add(ns.saturating_mul(is.waiting.into()));
        self.waiting_max = self.waiting_max.max(is.waiting);
    }

    /// A task waited there in vain for `ns`.
    pub(crate) fn add_in_vain(&mut self, why: u8, ns: u64) {
        self.in_vain_ns += ns;
        self.why.add(why, ns);
    }

    /// A task that ran: the one that ran for more than half of `busy_ns`, if there is one.
    pub fn task(&self) -> Option<TaskId> {
        self.task.what
    }

    /// Why a task waited in vain: the code that held for more than half of `in_vain_ns`, if there
    /// is one.
    pub fn why(&self) -> Option<u8> {
        self.why.what
    }

    /// What is known of it, as if that were all; itself where nothing is known.
    pub(crate) fn known(&self) -> Sum {
        let unknown_ns = if self.unknown_ns < self.ns() { 0 } else { self.unknown_ns };
        Sum { unknown_ns, ..*self }
    }

    /// All of its time.
    pub fn ns(&self) -> u64 {
        [self.idle_ns, self.waking_ns, self.unknown_ns, self.offline_ns]
            .into_iter()
            .fold(self.busy_ns, u64::saturating_add)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        let each = [
            (&mut self.busy_ns, other.busy_ns),
            (&mut self.idle_ns, other.idle_ns),
            (&mut self.waking_ns, other.waking_ns),
            (&mut self.unknown_ns, other.unknown_ns),
            (&mut self.offline_ns, other.offline_ns),
            (&mut self.wanted_ns, other.wanted_ns),
            (&mut self.waiting_ns, other.waiting_ns),
            (&mut self.in_vain_ns, other.in_vain_ns),
        ];
        for (sum, ns) in each {
            *sum = sum.saturating_add(ns);
        }
        self.waiting_max = self.waiting_max.max(other.waiting_max);
        self.task += other.task;
        self.why += other.why;
    }
}

/// A [`Sum`] in 12 bytes: shares of its time in steps of 1/255, of which none that is above zero
/// becomes zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Some task ran.
    pub busy: u8,
    /// A task was queued there and about to start.
    pub waking: u8,
    /// Nothing is known.
    pub unknown: u8,
    /// It was down.
    pub offline: u8,
    /// It was idle while a task that could have run there waited elsewhere.
    pub wanted: u8,
    /// A task waited there while a CPU that it may use was idle.
    pub in_vain: u8,
    /// Tasks that waited there, on average, in steps of a sixteenth; 255 is 16 or more.
    pub waiting: u8,
    /// The most tasks that waited on one CPU at once; 255 is that many or more.
    pub waiting_max: u8,
    /// As [`Sum::why`]; 0 where no task waited in vain.
    pub why: u8,
    /// The ordinal of a task; all ones where none ran, or where it is too large for three bytes.
    task: [u8; 3],
}

impl Cell {
    const NO_TASK: [u8; 3] = [u8::MAX; 3];
    /// Of time that is not in the recording.
    pub(crate) const NOTHING: Cell = Cell {
        busy: 0,
        waking: 0,
        unknown: 0,
        offline: 0,
        wanted: 0,
        in_vain: 0,
        waiting: 0,
        waiting_max: 0,
        why: 0,
        task: Cell::NO_TASK,
    };

    /// A task that ran, as in [`Sum::task`].
    pub fn task(&self) -> Option<TaskId> {
        let [a, b, c] = self.task;
        (self.task != Cell::NO_TASK).then(|| TaskId::nth(u32::from_le_bytes([a, b, c, 0]) as usize))
    }

    /// As a page reads it: each field in order, the task's ordinal last, the lowest byte first.
    pub const fn bytes(&self) -> [u8; 12] {
        let [a, b, c] = self.task;
        [
            self.busy,
            self.waking,
            self.unknown,
            self.offline,
            self.wanted,
            self.in_vain,
            self.waiting,
            self.waiting_max,
            self.why,
            a,
            b,
            c,
        ]
    }

    /// What several CPUs did in one time: shares of the time of all. A task is one that ran for
    /// the largest share, and why tasks waited in vain is so of the CPU where most did.
    pub fn over(cells: &[Cell]) -> Cell {
        let count = cells.len().max(1) as u64;
        // Rounded up, so that nothing becomes zero.
        let mean = |of: fn(&Cell) -> u8| {
            cells.iter().map(|cell| u64::from(of(cell))).sum::<u64>().div_ceil(count) as u8
        };
        let first = |of: fn(&Cell) -> u8| cells.iter().rev().max_by_key(|cell| of(cell));
        Cell {
            busy: mean(|cell| cell.busy),
            waking: mean(|cell| cell.waking),
            unknown: mean(|cell| cell.unknown),
            offline: mean(|cell| cell.offline),
            wanted: mean(|cell| cell.wanted),
            in_vain: mean(|cell| cell.in_vain),
            waiting: mean(|cell| cell.waiting),
            waiting_max: cells.iter().map(|cell| cell.waiting_max).max().unwrap_or(0),
            why: first(|cell| cell.in_vain).map_or(0, |cell| cell.why),
            task: first(|cell| cell.busy).map_or(Cell::NO_TASK, |cell| cell.task),
        }
    }

    /// What [`Cell::bytes`] gave.
    pub(crate) fn from_bytes(bytes: [u8; 12]) -> Cell {
        let [busy, waking, unknown, offline, wanted, in_vain, waiting, waiting_max, why, a, b, c] =
            bytes;
        let task = [a, b, c];
        Cell { busy, waking, unknown, offline, wanted, in_vain, waiting, waiting_max, why, task }
    }

    /// The part of it in which a task waited in vain.
    pub(crate) fn set_in_vain(&mut self, sum: &Sum, all_ns: u64) {
        self.in_vain = share(sum.in_vain_ns, all_ns, 255);
        self.why = sum.why().unwrap_or(0);
    }
}

/// A share of `all_ns` in steps, rounded to the nearest, but what there was stays above zero.
fn share(ns: u64, all_ns: u64, steps: u64) -> u8 {
    let all_ns = all_ns.max(1);
    let nearest = if ns.max(all_ns) < 1 << 48 {
        (2 * steps * ns + all_ns) / (2 * all_ns)
    } else {
        // 128 bits are slow to divide, and such long cells are few.
        let all = u128::from(all_ns);
        ((2 * u128::from(steps) * u128::from(ns) + all) / (2 * all)) as u64
    };
    nearest.clamp(u64::from(ns > 0), 255) as u8
}

impl From<&Sum> for Cell {
    fn from(sum: &Sum) -> Cell {
        let all = sum.ns();
        let of = |ns| share(ns, all, 255);
        let task = sum.task().and_then(TaskId::index).map(|index| (index as u64).to_le_bytes());
        let task = task.map_or(Cell::NO_TASK, |bytes| match bytes {
            [a, b, c, 0, 0, 0, 0, 0] => [a, b, c],
            _ => Cell::NO_TASK,
        });
        Cell {
            busy: of(sum.busy_ns),
            waking: of(sum.waking_ns),
            unknown: of(sum.unknown_ns),
            offline: of(sum.offline_ns),
            wanted: of(sum.wanted_ns),
            in_vain: of(sum.in_vain_ns),
            waiting: share(sum.waiting_ns, all, 16),
            waiting_max: sum.waiting_max.min(255) as u8,
            why: sum.why().unwrap_or(0),
            task,
        }
    }
}
