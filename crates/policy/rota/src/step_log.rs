//! The log of steps that an emitted scheduler writes if it is asked to
//! (docs/explain/conformance.md): one record for each step of the protocol, as the kernel or a
//! stand-in took it.

use wastenot_model::report::Unit;
use wastenot_model::{Annex, Column, History, Table, Value};

/// What a step is. The order is that of the emitted code (`emit/text/log.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A word of a task's affinity: `queue` is which word, `value` its bits.
    Mask,
    /// A handler begins to place a task: `queue` is the event ([`Step::EVENTS`]), `value` whether
    /// the task waited before, `to` where the event happens.
    Place,
    /// It decided on a queue; the kernel inserts the task later. `value` is the key, `to` the home.
    Put,
    /// The task is in the queue by now; the search for an idle CPU follows.
    In,
    /// The search follows, though the task may not be in the queue yet.
    Early,
    /// A handler looked for an idle CPU; `to` is the one that it claimed. `value` is the level.
    Find,
    /// A search for an idle CPU for a waiting task; `to` is the one that it claimed.
    Claim,
    /// `to` is kicked; `value` has the flags.
    Kick,
    /// The task goes to the local queue of `to`.
    Run,
    /// The idle flag of `to` is set.
    Idle,
    /// The idle flag of `to` is cleared.
    Busy,
    /// A look into `queue`: `value` is 0 if it found nothing, 1 if it took a task, 2 if it saw one.
    Take,
    /// A candidate was chosen: group `queue`, for the CPU `to`.
    Select,
    /// A steal from `queue`; `value` is whether a task was taken.
    Steal,
    /// A regular balance moved a task into `queue`, with the key `value`.
    Move,
    /// A whole attempt of `to`; `value` is whether it took a task, `queue` whether the CPU had a
    /// task that could go on.
    Attempt,
    /// A search for CPUs for all waiting tasks of partition `queue`; `value` is whether any slept.
    Chain,
    /// A task begins to run on `to`; `value` is its slice in ns, -1 one that never ends.
    Start,
    /// It stops; `value` is whether it could go on.
    Stop,
    /// A task that is runnable is about to be taken out; `value` is whether it sleeps.
    Leave,
    /// It goes to another scheduling class.
    Left,
    /// A task above the fair class begins (`value` 1) or ends to have `to`.
    Above,
    /// A whole regular balance of `to`; `queue` is which one, counted over all partitions, `value`
    /// whether it moved a task.
    Regular,
}

impl What {
    /// All of them, in order.
    pub const ALL: [What; 23] = [
        What::Mask,
        What::Place,
        What::Put,
        What::In,
        What::Early,
        What::Find,
        What::Claim,
        What::Kick,
        What::Run,
        What::Idle,
        What::Busy,
        What::Take,
        What::Select,
        What::Steal,
        What::Move,
        What::Attempt,
        What::Chain,
        What::Start,
        What::Stop,
        What::Leave,
        What::Left,
        What::Above,
        What::Regular,
    ];

    /// Its name in the annex.
    pub fn name(self) -> &'static str {
        match self {
            What::Mask => "mask",
            What::Place => "place",
            What::Put => "put",
            What::In => "in",
            What::Early => "early",
            What::Find => "find",
            What::Claim => "claim",
            What::Kick => "kick",
            What::Run => "run",
            What::Idle => "idle",
            What::Busy => "busy",
            What::Take => "take",
            What::Select => "select",
            What::Steal => "steal",
            What::Move => "move",
            What::Attempt => "attempt",
            What::Chain => "chain",
            What::Start => "start",
            What::Stop => "stop",
            What::Leave => "leave",
            What::Left => "left",
            What::Above => "above",
            What::Regular => "regular",
        }
    }
}

/// A step of the protocol. It took effect at some moment from `begin` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the moment before it; moments are numbered in one order over all CPUs.
    pub begin: u64,
    /// The number of the moment after it.
    pub end: u64,
    /// When it was recorded, in ns of the kernel's monotonic clock.
    pub time_ns: u64,
    /// What it is.
    pub what: What,
    /// The CPU that took it.
    pub cpu: u16,
    /// The number of a queue ([`QueueNumber`]), or another number.
    pub queue: u64,
    /// The task, if any: its thread id.
    pub task: Option<i32>,
    /// The CPU that it is about.
    pub to: Option<u16>,
    /// What came of it, or what was seen.
    pub value: i64,
}

/// What a queue's number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueNumber {
    /// The partition.
    pub part: usize,
    /// Which queue of the text, counted over all policies.
    pub kind: usize,
    /// The group, counted over all partitions; for the queue of pinned tasks the CPU.
    pub group: usize,
    /// Whether it is for the tasks that only one CPU may run.
    pub pinned: bool,
}

