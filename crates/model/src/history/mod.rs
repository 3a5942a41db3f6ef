//! A History: what happened on a machine, in time order, with what is known about it.

pub(crate) mod carries;
pub mod decisions;
mod digest;
mod early;
pub(crate) mod event;
pub(crate) mod missing;
pub(crate) mod rows;
pub(crate) mod same;
pub(crate) mod sink;
pub(crate) mod spans;
pub(crate) mod state;

use self::rows::Rows;
use crate::{Carries, CpuId, CpuSet, Entry, Loss, Machine, TaskId, Time, Value, Window};

/// A text that the History interned: a command name, a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// A set of CPUs that the History interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaskId(pub u32);

/// The clock that stamped the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The recorder's name for it: `mono`, `local`, `x86-tsc`, ...; empty when not told.
    pub name: String,
    /// False when a stamp counts something else than nanoseconds (cycles, an event counter).
    pub nanoseconds: bool,
}

/// Where a History comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The format or producer: `trace.dat v7`, `perf.data`, `perfetto`, `simulate`, ...
    pub format: String,
    /// The file or scenario.
    pub name: String,
    /// Kernel release and machine, as `uname` prints them, where recorded.
    pub kernel: Option<String>,
    /// Anything else that the source says of itself, as key and value, in its order.
    pub notes: Vec<(String, String)>,
}

impl Source {
    /// The key of the note that says in what kind of guest it was recorded.
    pub const GUEST: &str = "guest";
    /// In the note of a guest: QEMU counted its instructions in the place of time.
    pub const COUNTED: &str = "icount";

    /// How instructions were counted in the place of time, if it was recorded in such a guest.
    pub fn counted(&self) -> Option<&str> {
        self.note(Source::GUEST).filter(|how| how.contains(Source::COUNTED))
    }

    /// The note with this key.
    pub fn note(&self, key: &str) -> Option<&str> {
        self.notes.iter().find(|(known, _)| known == key).map(|(_, text)| text.as_str())
    }

    /// What its lengths of time do not say then.
    pub fn caveat(&self) -> Option<String> {
        let how = self.counted()?;
        Some(format!(
            "recorded in a guest ({how}). This guest counts instructions instead of time, so the \
             run times of programs and of the kernel differ from those on hardware. Waits and \
             placements show the decisions of the scheduler. The length of the trace does not \
             show how long the same work takes on hardware."
        ))
    }

    /// The release of the kernel: `6.12.1-custom` of `Linux host 6.12.1-custom #3 SMP x86_64`.
    pub fn release(&self) -> Option<&str> {
        let kernel = self.kernel.as_deref()?;
        let is_release = |word: &&str| {
            let (major, minor) = word.split_once('.').unwrap_or_default();
            let is_digit = |c: char| c.is_ascii_digit();
            !major.is_empty() && major.chars().all(is_digit) && minor.starts_with(is_digit)
        };
        // The name of a host may look like a release.
        let host = if kernel.starts_with("Linux ") { 2 } else { 0 };
        let find = |skipped| kernel.split_whitespace().skip(skipped).find(is_release);
        find(host).or_else(|| find(0))
    }

    /// Major and minor number of the kernel: (6, 12) of `6.12.1-custom`.
    pub fn version(&self) -> Option<(u32, u32)> {
        self.release().and_then(Source::version_of)
    }

    /// Major and minor number of the release of a kernel.
    pub fn version_of(release: &str) -> Option<(u32, u32)> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

/// What is known of a History before its first event.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The machine it happened on.
    pub machine: Machine,
    /// The clock of its stamps.
    pub clock: Clock,
    /// Where it comes from.
    pub source: Source,
    /// What the source can tell.
    pub carries: Carries,
    /// The recorded window; the builder widens it to hold every event.
    pub window: Window,
    /// What each CPU and task did at the start, where the source knows.
    pub start: Option<crate::Start>,
}

impl Head {
    /// A head that knows the machine and nothing else.
    pub fn new(machine: Machine) -> Head {
        Head {
            machine,
            clock: Clock { name: String::new(), nanoseconds: true },
            source: Source::default(),
            carries: Carries::NONE,
            window: Window { from: Time::MAX, to: Time(0) },
            start: None,
        }
    }
}

/// A task of a History.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its kernel thread id; reused by the kernel, so it does not name a task.
    pub tid: i32,
    /// Its process id (thread group), where known.
    pub pid: Option<i32>,
    /// Its last known command name; earlier ones are `Changed` rows.
    pub name: NameId,
}

impl Task {
    /// A task whose process is not known.
    pub fn new(tid: i32, name: NameId) -> Task {
        Task { tid, pid: None, name }
    }
}