impl QueueNumber {
    /// From the number in the emitted code.
    pub fn of(number: u64) -> QueueNumber {
        QueueNumber {
            part: (number >> 32) as usize,
            kind: (number >> 24 & 0xff) as usize,
            group: (number & 0x7f_ffff) as usize,
            pinned: number >> 23 & 1 == 1,
        }
    }
}

impl Step {
    /// The size of a record in bytes.
    pub const BYTES: usize = 56;
    /// The events of [`What::Place`].
    pub const EVENTS: [&'static str; 4] = ["new", "wake", "preempt", "yield"];

    /// A record as the emitted code wrote it; `None` if it is none.
    pub fn of_bytes(bytes: &[u8]) -> Option<Step> {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
            .collect();
        let [begin, end, time_ns, queue, value, who, how] = words[..] else { return None };
        let [(task, to), (step, cpu)] = [who, how].map(halves);
        Some(Step {
            begin,
            end,
            time_ns,
            what: *What::ALL.get(step as usize)?,
            cpu: cpu as u16,
            queue,
            task: (task != 0).then_some(task as i32),
            to: u16::try_from(to as i32).ok(),
            value: value as i64,
        })
    }
}

/// The two numbers of 32 bits that lie one after the other in a word.
fn halves(word: u64) -> (u32, u32) {
    let bytes = word.to_ne_bytes();
    let [a, b, c, d, e, f, g, h] = bytes;
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// All steps of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// In the order in which they ended.
    pub steps: Vec<Step>,
    /// How many records found no room.
    pub lost: u64,
    /// The text of the policy that ran.
    pub text: String,
    /// Whether the log begins when the scheduler did, so that all tasks were elsewhere before.
    pub whole: bool,
}

const ABOUT: &str = "step_log";
const STEPS: &str = "step_log_rows";
const COLUMNS: [&str; 9] = ["begin", "end", "at_ns", "step", "cpu", "queue", "tid", "to", "value"];

impl Log {
    /// Puts the steps into the order in which they ended.
    pub fn order(&mut self) {
        self.steps.sort_by_key(|step| step.end);
    }

    /// The first moment of which no record tells: that of a step that was not over when the log
    /// ended, or of which the record is missing. Later steps may have seen its effect. The moments
    /// of a scheduler begin with 1.
    pub fn certain_until(&self) -> u64 {
        let moments = self.steps.iter().flat_map(|step| [step.begin, step.end]);
        let mut moments: Vec<u64> = moments.collect();
        moments.sort_unstable();
        moments.dedup();
        let first = if self.whole { 1 } else { moments.first().copied().unwrap_or(1) };
        let is_next = |(moment, n): &(u64, u64)| moment == n;
        first + moments.into_iter().zip(first..).take_while(is_next).count() as u64
    }

    /// As tables of a History.
    pub fn annexes(&self) -> Vec<Annex> {
        let column = |name: &str| Column::new(name, name, Unit::None);
        let names = ["lost", "whole", "text"];
        let mut about = Table::new(ABOUT, "Log of steps", names.map(column));
        about.push(vec![self.lost.into(), self.whole.into(), self.text.clone().into()]);
        let mut rows = Table::new(STEPS, "Steps of the protocol", COLUMNS.map(column));
        for it in &self.steps {
            rows.push(vec![
                it.begin.into(),
                it.end.into(),
                it.time_ns.into(),
                it.what.name().into(),
                u32::from(it.cpu).into(),
                it.queue.into(),
                it.task.map(i64::from).into(),
                it.to.map(u32::from).into(),
                it.value.into(),
            ]);
        }
        vec![Annex { table: about }, Annex { table: rows }]
    }

    /// The log in a History; `None` if it has none. Rows that are not understood are lost.
    pub fn of(history: &History) -> Option<Log> {
        let [lost, whole, text] = history.annex_cells(ABOUT, ["lost", "whole", "text"]).next()?;
        let mut log = Log {
            steps: Vec::new(),
            lost: lost.int()?,
            text: text.text().unwrap_or_default().to_owned(),
            whole: whole.flag()?,
        };
        for row in history.annex_cells(STEPS, COLUMNS) {
            match step(row) {
                Some(step) => log.steps.push(step),
                None => log.lost = log.lost.saturating_add(1),
            }
        }
        log.order();
        Some(log)
    }
}

fn step([begin, end, at, what, cpu, queue, task, to, value]: [&Value; 9]) -> Option<Step> {
    let word = what.text()?;
    Some(Step {
        begin: begin.int()?,
        end: end.int()?,
        time_ns: at.int()?,
        what: What::ALL.into_iter().find(|it| it.name() == word)?,
        cpu: cpu.int()?,
        queue: queue.int()?,
        task: task.int(),
        to: to.int(),
        value: value.int()?,
    })
}