/// A table of something that only this producer knows, keyed by row number.
#[derive(Clone, Debug, PartialEq)]
pub struct Annex {
    /// Its rows and declared columns.
    pub table: crate::Table,
}

impl Annex {
    /// Whether both have the same name and columns.
    pub fn continues(&self, other: &Annex) -> bool {
        (&self.table.name, &self.table.columns) == (&other.table.name, &other.table.columns)
    }

    /// Adds it to `all`: its rows, if it continues one of them.
    pub fn add_to(mut self, all: &mut Vec<Annex>) {
        match all.iter_mut().find(|known| self.continues(known)) {
            Some(known) => known.table.rows.append(&mut self.table.rows),
            None => all.push(self),
        }
    }
}

/// What happened, in time order. Made by a [`crate::Builder`]; read through [`History::entries`].
#[derive(Clone, Debug)]
pub struct History {
    /// What was known before the first event.
    pub head: Head,
    names: Vec<Box<str>>,
    tasks: Vec<Task>,
    masks: Vec<CpuSet>,
    rows: Rows,
    losses: Vec<Loss>,
    /// Whether some row says that others were lost.
    lost_rows: bool,
    /// Tables of what only this producer knows.
    pub annexes: Vec<Annex>,
}

impl History {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Frees all rows, which are most of its memory, once they were replayed for the last time. It
    /// still says how many there were, and all else; asking for entries is a fault.
    pub fn forget_rows(&mut self) {
        self.rows.forget();
    }
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many rows there are up to `time`, those at that time included.
    pub(crate) fn rows_until(&self, time: Time) -> usize {
        self.rows.until(time)
    }
    /// Every entry in time order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.rows.iter().map(|row| row.unpack())
    }
    /// All tasks but the idle ones, with their ids.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.tasks.iter().enumerate().map(|(n, task)| (TaskId::nth(n), task))
    }
    /// Number of tasks, idle ones not counted.
    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }
    /// A task; `None` for idle tasks.
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(id.index()?)
    }
    /// Its last known command name; `swapper/N` for an idle task.
    pub fn task_name(&self, id: TaskId) -> String {
        match self.task(id) {
            Some(task) => self.name(task.name).to_owned(),
            None => format!("swapper/{}", id.0),
        }
    }
    /// `name:tid`, as the kernel's tools print it.
    pub fn task_label(&self, id: TaskId) -> String {
        format!("{}:{}", self.task_name(id), self.task(id).map_or(0, |task| task.tid))
    }
    /// An interned text.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", |name| name)
    }
    /// Every interned text, by id.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
    /// An interned set of CPUs.
    pub fn mask(&self, id: MaskId) -> Option<&CpuSet> {
        self.masks.get(id.0 as usize)
    }
    /// Every interned set of CPUs, by id.
    pub fn masks(&self) -> &[CpuSet] {
        &self.masks
    }
    /// What was lost or is suspect.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
    /// Whether some row says that others were lost.
    pub(crate) fn has_lost_rows(&self) -> bool {
        self.lost_rows
    }
    /// Reports a loss that is found only after everything was read.
    pub fn lose(&mut self, loss: Loss) {
        loss.add_to(&mut self.losses);
    }
    /// Cells of these columns, row by row, of the annexes of this name; unknown where one lacks.
    pub fn annex_cells<'h, const N: usize>(
        &'h self,
        name: &'static str,
        columns: [&'static str; N],
    ) -> impl Iterator<Item = [&'h Value; N]> {
        let tables = self.annexes.iter().map(|annex| &annex.table);
        tables.filter(move |table| table.name == name).flat_map(move |table| {
            let place = |name: &str| table.columns.iter().position(|column| column.key == name);
            let places = columns.map(place);
            table.rows.iter().map(move |row| {
                places.map(|at| at.and_then(|at| row.get(at)).unwrap_or(&Value::Unknown))
            })
        })
    }
    /// Number of CPUs.
    pub fn cpu_count(&self) -> usize {
        self.head.machine.cpus.len()
    }
    /// All CPUs.
    pub fn cpus(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..self.head.machine.cpus.len()).map(|cpu| CpuId(cpu as u16))
    }
    /// The recorded window.
    pub fn window(&self) -> Window {
        self.head.window
    }
    /// Total of events reported lost, and whether some loss has no count.
    pub fn lost_events(&self) -> (u64, bool) {
        let mut total = (0u64, false);
        for loss in self.losses.iter().filter(|loss| loss.kind == crate::LossKind::LostEvents) {
            total =
                (total.0.saturating_add(loss.count.unwrap_or(0)), total.1 | loss.count.is_none());
        }
        total
    }
}
